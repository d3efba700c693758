//! Full, failing and read-only disks: the run pauses or goes on and says so,
//! and is complete once the disk is well again.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::env::{Done, TestEnv};
use crate::faulty::{Pass, Scenario, check_all, told};
use crate::live::shell_agent;

/// A name that stays in the lock file is no harm to anybody.
const NOT_WORTH_TELLING: &str = "lock.truncate#2";

/// A run that can't be written down pauses; one that was not there yet has
/// not begun.
const NEEDED: [&str; 5] = [
    "journal.append.write", "journal.append.sync", "engine.prompt.open", "engine.prompt.write",
    "engine.output.open",
];

fn faults() -> Vec<(Pass, String)> {
    let scenario = Scenario::with_true_ticks();
    let done = scenario.run("");
    assert_eq!(done.code, 0, "{}", told(&done));
    let trace = scenario.trace();
    // What is made from the journal is written in the same way again and
    // again.
    let projections = ["atomic.", "checkpoint.", "delta.", "history.", "objects."];
    let is_tried = |pass: &Pass| {
        let projected = projections.iter().any(|p| pass.point.starts_with(p));
        pass.deed != "Process" && !(projected && pass.number > 3) && pass.is_tried()
    };
    let on_disk = trace.into_iter().filter(is_tried);
    let mut faults = Vec::new();
    for (n, pass) in on_disk.enumerate() {
        faults.push((pass.clone(), pass.fault("ENOSPC")));
        // From here on the disk is broken for good, in one way or another.
        let what = match (pass.deed.as_str(), n % 3) {
            ("Write", 0) => "short:4:EIO",
            (_, 1) => "EIO",
            _ => "EROFS",
        };
        let lasting = format!("{}#{}+={what}", pass.point, pass.number);
        faults.push((pass, lasting));
    }
    faults
}

#[test]
fn a_bad_disk_costs_nothing_that_was_written() {
    let want = {
        let scenario = Scenario::with_true_ticks();
        scenario.run("");
        scenario.end().unwrap().without_counts()
    };
    let faults = faults();
    assert!(faults.len() > 100, "only {} cases", faults.len());
    println!("{} cases", faults.len());
    let check = |(pass, fault): &(Pass, String)| {
        let scenario = Scenario::with_true_ticks();
        let done = scenario.run(fault);
        let said = format!("{}{}", done.stdout, done.stderr);
        let began = !scenario.runs().is_empty();
        let needed = NEEDED.contains(&pass.point.as_str());
        let varies = pass.point == "engine.output.write" && !said.contains("output could not");
        match done.code {
            // When everything is done, only the archive is still to be written.
            0 if needed && !said.contains("not archived") => {
                return Err(format!("it went on: {}", told(&done)));
            }
            0 => {}
            3 if needed && said.contains("ralph resume") => {}
            1 if !began => {}
            _ => return Err(told(&done)),
        }
        let words = ["could not", "no space left", "read-only", "can't be"];
        let is_told = words.iter().any(|words| said.contains(words));
        if !is_told && !varies && !fault.starts_with(NOT_WORTH_TELLING) {
            return Err(format!("nothing was said: {}", told(&done)));
        }
        let goes_on = said.matches("the run goes on without it").count();
        // Once for each file: the status, the tasks and the checks.
        if goes_on > 3 {
            return Err(format!("it was said {goes_on} times: {said}"));
        }
        // The disk is well again. What is over may have something left to
        // tell.
        if done.code == 0 {
            scenario.resume("");
        } else {
            scenario.complete()?;
        }
        let end = scenario.end()?;
        end.without_counts().check_like(&want, 1)
    };
    check_all(&faults, |(_, fault)| fault.clone(), check);
}

/// Fills the disk until nothing more fits, then says that it goes on.
const FILLS: &str = r#"
if [ ! -e "$(dirname "$0")/filled" ]; then
  : > "$(dirname "$0")/filled"
  cat /dev/zero > filler 2>/dev/null
  echo '<promise>CONTINUE</promise>'
  exit 0
fi
sed 's/\[ \]/[x]/' "$RALPH_TASKS_FILE" > "$(dirname "$0")/ticked"
cat "$(dirname "$0")/ticked" > "$RALPH_TASKS_FILE"
echo '<promise>COMPLETE</promise>'
"#;

/// A small file system, while this value lives.
struct SmallDisk<'a>(&'a Path);

impl SmallDisk<'_> {
    fn mount(dir: &Path) -> SmallDisk<'_> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"]);
        assert!(mount.arg(dir).status().unwrap().success());
        SmallDisk(dir)
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
#[cfg_attr(not(may_mount), ignore = "needs root who may mount a tmpfs")]
fn an_agent_that_fills_the_disk_pauses_the_run_until_there_is_room() {
    let env = TestEnv::bare();
    let _disk = SmallDisk::mount(&env.root);
    env.write("tasks.md", "# Tasks\n\n- [ ] T001 Fill\n");
    let agent = shell_agent(&env, FILLS);
    // The journal lies on the disk that is filled, under a name that Git and
    // the look at the work leave alone.
    let ralph = |args: &[&str]| {
        let mut command = env.command(args);
        command.env("XDG_STATE_HOME", env.path(".ralph/home"));
        Done::of(&command.output().unwrap())
    };
    let done = ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 3, "{}", told(&done));
    let said = told(&done);
    assert!(said.contains("no space left"), "{said}");
    assert!(said.contains("ralph resume"), "{said}");

    fs::remove_file(env.path("filler")).unwrap();
    let done = ralph(&["resume", "--yes"]);
    assert_eq!(done.code, 0, "{}", told(&done));
    assert_eq!(env.json(".ralph/status.json")["status"], "complete");
}

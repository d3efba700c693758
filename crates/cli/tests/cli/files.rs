//! The files of a run, as other programs and people read them: during the run
//! and after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::env::{TestEnv, named, names};
use crate::live::{Live, eventually, journal, latest_run, shell_agent, wait_until};

const CONTINUE: &str = "<promise>CONTINUE</promise>";

fn tick(n: usize) -> Value {
    json!({"tick": [format!("T{n:03}")], "say": CONTINUE})
}

fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(c, s)| match s {
            b'0' => c.is_ascii_digit(),
            s => c == s,
        })
}

/// STAT-02: every key with its type.
fn check_status(status: &Value) -> u64 {
    for key in ["timestamp", "phase", "status", "last_promise", "tasks_file"] {
        assert!(status[key].is_string(), "{key}: {status}");
    }
    let tasks = &status["tasks"];
    let counts = ["total", "completed", "pending", "progress_percent"];
    for number in counts.map(|key| &tasks[key]) {
        assert!(number.is_u64(), "{status}");
    }
    assert!(status["max_iterations"].is_u64(), "{status}");
    let time = status["timestamp"].as_str().unwrap();
    assert!(has_shape(time, "0000-00-00T00:00:00Z"), "{time}");
    status["iteration"].as_u64().unwrap()
}

/// Reads in a tight loop until the run is over; the iterations that were seen.
fn watch_status(path: &Path, over: &AtomicBool) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        let last_look = over.load(Ordering::Acquire);
        match fs::read(path) {
            Ok(bytes) => {
                let status = serde_json::from_slice(&bytes)
                    .unwrap_or_else(|e| panic!("torn: {e}: {:?}", String::from_utf8_lossy(&bytes)));
                seen.push(check_status(&status));
            }
            Err(error) => assert!(seen.is_empty(), "it was there before: {error}"),
        }
        if last_look {
            return seen;
        }
    }
}

#[test]
fn status_json_is_whole_at_every_instant() {
    const TURNS: usize = 200;
    let env = TestEnv::with_tasks(TURNS);
    let turns: Vec<Value> = (1..=TURNS).map(tick).collect();
    let over = AtomicBool::new(false);
    let path = env.path(".ralph/status.json");
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| watch_status(&path, &over));
        let (done, events) = env.run_script(&turns, &["--max-iterations", "0"]);
        over.store(true, Ordering::Release);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(events.last().unwrap()["iterations"], TURNS);
        reader.join().unwrap()
    });
    assert!(seen.is_sorted(), "an iteration went backwards");
    assert_eq!(seen.last(), Some(&(TURNS as u64)));
    assert!(seen.len() > TURNS, "only {} looks", seen.len());
    let status = env.json(".ralph/status.json");
    assert_eq!(status["status"], "complete");
    assert_eq!(status["schema_version"], 1);
    assert_eq!(status["tasks"]["pending"], 0);
    let file = env.path("tasks.md");
    assert_eq!(status["tasks_file"], file.to_string_lossy().as_ref());
}

/// An agent that waits until the files say that it runs gets to see it, and
/// what it does not wait for is there before it can end.
#[test]
fn status_and_checkpoint_follow_the_start_of_an_agent_at_once() {
    let env = TestEnv::with_tasks(3);
    let script = r#"
n=$RALPH_ITERATION
waits_for() {
  i=0
  until grep -q "$1" "$2" 2>/dev/null; do
    i=$((i + 1)); [ $i -gt 1000 ] && { echo "no $1 in $2" >&2; exit 9; }
    sleep 0.01
  done
}
waits_for "\"iteration\": $n," .ralph/status.json
waits_for "\"iteration\": *$n\b" .skillpack/current/checkpoint.json
sed "s/^- \[ \] T00$n/- [x] T00$n/" tasks.md > ../ticked && cp ../ticked tasks.md
echo '<promise>COMPLETE</promise>'
"#;
    let agent = shell_agent(&env, script);
    let done = env.ralph(&["run", "--agent-cmd", &agent, "--max-iterations", "3"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

#[test]
fn the_log_is_plain_lines() {
    let env = TestEnv::with_tasks(2);
    let turns = [
        json!({"complain": "\u{1b}[31mred\u{1b}[0m\nand more", "exit": 3}),
        json!({"say": "nothing promised"}),
        json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
        json!({"tick": ["T002"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, _) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let log = env.read(".ralph/ralph.log");
    assert!(!log.contains('\u{1b}'), "{log}");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "# Ralph Loop Log");
    let started = lines[1].strip_prefix("Started: ").unwrap();
    assert!(has_shape(started, "0000-00-00 00:00:00 (UTC)"), "{started}");
    assert_eq!(lines[2], "---");
    let mut levels = Vec::new();
    for line in &lines[3..] {
        let (stamp, rest) = line.split_at(22);
        assert!(has_shape(stamp, "[0000-00-00 00:00:00] "), "{line}");
        let (level, message) = rest.split_once("] ").unwrap();
        let level = level.strip_prefix('[').unwrap();
        assert!(
            ["INFO", "WARN", "ERROR", "SUCCESS", "LOOP", "DEBUG"].contains(&level),
            "{line}"
        );
        assert!(!message.trim().is_empty(), "{line}");
        levels.push(level);
    }
    for level in ["INFO", "WARN", "ERROR", "SUCCESS", "LOOP"] {
        assert!(levels.contains(&level), "{level}: {log}");
    }
    assert_eq!(levels.iter().filter(|&&l| l == "LOOP").count(), 4);
}

/// A program is told the end of a run last; its log has where it went, too.
fn before_archive(log: &str) -> String {
    let last = log.lines().last().unwrap();
    assert!(last.contains(r#""event":"archive""#), "{last}");
    log.strip_suffix(&format!("{last}\n")).unwrap().to_owned()
}

#[test]
fn the_event_log_is_what_json_printed() {
    let env = TestEnv::with_tasks(2);
    let turns = [
        json!({"exit": 3}),
        json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
        json!({"tick": ["T002"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, events) = env.run_script(&turns, &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let file = latest_run(&env).join("execution.log.jsonl");
    assert_eq!(
        before_archive(&fs::read_to_string(file).unwrap()),
        done.stdout
    );

    // EVNT-01: these keys, in this order, before everything else.
    const ORDER: [&str; 7] = [
        "ts", "level", "event", "iteration", "phase", "subtasks_done", "reason",
    ];
    for event in &events {
        let keys: Vec<&String> = event.as_object().unwrap().keys().collect();
        let place = |key: &str| ORDER.iter().position(|k| *k == key);
        let places: Vec<usize> = keys.iter().filter_map(|k| place(k)).collect();
        assert_eq!(keys[..3], ["ts", "level", "event"], "{event}");
        assert!(places.is_sorted(), "{event}");
        assert!(has_shape(
            event["ts"].as_str().unwrap(),
            "0000-00-00T00:00:00Z"
        ));
        if event["event"] != "loop_start" && event["event"] != "loop_end" {
            assert!(event["iteration"].is_u64(), "{event}");
        }
    }
    let completed = named(&events, "iteration_complete");
    assert_eq!(completed[1]["phase"], 1);
    assert_eq!(completed[1]["subtasks_done"], 1);
    assert_eq!(named(&events, "iteration_retry")[0]["reason"], "agent_exec");
    assert_eq!(events.last().unwrap()["event"], "loop_end");
}

#[test]
fn a_run_folder_has_everything_of_the_run() {
    let env = TestEnv::with_tasks(1);
    let turns = [
        json!({"thinking": "\u{1b}[1mfirst\u{1b}[0m", "complain": "to stderr", "say": CONTINUE}),
        json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"}),
    ];
    let (done, _) = env.run_script(&turns, &["--verify", "echo checked; true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let run = latest_run(&env);
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    // Raw means raw: every byte of both streams.
    let output = read("turn-0001.out");
    assert!(output.contains("\u{1b}[1mfirst\u{1b}[0m\n"), "{output}");
    assert!(output.contains("to stderr\n"), "{output}");
    assert!(output.contains("<promise>CONTINUE</promise>\n"), "{output}");
    assert_eq!(read("turn-0002.out"), "<promise>COMPLETE</promise>\n");
    assert!(read("turn-0002.verify").contains("checked\n"));
    assert!(read("turn-0001.prompt.md").contains("T001"));

    let id = run.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(env.json(".ralph/status.json")["run_id"], id.as_str());
    let records = journal(&run);
    let header = &records[0];
    assert_eq!(header["run_id"], id.as_str());
    assert_eq!(header["tasks_file"], json!(env.path("tasks.md")));
    let asked = header["asked"].to_string();
    assert!(asked.contains("echo checked; true"), "{asked}");
    assert_eq!(header["branch"], "main");
    assert_eq!(
        header["commit"],
        env.git(&["rev-parse", "HEAD"]).trim(),
        "{header}"
    );
    assert!(records[1].to_string().contains("started"), "{}", records[1]);
    let journal = read("journal.jsonl");
    for (line, seq) in journal.lines().zip(1..) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["seq"], seq);
        assert_eq!(record["v"], 1);
    }
}

/// Every file below a folder whose name does not say that it is raw output.
fn written_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let raw = path
            .extension()
            .is_some_and(|e| e == "out" || e == "verify");
        if path.is_dir() {
            written_files(&path, files);
        } else if !raw {
            files.push(path);
        }
    }
}

#[test]
fn secrets_of_the_agent_are_written_nowhere() {
    const KEY: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    const PASSWORD: &str = "hunter2correcthorse";
    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let fails = json!({"complain": format!("401 for key {KEY}, password={PASSWORD}"), "exit": 1});
    let claims = json!({"tick": ["T001"], "say": "<promise>COMPLETE</promise>"});
    let unknown = json!({"say": format!("<promise>TRY {KEY}</promise>")});
    let blocked = json!({"say": format!("<promise>BLOCKED: password={PASSWORD} is refused for {KEY}</promise>")});
    let check = format!("echo token {TOKEN} is refused; exit 1");
    let scripts = [
        vec![fails.clone(), fails.clone(), fails],
        vec![claims.clone(), claims.clone(), unknown, blocked],
    ];
    for turns in scripts {
        let env = TestEnv::with_tasks(1);
        env.write("check.sh", &check);
        let (done, _) = env.run_script(&turns, &["--verify", "sh check.sh"]);
        assert!([4, 6].contains(&done.code), "{}", done.stdout);
        assert!(done.stdout.contains("[redacted]"), "{}", done.stdout);
        let mut files = Vec::new();
        written_files(&env.path(".ralph"), &mut files);
        written_files(&env.state(""), &mut files);
        // The project's own files are kept there as they are.
        files.retain(|file| !file.starts_with(env.state("snapshots")));
        assert!(files.len() > 6);
        let mut texts: Vec<(String, String)> = files
            .iter()
            .map(|f| (f.display().to_string(), fs::read_to_string(f).unwrap()))
            .collect();
        texts.push(("--json".into(), done.stdout));
        texts.push(("stderr".into(), done.stderr));
        for (name, text) in texts {
            for secret in [KEY, PASSWORD, TOKEN] {
                assert!(!text.contains(secret), "{name}: {text}");
            }
        }
        let second = fs::read_to_string(latest_run(&env).join("turn-0002.prompt.md")).unwrap();
        assert!(second.contains("[redacted]"), "{second}");
    }
}

/// A project with a run whose second turn lasts until [`Going::go_on`].
struct Going {
    env: TestEnv,
    run: Live,
}

impl Going {
    fn start() -> Going {
        let env = TestEnv::with_tasks(2);
        // The first turn only works; the second waits for a word from us.
        let agent = crate::live::shell_agent(
            &env,
            "cat > /dev/null\n\
             here=$(dirname \"$0\")\n\
             if [ \"$RALPH_ITERATION\" = 1 ]; then\n\
             echo 1 > one.txt; echo '<promise>COMPLETE</promise>'; exit 0\n\
             fi\n\
             : > \"$here/second\"\n\
             tries=0\n\
             while [ ! -e \"$here/go\" ] && [ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries+1)); done\n\
             sed 's/\\[ \\]/[x]/' tasks.md > new.md && mv new.md tasks.md\n\
             echo '<promise>COMPLETE</promise>'\n",
        );
        let run = Live::start(
            &env,
            "run",
            env.command(&["run", "--json", "--agent-cmd", &agent]),
        );
        wait_until("the second turn runs", || env.outside("second").exists());
        // The files follow the start; the status comes behind both logs.
        wait_until("the status says so", || {
            env.json(".ralph/status.json")["iteration"] == 2
        });
        Going { env, run }
    }

    fn go_on(self) -> TestEnv {
        fs::write(self.env.outside("go"), "").unwrap();
        let done = self.run.finish();
        assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
        self.env
    }
}

#[test]
fn status_tells_where_a_run_stands() {
    let env = TestEnv::new();
    assert_eq!(env.ralph(&["status"]).code, 1, "nothing has run yet");

    let going = Going::start();
    let ask = |env: &TestEnv| -> Value {
        let done = env.ralph(&["status", "--json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    };
    let status = ask(&going.env);
    assert_eq!(check_status(&status), 2);
    assert_eq!(status["status"], "running");
    assert_eq!(status["last_promise"], "COMPLETE");
    assert_eq!(status["tasks"]["pending"], 2);
    assert!(status["pid"].is_u64(), "{status}");
    let shown = going.env.ralph(&["status"]).stdout;
    assert!(shown.starts_with("running · run "), "{shown}");
    assert!(shown.contains("iteration 2 / 50"), "{shown}");
    assert!(shown.contains("0/2 tasks · "), "{shown}");
    assert!(
        shown.contains(&format!("process: {}", status["pid"])),
        "{shown}"
    );

    let env = going.go_on();
    let status = ask(&env);
    assert_eq!(status["status"], "complete");
    assert_eq!(status["pid"], Value::Null);
    let shown = env.ralph(&["status"]).stdout;
    assert!(shown.starts_with("complete · run "), "{shown}");
    assert!(!shown.contains("process"), "{shown}");

    // Where no journal is left, nothing is to be told (T-10).
    std::fs::remove_dir_all(env.state("runs")).unwrap();
    for args in [&["status"][..], &["status", "--json"]] {
        let done = env.ralph(args);
        assert_eq!((done.code, done.stdout.as_str()), (1, ""));
        assert!(
            done.stderr.contains("no loop has run here yet"),
            "{}",
            done.stderr
        );
    }
}

#[test]
fn a_run_that_was_killed_is_dead() {
    let mut going = Going::start();
    going.run.kill();
    let done = going.env.ralph(&["status", "--json"]);
    let status: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(status["status"], "dead");
    assert_eq!(status["pid"], Value::Null);
    for verb in [&["status"][..], &["resume", "--show"]] {
        let shown = going.env.ralph(verb).stdout;
        assert!(shown.contains("dead (its process is gone)"), "{shown}");
    }
    // Its agent outlives it for now; let it end.
    fs::write(going.env.outside("go"), "").unwrap();
    wait_until("the agent is done", || {
        !going.env.read("tasks.md").contains("[ ]")
    });
    let done = going.env.ralph(&["run", "--agent-cmd", "true"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("its lock is taken over"),
        "{}",
        done.stdout
    );
}

#[test]
fn logs_shows_the_end_of_the_log_and_follows_it() {
    let env = TestEnv::new();
    assert_eq!(env.ralph(&["logs"]).code, 1, "nothing has run yet");

    let going = Going::start();
    let log = going.env.read(".ralph/ralph.log");
    let last = |n: usize, log: &str| {
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len() - n..].join("\n") + "\n"
    };
    assert_eq!(going.env.ralph(&["logs"]).stdout, log);
    assert_eq!(going.env.ralph(&["logs", "-n", "2"]).stdout, last(2, &log));
    assert_eq!(going.env.ralph(&["logs", "-n", "0"]).stdout, log);

    // It begins with one line, and then everything that comes is shown.
    let mut follower = Live::start(
        &going.env,
        "follower",
        going.env.command(&["logs", "-f", "-n", "1"]),
    );
    wait_until("the last line is shown", || {
        follower.stdout() == last(1, &log)
    });
    let before = log.lines().count();
    let env = going.go_on();
    let whole = env.read(".ralph/ralph.log");
    let added = whole.lines().count() - before;
    assert!(added > 3, "{whole}");
    wait_until("all new lines are shown", || {
        follower.stdout().lines().count() > added
    });
    assert_eq!(follower.stdout(), last(added + 1, &whole));
    assert!(follower.is_running(), "it goes on until it is ended");
    assert_eq!(env.ralph(&["logs", "-n", "1"]).stdout, last(1, &whole));
}

#[test]
fn events_are_shown_chosen_and_followed() {
    let going = Going::start();
    let printed = || going.run.stdout();
    let json = |env: &TestEnv, args: &[&str]| {
        let mut all = vec!["events", "--json"];
        all.extend(args);
        let done = env.ralph(&all);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done
    };
    assert_eq!(json(&going.env, &[]).stdout, printed());
    let rejected = json(&going.env, &["--filter", "event=promise_rejected"]).events();
    assert_eq!(names(&rejected), ["promise_rejected"]);
    let loud = json(&going.env, &["--filter", "level>=WARN"]).events();
    assert_eq!(names(&loud), ["promise_rejected"]);
    let second = json(&going.env, &["--filter", "iteration=2"]).events();
    assert_eq!(names(&second), ["iteration_start"]);
    let both = json(
        &going.env,
        &["--filter", "event=iteration_start,iteration>=2"],
    );
    assert_eq!(both.events().len(), 1);
    let bad = going.env.ralph(&["events", "--filter", "nonsense"]);
    assert_eq!(bad.code, 1);
    assert!(bad.stderr.contains("nonsense"), "{}", bad.stderr);

    let first = latest_run(&going.env);
    let id = first.file_name().unwrap().to_string_lossy().into_owned();
    let follower = Live::start(
        &going.env,
        "follower",
        going.env.command(&["events", "--json", "-f"]),
    );
    let env = going.go_on();
    let whole = fs::read_to_string(first.join("execution.log.jsonl")).unwrap();
    eventually("all events are followed", || {
        (follower.stdout() == whole).then_some(())
    });

    // Another run in the same project: the latest is shown, and any by name.
    let (done, _) = env.run_script(&[], &[]);
    assert_eq!(done.code, 0);
    assert_eq!(before_archive(&json(&env, &[]).stdout), done.stdout);
    assert_eq!(json(&env, &["--run", &id]).stdout, whole);
    let shown = env.ralph(&["events", "--run", &id, "--filter", "event=loop_end"]);
    assert!(shown.stdout.contains(" loop_end "), "{}", shown.stdout);
    assert_eq!(shown.stdout.lines().count(), 1);
    for unknown in ["20200101-000000-0000", "../runs"] {
        let done = env.ralph(&["events", "--run", unknown]);
        assert_eq!(done.code, 1, "{unknown}");
    }
}

/// The seconds since midnight of `…HH:MM:SS…`, from this column on.
fn second_of_day(text: &str, column: usize) -> i64 {
    let part = |at: usize| -> i64 { text[column + at..column + at + 2].parse().unwrap() };
    part(0) * 3600 + part(3) * 60 + part(6)
}

/// STAT-06: people read the log in their own time, whatever way it is named.
#[test]
fn the_log_is_in_the_person_s_own_time() {
    for (zone, hours) in [
        ("UTC", 0),
        ("Asia/Tokyo", 9),
        ("JST-9", 9),
        ("No/Where", 0),
        ("../../etc/passwd", 0),
    ] {
        let env = TestEnv::with_tasks(1);
        let run = ["run", "--agent-cmd", "echo '<promise>BLOCKED: x</promise>'"];
        let done = env.command(&run).env("TZ", zone).output().unwrap();
        assert_eq!(done.status.code(), Some(4), "{zone}");
        let log = env.read(".ralph/ralph.log");
        let last = log.lines().rfind(|line| line.starts_with('[')).unwrap();
        let status: Value = serde_json::from_str(&env.read(".ralph/status.json")).unwrap();
        let utc = second_of_day(status["timestamp"].as_str().unwrap(), 11);
        let ahead = (second_of_day(last, 12) - utc).rem_euclid(86_400);
        let off = (ahead - hours * 3600 + 43_200).rem_euclid(86_400) - 43_200;
        assert!(off.abs() < 60, "{zone}: {last}: {status}");
    }
}

/// U-06: people read one clock, with its zone; programs read UTC.
#[test]
fn people_read_local_time_and_programs_utc() {
    let env = TestEnv::with_tasks(1);
    let agent = env.agent(&[json!({"say": "<promise>BLOCKED: x</promise>"})]);
    let local = |args: &[&str]| {
        let mut command = env.command(args);
        // Ahead of UTC the whole year, without a database of zones.
        command.env("TZ", "<+14>-14");
        crate::env::Done::of(&command.output().unwrap()).stdout
    };
    local(&["run", "--agent-cmd", &agent]);
    let json: Value = serde_json::from_str(&local(&["status", "--json"])).unwrap();
    let utc = json["timestamp"].as_str().unwrap();
    let day = &utc[..10];
    let (hour, minutes) = (&utc[11..13], &utc[13..19]);
    let hour = (hour.parse::<u32>().unwrap() + 14) % 24;
    let clock = format!("{hour:02}{minutes}");
    let shown = local(&["status"]);
    assert!(shown.contains(&format!("{clock} (+14)")), "{utc}: {shown}");
    for args in [
        &["status"][..],
        &["resume", "--list"],
        &["events"],
        &["report"],
        &["history"],
        &["logs"],
    ] {
        let shown = local(args);
        let is_utc = |word: &str| word.starts_with(&day[..4]) && word.ends_with('Z');
        assert!(!shown.split_whitespace().any(is_utc), "{args:?}: {shown}");
        assert!(shown.contains(&clock[..5]), "{args:?} {clock}: {shown}");
    }
    assert!(local(&["report"]).contains("(+14)"));
    assert!(local(&["logs"]).contains("Started: "));
    assert!(local(&["events", "--json"]).contains(utc));
}

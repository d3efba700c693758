//! The wall around the agent and the checks (S-13): what is behind it changes
//! the project and nothing else, reaches what is open and nothing else, and
//! ends with Ralph.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::env::{Done, RALPH, TestEnv, make_executable};
use crate::live::{shell_agent, wait_until};

const NOBODY: &str = "65534";

fn strict(env: &TestEnv, args: &[&str]) -> Command {
    let mut command = env.command(args);
    command.env("RALPH_SANDBOX_MODE", "strict");
    command
}

fn behind(env: &TestEnv, script: &str) -> Done {
    let mut command = strict(env, &["sandbox", "--", "sh", "-c", script]);
    Done::of(&command.output().unwrap())
}

fn events(env: &TestEnv, event: &str) -> Vec<Value> {
    let run = env.layout().latest_run().unwrap().unwrap();
    let text = fs::read_to_string(run.events()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["event"] == event)
        .collect()
}

/// Whether anybody lives who was started with this word.
fn lives(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let mut words = line.split(|&byte| byte == 0);
        words
            .next()
            .is_some_and(|program| program.ends_with(b"sleep"))
            && words.any(|own| own == word.as_bytes())
    })
}

/// Nothing stays behind: no door, no home of a check, no mount.
fn nothing_is_left(env: &TestEnv) {
    let in_dir = |dir: std::path::PathBuf| -> Vec<String> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect()
    };
    let doors = in_dir(env.outside(".local/state/ralph/run"));
    assert!(
        !doors.iter().any(|name| name.starts_with("wall-")),
        "{doors:?}"
    );
    assert_eq!(in_dir(env.state("rooms")), [""; 0]);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let here = env.outside("").display().to_string();
    assert!(!mounts.contains(here.trim_end_matches('/')), "{mounts}");
}

/// A command that names files of the project works on them, in every turn.
#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn what_a_command_names_in_the_project_can_be_written() {
    let env = TestEnv::with_tasks(1);
    env.write("bin/agent.sh", "set -e; echo turn >> $1; echo beside > src/new; test $(wc -l < $1) -lt 2 || sed -i 's/\\[ \\]/[x]/' tasks.md; echo '<promise>CONTINUE</promise>'");
    env.write("src/log.txt", "");
    let agent = "sh bin/agent.sh src/log.txt";
    let mut run = strict(&env, &["run", "--agent-cmd", agent, "--verify", "true"]);
    let done = Done::of(&run.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(env.read("src/log.txt"), "turn\nturn\n");
}

/// A work tree beside its repository, and a submodule within it: their Git
/// folders lie elsewhere.
#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn git_works_in_a_work_tree_and_in_a_submodule() {
    let env = TestEnv::with_tasks(1);
    let name = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    let module = env.outside("module");
    let at = module.to_str().unwrap();
    env.git(&["init", "-q", at]);
    env.git(
        &[
            &["-C", at][..],
            &name,
            &["commit", "-q", "--allow-empty", "-m", "m"],
        ]
        .concat(),
    );
    env.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        at,
        "part",
    ]);
    env.git(&[&name[..], &["commit", "-q", "-m", "with a part"]].concat());
    let tree = env.outside("tree");
    env.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        tree.to_str().unwrap(),
    ]);
    let script = "set -e; echo a > a.txt; git add a.txt; git -c user.name=A -c user.email=a@localhost commit -q -m Work; if test -e part/.git; then cd part; git -c user.name=A -c user.email=a@localhost commit -q --allow-empty -m Part; fi";
    for place in [&env.root, &tree] {
        let mut command = strict(&env, &["sandbox", "--", "sh", "-c", script]);
        let done = Done::of(&command.current_dir(place).output().unwrap());
        assert_eq!(
            done.code,
            0,
            "{}: {}{}",
            place.display(),
            done.stdout,
            done.stderr
        );
        let mut log = Command::new("git");
        let log = log.arg("-C").arg(place).args(["log", "-1", "--format=%s"]);
        assert_eq!(
            log.output().unwrap().stdout,
            b"Work\n",
            "{}",
            place.display()
        );
    }
    let part = env.git(&["-C", "part", "log", "-1", "--format=%s"]);
    assert_eq!(part.trim(), "Part");
    nothing_is_left(&env);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn a_list_is_worked_off_and_everything_says_what_stood_around_it() {
    let env = TestEnv::with_tasks(1);
    let home_file = env.outside("precious");
    fs::write(&home_file, "mine").unwrap();
    let agent = shell_agent(
        &env,
        "rm -rf ~/precious ~/.local /etc/passwd 2>/dev/null; ls ~ > seen; echo \"$RALPH_RUN_ID\" >> seen\n\
         cat \"$1\" > prompt; sed -i 's/\\[ \\]/[x]/' tasks.md; git add -A\n\
         git commit -q -m Done 2> error\n",
    );
    let agent = format!("{agent} {{prompt_file}}");
    fs::write(
        env.outside(".gitconfig"),
        "[user]\n\tname = Me\n\temail = me@localhost\n[alias]\n\tx = !evil\n",
    )
    .unwrap();
    let check = "test -f seen && test -w . && test ! -e ~/precious && test ! -w /usr";
    let mut command = strict(
        &env,
        &["run", "--json", "--agent-cmd", &agent, "--verify", check],
    );
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(fs::read_to_string(&home_file).unwrap(), "mine");
    assert!(
        !env.read("seen").contains("precious"),
        "{}",
        env.read("seen")
    );
    assert!(env.read("prompt").contains("T001"));
    assert_eq!(env.read("error"), "");
    assert!(
        env.git(&["log", "-1", "--format=%an %s"])
            .contains("Me Done")
    );
    let told = &events(&env, "sandbox")[0];
    assert_eq!(
        (&told["kind"], &told["network"]),
        (&"bubblewrap".into(), &"listed".into())
    );
    let report = env.ralph(&["report"]);
    assert!(
        report.stdout.contains("bubblewrap, network: registries"),
        "{}",
        report.stdout
    );
    let first = done.stdout.lines().take(4).collect::<String>();
    assert!(first.contains("\"event\":\"sandbox\""), "{first}");
    nothing_is_left(&env);
}

const ESCAPES: &str = include_str!("escapes.sh");

/// Things of the person's that nobody behind the wall may see or change.
fn lay_bait(env: &TestEnv) {
    for (name, text) in [
        ("secret", "s3cret"),
        (".ssh/id_ed25519", "s3cret"),
        (".aws/credentials", "s3cret"),
        (".config/gh/hosts.yml", "s3cret"),
        (
            ".npmrc",
            "fund=false\n//registry.npmjs.org/:_authToken=npm_s3cret\n",
        ),
        (
            ".gitconfig",
            "[user]\n\tname = Me\n\temail = me@localhost\n",
        ),
    ] {
        let path = env.outside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    env.write(".claude/settings.json", "{}");
    env.write(".ralph/config.toml", "");
    symlink("/etc", env.path("link")).unwrap();
}

/// Answers everybody, until the test is over.
fn serve() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
        }
    });
    port
}

fn escape(env: &TestEnv, mut command: Command) {
    let port = serve().to_string();
    let bait = env.outside("secret");
    command
        .env("BAIT", &bait)
        .env("REAL", env.outside(""))
        .env("STATE", env.outside(".local/state/ralph"))
        .env("OUTER", std::process::id().to_string())
        .env("PORT", port)
        .env("RALPH", RALPH)
        .env("SSH_AUTH_SOCK", env.outside("agent.sock"));
    let done = Done::of(&command.output().unwrap());
    let open: Vec<&str> = done
        .stdout
        .lines()
        .filter(|line| line.starts_with("OPEN"))
        .collect();
    assert_eq!(open, [""; 0], "{}", done.stderr);
    assert!(
        done.stdout.contains("TRIED 7"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    assert_eq!(fs::read_to_string(bait).unwrap(), "s3cret");
    for place in ["/usr", "/etc", "/var", "/opt", "/"] {
        assert!(!Path::new(place).join("ralph-was-here").exists(), "{place}");
    }
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn nobody_gets_out() {
    let env = TestEnv::with_tasks(1);
    lay_bait(&env);
    escape(&env, strict(&env, &["sandbox", "--", "sh", "-c", ESCAPES]));
    assert_eq!(env.read(".claude/settings.json"), "{}");
    nothing_is_left(&env);
}

#[test]
#[cfg_attr(
    not(all(has_wall, can_be_another_user)),
    ignore = "needs bubblewrap, namespaces, root and setpriv"
)]
fn an_ordinary_user_gets_out_no_better() {
    let env = TestEnv::with_tasks(1);
    lay_bait(&env);
    let all = env.outside("");
    let open = Command::new("chown")
        .args(["-R", NOBODY])
        .arg(&all)
        .status();
    assert!(open.unwrap().success());
    make_executable(&all);
    // A copy, since the folder of the build may be closed to others.
    let program = all.join("ralph");
    fs::copy(RALPH, &program).unwrap();
    make_executable(&program);
    let usual = env.command(&["sandbox", "--trust-project", "--", "sh", "-c", ESCAPES]);
    let mut command = Command::new("setpriv");
    command
        .args([
            &format!("--reuid={NOBODY}"),
            &format!("--regid={NOBODY}"),
            "--clear-groups",
        ])
        .arg(&program)
        .args(usual.get_args())
        .current_dir(&env.root)
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in usual.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("RALPH_SANDBOX_MODE", "strict");
    escape(&env, command);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn a_repository_that_points_elsewhere_is_set_right() {
    let env = TestEnv::with_tasks(1);
    let done = behind(&env, "mkdir evil && echo ../evil > .git/commondir");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!env.path(".git/commondir").exists());
    assert!(done.stderr.contains(".git/commondir"), "{}", done.stderr);
}

#[test]
#[cfg_attr(
    not(all(has_wall, has_curl)),
    ignore = "needs bubblewrap, namespaces and curl"
)]
fn what_is_open_can_be_reached_and_what_is_closed_is_told() {
    let env = TestEnv::with_tasks(1);
    let port = serve();
    let agent = shell_agent(
        &env,
        &format!(
            "curl -sf -m 5 http://localhost:{port} > reached\n\
             curl -s -m 5 https://evil.example/ -o /dev/null -D headers\n\
             echo '<promise>BLOCKED: enough</promise>'\n"
        ),
    );
    env.write(
        ".ralph/config.toml",
        &format!("[sandbox]\nhosts = [\"localhost:{port}\"]\n"),
    );
    let mut command = strict(&env, &["run", "--agent-cmd", &agent]);
    let done = Done::of(&command.output().unwrap());
    assert_eq!(env.read("reached"), "hi", "{}{}", done.stdout, done.stderr);
    let denied = events(&env, "sandbox_denied");
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!(denied[0]["target"], "evil.example:443");
    assert_eq!(denied[0]["setting"], "sandbox.hosts");
    assert!(done.stdout.contains("evil.example:443"), "{}", done.stdout);
    let report = env.ralph(&["report"]);
    assert!(
        report.stdout.contains("evil.example:443"),
        "{}",
        report.stdout
    );
}

/// The agent and the checks alike: whoever is refused learns it from the
/// kernel, and the person from them, with what would open it.
#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn a_path_that_is_closed_is_told_with_what_would_open_it() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(
        &env,
        "touch /etc/ralph-agent\nsed -i 's/\\[ \\]/[x]/' tasks.md\necho '<promise>COMPLETE</promise>'\n",
    );
    let check = "touch '/usr/ralph check' || true";
    let args = ["run", "--agent-cmd", &agent, "--verify", check];
    let done = Done::of(&strict(&env, &args).output().unwrap());
    let denied = events(&env, "sandbox_denied");
    let told = |target: &str| {
        let mut denied = denied.iter();
        denied.any(|denied| denied["target"] == target && denied["setting"] == "sandbox.write")
    };
    assert!(told("/etc/ralph-agent"), "{denied:?}");
    assert!(told("/usr/ralph check"), "{denied:?}");
    assert!(done.stdout.contains("sandbox.write"), "{}", done.stdout);
}

/// A filter of system calls, as the kernel reads it: `landlock_create_ruleset`
/// (444) fails with ENOSYS, and everything else is as it is.
const NO_LANDLOCK: [[u8; 8]; 4] = [
    [0x20, 0, 0, 0, 0, 0, 0, 0],
    [0x15, 0, 0, 1, 0xbc, 0x01, 0, 0],
    [0x06, 0, 0, 0, 38, 0, 0x05, 0],
    [0x06, 0, 0, 0, 0, 0, 0xff, 0x7f],
];

/// The same command on a machine where no wall works: there is no bubblewrap
/// on `PATH`, and the kernel does not know Landlock.
pub fn without_any(env: &TestEnv, usual: &Command, path: &Path, mode: &str) -> Command {
    let filter = env.outside("filter");
    fs::write(&filter, NO_LANDLOCK.concat()).unwrap();
    let start = "exec bwrap --dev-bind / / --seccomp 3 -- env PATH=\"$BIN\" \"$@\" 3<\"$0\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", start])
        .arg(&filter)
        .arg(usual.get_program())
        .args(usual.get_args())
        .current_dir(&env.root)
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in usual.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("BIN", path).env("RALPH_SANDBOX_MODE", mode);
    command
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn where_none_works_strict_refuses_and_auto_says_why() {
    let env = TestEnv::with_tasks(1);
    let bin = env.outside("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["sh", "git", "sed", "cat"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {name}")])
            .output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        symlink(found.trim(), bin.join(name)).unwrap();
    }
    let agent = shell_agent(&env, "echo '<promise>BLOCKED: enough</promise>'\n");
    let without = |mode: &str| {
        let usual = env.command(&["run", "--agent-cmd", &agent]);
        Done::of(&without_any(&env, &usual, &bin, mode).output().unwrap())
    };
    let refused = without("strict");
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("bubblewrap is not installed"),
        "{}",
        refused.stderr
    );
    assert!(
        env.layout().latest_run().unwrap().is_none(),
        "nothing was started"
    );
    let told = without("auto");
    assert_eq!(told.code, 4);
    assert!(
        told.stdout.contains("bubblewrap is not installed"),
        "{}",
        told.stdout
    );
    let off = without("off");
    assert!(
        off.stdout.contains("the agent can do whatever you can"),
        "{}",
        off.stdout
    );
}

/// Each of them does everything to outlive the run.
const SURVIVORS: &str = "\
    sleep 300.MARK &\n\
    (setsid sleep 301.MARK >/dev/null 2>&1 </dev/null &)\n\
    (env -i setsid -f sleep 302.MARK)\n\
    (tmux -L MARK new-session -d 'sleep 303.MARK' 2>/dev/null)\n\
    touch ready\nwait\n";

/// `RALPH_TEST_WALL_KILLS` says how often; a few are enough every day.
#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn kill_9_of_ralph_ends_everything_within_a_second() {
    let times = std::env::var("RALPH_TEST_WALL_KILLS").ok();
    let times: u32 = times.and_then(|text| text.parse().ok()).unwrap_or(5);
    let env = TestEnv::with_tasks(1);
    for time in 0..times {
        let mark = format!("{}{time}", std::process::id());
        let agent = shell_agent(&env, &SURVIVORS.replace("MARK", &mark));
        let ready = env.path("ready");
        let _ = fs::remove_file(&ready);
        let mut run = strict(&env, &["run", "--quiet", "--agent-cmd", &agent])
            .spawn()
            .unwrap();
        wait_until("the agent works", || ready.exists());
        assert!(lives(&format!("300.{mark}")));
        run.kill().unwrap();
        let killed = Instant::now();
        run.wait().unwrap();
        for kind in 300..304 {
            let word = format!("{kind}.{mark}");
            while lives(&word) {
                assert!(killed.elapsed() < Duration::from_secs(1), "{word} lives");
            }
        }
    }
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn an_agent_that_is_asked_to_end_can_say_its_last_words() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(
        &env,
        "trap 'echo bye > bye; exit 0' TERM\ntouch ready\nwhile :; do sleep 0.1; done\n",
    );
    let mut run = strict(&env, &["run", "--quiet", "--agent-cmd", &agent])
        .spawn()
        .unwrap();
    wait_until("the agent works", || env.path("ready").exists());
    assert_eq!(env.ralph(&["stop"]).code, 0);
    run.wait().unwrap();
    assert!(env.path("bye").exists());
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn the_doctor_tries_to_break_out_and_tells_where_it_can() {
    let env = TestEnv::with_tasks(1);
    let whole = Done::of(&strict(&env, &["doctor", "--sandbox"]).output().unwrap());
    assert_eq!(whole.code, 0, "{}{}", whole.stdout, whole.stderr);
    assert_eq!(
        whole.stdout.matches(": held").count() + whole.stdout.matches("not kept").count(),
        15
    );
    let mut holed = strict(&env, &["doctor", "--sandbox", "--json"]);
    // Whoever opens the home has none of its walls.
    holed.env("RALPH_SANDBOX_READ", "~");
    let holed = Done::of(&holed.output().unwrap());
    assert_eq!(holed.code, 7, "{}{}", holed.stdout, holed.stderr);
    let told: Value = serde_json::from_str(&holed.stdout).unwrap();
    let red = |name: &str| {
        let mut all = told["findings"].as_array().unwrap().iter();
        all.any(|finding| finding["check"] == name && finding["status"] == "red")
    };
    assert!(red("read-home"), "{told:#}");
    assert!(!red("outlive"), "{told:#}");
    nothing_is_left(&env);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn a_project_does_not_loosen_the_wall_untrusted() {
    let env = TestEnv::with_tasks(1);
    env.write(
        ".ralph/config.toml",
        "[sandbox]\nmode = \"off\"\nwrite = [\"~\"]\n",
    );
    let mut command = env.untrusted(&["run", "--agent-cmd", "true"]);
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("ralph trust"), "{}", done.stderr);
    let listed = env.ralph(&["trust", "--list"]);
    assert!(listed.stdout.contains("sandbox.mode"), "{}", listed.stdout);
}

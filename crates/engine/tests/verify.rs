//! Verification commands with a real shell.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ralph_core::machine::VerifyReport;
use ralph_engine::supervise::Stop;
use ralph_engine::verify::Verifier;
use tokio::sync::watch;

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        Project {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("verify.log")
    }

    fn logged(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap()
    }

    async fn run(&self, commands: &[&str]) -> VerifyReport {
        let stop = watch::Sender::new(Stop::No);
        self.run_with(&verifier(commands), stop.subscribe()).await
    }

    async fn run_with(&self, verifier: &Verifier, stop: watch::Receiver<Stop>) -> VerifyReport {
        let env = [("RALPH_ITERATION".into(), "4".into())];
        let run = verifier.run(4, self.dir.path(), &env, self.log(), stop);
        let report = tokio::time::timeout(Duration::from_secs(60), run).await;
        let report = report.unwrap_or_else(|_| panic!("it hangs")).report;
        assert_eq!(report.turn, 4);
        report
    }
}

fn verifier(commands: &[&str]) -> Verifier {
    Verifier {
        files: Vec::new(),
        max_time: std::time::Duration::ZERO,
        wall: None,
        commands: commands.iter().map(|&c| c.to_owned()).collect(),
        timeout: Duration::from_secs(60),
        output_limit: 500,
        log_max: 0,
        baseline: Default::default(),
        env_filter: Default::default(),
        grace: Duration::from_secs(60),
    }
}

/// Exit and output of every command that ran.
fn results(report: &VerifyReport) -> Vec<(Option<i32>, &str)> {
    let results = report.results.iter();
    results.map(|r| (r.exit, r.output.as_str())).collect()
}

#[tokio::test]
async fn all_commands_pass() {
    let project = Project::new();
    let report = project
        .run(&["echo one; echo two >&2", "pwd -P", "echo $RALPH_ITERATION"])
        .await;
    assert!(report.passed());
    let real = project.dir.path().canonicalize().unwrap();
    let [first, second, third] = &report.results[..] else {
        panic!("{report:?}");
    };
    assert_eq!(first.command, "echo one; echo two >&2");
    assert!(first.output == "one\ntwo\n" || first.output == "two\none\n");
    assert_eq!(second.output, format!("{}\n", real.display()));
    assert_eq!(third.output, "4\n");
    assert_eq!(
        project.logged(),
        format!(
            "$ echo one; echo two >&2\n{}$ pwd -P\n{}\n$ echo $RALPH_ITERATION\n4\n",
            first.output,
            real.display()
        )
    );
}

#[tokio::test]
async fn the_first_failure_is_the_last_command() {
    let project = Project::new();
    let report = project
        .run(&["true", "echo broken; exit 3", "echo ran > third"])
        .await;
    assert!(!report.passed());
    assert_eq!(results(&report), [(Some(0), ""), (Some(3), "broken\n")]);
    assert_eq!(report.failure().unwrap().command, "echo broken; exit 3");
    assert!(!project.dir.path().join("third").exists());
}

#[tokio::test]
async fn a_command_that_does_not_exist_fails_in_the_shell() {
    let project = Project::new();
    let report = project.run(&["ralph-test-no-such-command --now"]).await;
    let (exit, output) = results(&report)[0];
    assert_eq!(exit, Some(127));
    assert!(output.contains("ralph-test-no-such-command"), "{output}");
}

#[tokio::test]
async fn a_signal_is_a_failure() {
    let report = Project::new().run(&["echo here; kill -KILL $$"]).await;
    assert_eq!(results(&report), [(None, "here\n\n[signal 9]")]);
}

#[tokio::test]
async fn time_is_up() {
    let project = Project::new();
    let mut verifier = verifier(&["echo begun; sleep 60", "true"]);
    verifier.timeout = Duration::from_secs(1);
    let stop = watch::Sender::new(Stop::No);
    let started = Instant::now();
    let report = project.run_with(&verifier, stop.subscribe()).await;
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(results(&report), [(None, "begun\n\n[timed out after 1 s]")]);
    assert!(!report.passed());
}

#[tokio::test]
async fn no_time_means_no_limit() {
    let project = Project::new();
    let mut verifier = verifier(&["sleep 0.1"]);
    verifier.timeout = Duration::ZERO;
    let stop = watch::Sender::new(Stop::No);
    let report = project.run_with(&verifier, stop.subscribe()).await;
    assert!(report.passed(), "{report:?}");
}

#[tokio::test]
async fn long_output_keeps_head_and_tail_and_is_whole_in_the_file() {
    let project = Project::new();
    let script = "echo 開始; seq 1 100000; echo 結束; exit 1";
    let report = project.run(&[script]).await;
    let (_, output) = results(&report)[0];
    assert!(output.chars().count() <= 500);
    assert!(output.chars().count() > 490);
    assert!(output.starts_with("開始\n1\n2\n3\n"), "{output}");
    assert!(output.ends_with("\n99999\n100000\n結束\n"), "{output}");

    let whole: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(project.logged() == format!("$ {script}\n開始\n{whole}結束\n"));
    let shown = output.chars().count() - "\n[… 588416 …]\n".chars().count();
    let missing = whole.chars().count() + "開始\n結束\n".chars().count() - shown;
    assert!(output.contains(&format!("\n[… {missing} …]\n")), "{output}");
}

#[tokio::test]
async fn secrets_stay_out_of_messages() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let report = Project::new()
        .run(&[&format!("echo {secret}; exit 1")])
        .await;
    assert_eq!(results(&report), [(Some(1), "[redacted]\n")]);
}

#[tokio::test]
async fn the_verdict_does_not_depend_on_the_log() {
    let project = Project::new();
    std::fs::create_dir(project.log()).unwrap();
    assert!(project.run(&["echo fine"]).await.passed());
}

#[tokio::test]
async fn a_stop_during_a_command_ends_the_verification() {
    let project = Project::new();
    let stop = watch::Sender::new(Stop::No);
    let verifier = verifier(&["true", "echo begun; sleep 60", "echo ran > third"]);
    let receiver = stop.subscribe();
    let (report, ()) = tokio::join!(project.run_with(&verifier, receiver), async {
        while !project.log().exists() || !project.logged().ends_with("begun\n") {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        stop.send_replace(Stop::Gracefully);
    });
    assert_eq!(
        results(&report),
        [(Some(0), ""), (None, "begun\n\n[stopped]")]
    );
    assert!(!report.passed());
    assert!(!project.dir.path().join("third").exists());
}

#[tokio::test]
async fn a_stop_between_two_commands_is_no_pass() {
    let project = Project::new();
    let stop = watch::Sender::new(Stop::No);
    let receiver = stop.subscribe();
    stop.send_replace(Stop::Now);
    let verifier = verifier(&["echo ran > first", "true"]);
    let report = project.run_with(&verifier, receiver).await;
    assert_eq!(results(&report), [(None, "\n[stopped]")]);
    assert!(!report.passed());
    assert!(!project.dir.path().join("first").exists());
}

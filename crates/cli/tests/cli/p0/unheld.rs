//! What lies in the project and no commit will hold: the gate owes nothing to
//! it.

use std::process::Command;

use ralph_testkit::github::World;

use super::{AUDIT_PASS, COMMIT, CREATE, EVIDENCE, GATE, PUSH, p0, project, turn};
use crate::hub::story;

/// T-08, PRCI-08: work that Git ignores is in no commit, whoever wrote the rule
/// and when.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_git_ignores_is_in_no_commit_t_08() {
    for (hides, file, is_good) in [
        (
            "echo src/login.txt >> .git/info/exclude",
            "login.txt",
            false,
        ),
        ("echo login.txt > src/.gitignore", "login.txt", false),
        ("true", "a.local", false),
        (
            "mkdir src/dist; mv src/a.local src/dist/",
            "dist/a.local",
            false,
        ),
        // What checks and tools leave is not needed.
        (
            "echo coverage > .gitignore; mkdir coverage; echo 1 > coverage/a",
            "login.txt",
            true,
        ),
    ] {
        let hub = project(World::default());
        hub.env.write("check.sh", "grep -qr works src\n");
        hub.env
            .write(".gitignore", ".quality-gate-passed\n*.local\n");
        hub.commit("Ignore what is local");
        let work = format!(
            "mkdir -p src; echo works > src/{}",
            file.replace("dist/", "")
        );
        let said = hub.env.outside("said");
        let gate = format!("$RALPH gate run > {} 2>&1", said.display());
        let turns = [turn(&[&work, hides, AUDIT_PASS, EVIDENCE, &gate, COMMIT])];
        let (code, events) = p0(&hub, &turns, &["--create-pr", "--max-iterations", "1"]);
        let told = story(&events);
        assert_eq!(code, if is_good { 0 } else { 3 }, "{hides}: {told:?}");
        assert_eq!(hub.pushed().is_some(), is_good, "{hides}");
        let said = std::fs::read_to_string(said).unwrap();
        assert_eq!(
            said.contains("that no commit holds"),
            !is_good,
            "{hides}: {said}"
        );
    }
}

/// What a project is, what its agent does, and what the gate says of that;
/// nothing where it may pass.
type Case = (&'static str, &'static str, &'static str, &'static str);

const UNHELD: &str = "that no commit holds";
/// Work that Git ignores.
const IGNORED: &str = "echo login.txt > src/.gitignore; echo works > src/login.txt";
const REPOSITORY: &str = "mkdir src/n; cd src/n; git init -q; echo new > w; git add -A; git -c user.name=A -c user.email=a@b commit -q -m i; cd ../..";

fn judge(cases: &[Case]) {
    for (setup, check, agent, says) in cases {
        let hub = project(World::default());
        hub.env.write("check.sh", &format!("{check}\n"));
        hub.env.write("src/a", "a\n");
        let mut sh = Command::new("sh");
        sh.args(["-ec", setup]).current_dir(hub.env.path(""));
        assert!(sh.status().unwrap().success(), "{setup}");
        hub.commit("Set up");
        hub.env.git(&["push", "-q", "origin", "HEAD:main"]);
        let said = hub.env.outside("said");
        let gate = format!("$RALPH gate run > {} 2>&1", said.display());
        let work = "echo b >> src/a";
        let turns = [turn(&[work, agent, AUDIT_PASS, EVIDENCE, &gate, COMMIT])];
        let (code, events) = p0(&hub, &turns, &["--create-pr", "--max-iterations", "1"]);
        let said = std::fs::read_to_string(said).unwrap();
        let told = format!("{agent}: {:?} {said}", story(&events));
        assert_eq!(code == 0, says.is_empty(), "{told}");
        assert_eq!(hub.pushed().is_some(), says.is_empty(), "{told}");
        assert!(said.contains(says), "{told}");
    }
}

/// T-08: nor is work that Git never looks at, or that older checks don't need.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_git_does_not_look_at_is_in_no_commit_t_08() {
    judge(&[
        // New checks would pass without it, those of then only with it.
        (
            "mkdir tests; echo 'grep -qr works src' > tests/login.sh",
            "for test in tests/*.sh; do sh $test || exit 1; done",
            "echo true > tests/login.sh; echo login.txt > src/.gitignore; echo works > src/login.txt",
            "as they were when the loop began",
        ),
        // A pipe, which Git would wait for.
        (
            "echo cache >> .gitignore",
            "grep -qr works src",
            "mkdir -p cache/deep/.git/refs; mkfifo cache/deep/.git/HEAD; echo login.txt > src/.gitignore; echo works > src/login.txt",
            UNHELD,
        ),
        (
            "true",
            "grep -qr works src",
            "mkdir src/.git; echo works > src/.git/w",
            UNHELD,
        ),
        (
            "true",
            "grep -qR works src",
            "mkdir -p .skillpack; echo works > .skillpack/w; ln -s ../.skillpack/w src/w",
            UNHELD,
        ),
        (
            "true",
            "grep -qR works src",
            "echo works > .git/w; ln -s ../.git/w src/w",
            UNHELD,
        ),
        // Where no snapshots are kept the time is known still.
        (
            "printf '[snapshots]\nenabled = false\n' >> .ralph/config.toml",
            "grep -qr works src",
            IGNORED,
            "where it does not look (src/login.txt), so",
        ),
        (
            "echo .env >> .gitignore",
            "grep -qs works .env",
            "echo works > .env",
            "never commit keys and passwords (.env)",
        ),
    ]);
}

/// T-08: of a repository within the project a commit holds the name alone.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_lies_in_another_repository_is_in_no_commit_t_08() {
    let check = "grep -qr new src";
    judge(&[
        ("true", check, REPOSITORY, UNHELD),
        (
            REPOSITORY, "grep -qr works src", "echo works > src/n/w", UNHELD,
        ),
        // What was there before is the person's, as everything that is ignored.
        ("echo n > src/.gitignore", check, REPOSITORY, UNHELD),
        (REPOSITORY, check, "true", ""),
        // Work trees for others beside the work.
        (
            "echo .worktrees >> .gitignore",
            "grep -q works src/login.txt",
            "echo works > src/login.txt; git worktree add -q .worktrees/t -b t",
            "",
        ),
    ]);
}

/// T-08: honest work that makes something Git ignores is not held up.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn what_is_made_and_installed_holds_nothing_up_t_08() {
    judge(&[
        // A later step makes it.
        (
            "echo out >> .gitignore; sed -i 's|build: true|build: mkdir -p out; cp src/a out/|' .ralph/config.toml",
            "grep -q b out/a",
            "mkdir out; cp src/a out",
            "",
        ),
        // A stamp says that it was made already.
        (
            "printf 'out\\ntarget\\n' >> .gitignore",
            "[ -e target/stamp ] || { mkdir -p target out; cp src/a out; touch target/stamp; }; grep -q b out/a",
            "mkdir target out; cp src/a out; touch target/stamp",
            "",
        ),
        (
            "echo env >> .gitignore",
            "grep -q works env/lib",
            "mkdir env; touch env/pyvenv.cfg; echo works > env/lib",
            "",
        ),
        // Not where work lies.
        (
            "true",
            "grep -qr works src",
            "printf 'pyvenv.cfg\\nlogin.txt\\n' > src/.gitignore; touch src/pyvenv.cfg; echo works > src/login.txt",
            UNHELD,
        ),
    ]);
}

/// T-08: what a commit holds although Git ignores it is among what passed.
#[test]
#[cfg_attr(not(has_gh), ignore = "needs gh: cargo xtask test gets it")]
fn tracked_and_ignored_files_are_among_what_passed_t_08() {
    let hub = project(World::default());
    hub.env.write("check.sh", "grep -q works src/a.local\n");
    hub.env
        .write(".gitignore", ".quality-gate-passed\n*.local\n");
    hub.commit("Ignore what is local");
    let work = "mkdir src; echo works > src/a.local; git add -f src/a.local";
    let worse = "echo broken > src/a.local; git add -f src/a.local";
    let turns = [
        turn(&[work, AUDIT_PASS, EVIDENCE, COMMIT, GATE]),
        turn(&[worse, COMMIT, PUSH, CREATE]),
    ];
    let (code, events) = p0(&hub, &turns, &["--max-iterations", "2"]);
    let told = story(&events);
    assert_eq!(code, 3, "{told:?}");
    let want = ["turn 1", "pr_missing", "turn 2", "gate_open gate_stale"];
    assert_eq!(told[..4], want);
}

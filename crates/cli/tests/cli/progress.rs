//! What counts as progress, and what each rule of the circuit breaker sees.

use serde_json::{Value, json};

use crate::env::{Done, TestEnv, named};

const CONTINUE: &str = "<promise>CONTINUE</promise>";

fn say(text: &str) -> Value {
    json!({ "say": text })
}

/// A turn that writes one file and goes on.
fn write(file: &str, text: &str) -> Value {
    json!({"write": {file: text}, "say": CONTINUE})
}

/// The evidence of every turn.
fn evidence(events: &[Value]) -> Vec<Vec<String>> {
    let names = |e: &&Value| serde_json::from_value(e["progress"].clone()).unwrap();
    named(events, "iteration_complete")
        .iter()
        .map(names)
        .collect()
}

/// Plays so many turns, with no rule that would end the run before.
fn play(env: &TestEnv, turns: &[Value]) -> Vec<Value> {
    let agent = env.agent(turns);
    let max = turns.len().to_string();
    let output = env
        .command(&[
            "run", "--json", "--agent-cmd", &agent, "--max-iterations", &max,
        ])
        .env("RALPH_LIMITS_STALLED", "0")
        .env("RALPH_LIMITS_MISSING_PROMISE", "0")
        .output()
        .unwrap();
    let done = Done::of(&output);
    assert_eq!(done.code, 3, "{}", done.stderr);
    done.events()
}

const NONE: [&str; 0] = [];

#[test]
fn a_new_untracked_file_is_progress() {
    let env = TestEnv::with_tasks(1);
    let events = play(&env, &[write("new.txt", "1"), say(CONTINUE)]);
    assert_eq!(evidence(&events), [vec!["tree"], NONE.to_vec()]);
}

#[test]
fn old_dirt_and_no_work_is_none() {
    let env = TestEnv::with_tasks(1);
    env.write("notes.txt", "kept");
    env.git(&["add", "-A"]);
    env.write("notes.txt", "changed before Ralph came");
    env.write("stray.txt", "untracked before Ralph came");
    let (done, events) = env.run_script(&vec![say(CONTINUE); 9], &[]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert_eq!(events.last().unwrap()["reason"], "stalled");
    assert_eq!(evidence(&events), vec![NONE.to_vec(); 5]);
}

#[test]
fn what_was_there_before_is_none() {
    let env = TestEnv::with_tasks(1);
    env.write("a.txt", "A");
    let turns = [
        write("a.txt", "B"),
        write("a.txt", "A"),
        write("a.txt", "B"),
        // The same bytes once more, only newer.
        write("a.txt", "B"),
        write("a.txt", "C"),
    ];
    let events = play(&env, &turns);
    let none = NONE.to_vec();
    assert_eq!(
        evidence(&events),
        [vec!["tree"], none.clone(), none.clone(), none, vec!["tree"]]
    );
}

#[test]
fn an_empty_commit_is_none_and_a_real_one_counts() {
    let env = TestEnv::with_tasks(1);
    let commit = "git -c user.name=A -c user.email=a@localhost commit -q";
    let agent = format!(
        "cat > /dev/null\n\
         case $RALPH_ITERATION in\n\
         3) echo 1 > real.txt; git add -A; {commit} -m real ;;\n\
         *) {commit} --allow-empty -m empty ;;\n\
         esac\n\
         echo '{CONTINUE}'\n"
    );
    let agent = crate::live::shell_agent(&env, &agent);
    let done = env.ralph(&[
        "run", "--json", "--agent-cmd", &agent, "--max-iterations", "4",
    ]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let none = NONE.to_vec();
    assert_eq!(
        evidence(&done.events()),
        [none.clone(), none.clone(), vec!["commit", "tree"], none]
    );
    assert_eq!(env.git(&["rev-list", "--count", "HEAD"]).trim(), "5");
}

#[test]
fn ignored_files_and_ralphs_own_are_none() {
    let env = TestEnv::with_tasks(1);
    env.write(".gitignore", "target/\n*.log\n");
    let turns = [
        write("target/out.txt", "1"),
        write("deep/build.log", "2"),
        write(".ralph/notes.txt", "3"),
        write("deep/kept.txt", "4"),
    ];
    let none = NONE.to_vec();
    assert_eq!(
        evidence(&play(&env, &turns)),
        [none.clone(), none.clone(), none, vec!["tree"]]
    );
}

#[test]
fn a_box_that_is_ticked_again_is_none() {
    let env = TestEnv::with_tasks(2);
    let list = |first: char| format!("## Phase 1: Work\n- [{first}] T001 One\n- [ ] T002 Two\n");
    env.write("tasks.md", &list(' '));
    let turns = [
        write("tasks.md", &list('x')),
        write("tasks.md", &list(' ')),
        write("tasks.md", &list('x')),
    ];
    let events = play(&env, &turns);
    let none = NONE.to_vec();
    assert_eq!(evidence(&events), [vec!["tasks"], none.clone(), none]);
    let unticked = named(&events, "tasks_unticked");
    assert_eq!(unticked.len(), 1);
    assert_eq!(unticked[0]["tasks"], json!(["T001"]));
}

#[test]
fn continue_is_a_promise_but_no_progress() {
    let env = TestEnv::with_tasks(1);
    let turns = [say("hm"), say("hm"), say(CONTINUE), say("hm"), say("hm")];
    let agent = env.agent(&turns);
    let output = env
        .command(&["run", "--json", "--agent-cmd", &agent])
        .env("RALPH_LIMITS_MISSING_PROMISE", "3")
        .output()
        .unwrap();
    let events = Done::of(&output).events();
    let counts = |name: &str| -> Vec<u64> {
        named(&events, name)
            .iter()
            .map(|e| e["count"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(counts("promise_missing"), [1, 2, 1, 2]);
    assert_eq!(counts("stalled"), [1, 2, 3, 4, 5]);
    assert_eq!(events.last().unwrap()["reason"], "stalled");
}

/// One rule of the breaker: how it is provoked, and what it says.
struct Rule {
    name: &'static str,
    /// One turn; `{n}` becomes its number.
    turn: Value,
    env: &'static [(&'static str, &'static str)],
    args: &'static [&'static str],
    message: &'static str,
    evidence: &'static [&'static str],
    log: &'static str,
}

fn rules() -> Vec<Rule> {
    vec![
        Rule {
            name: "stalled",
            turn: json!({"say": CONTINUE}),
            env: &[],
            args: &[],
            message: "5 iterations in a row without progress",
            evidence: &[
                "iterations 1 to 5",
                "tasks: 0/2",
                "no commit with new content, and no content that was not seen before",
            ],
            log: "5 iterations in a row without progress: circuit breaker open",
        },
        Rule {
            name: "missing_promise",
            turn: json!({"write": {"{n}.txt": "new"}, "say": "worked on it"}),
            env: &[],
            args: &[],
            message: "5 iterations in a row without a promise",
            evidence: &["iterations 1 to 5"],
            log: "5 iterations in a row without a promise: circuit breaker open",
        },
        Rule {
            name: "same_error",
            turn: json!({"write": {"{n}.txt": "new"}, "complain": "no room on disk {n}", "exit": 7}),
            env: &[("RALPH_LIMITS_CONSECUTIVE_ERRORS", "0")],
            args: &[],
            message: "The same error 5 times in a row",
            evidence: &["agent_exec", "no room on disk 5"],
            log: "The same error 5 times in a row: circuit breaker open",
        },
        Rule {
            name: "same_error",
            turn: json!({"write": {"{n}.txt": "new"}, "say": CONTINUE}),
            env: &[("RALPH_VERIFY_WHEN", "each")],
            args: &["--verify", "echo 3 tests broken; exit 1"],
            message: "The same error 5 times in a row",
            evidence: &["3 tests broken"],
            log: "The same error 5 times in a row: circuit breaker open",
        },
        Rule {
            name: "false_promise",
            turn: json!({"write": {"{n}.txt": "new"}, "say": "<promise>COMPLETE</promise>"}),
            env: &[],
            args: &[],
            message: "5 false promises in a row",
            evidence: &["COMPLETE", "T001 Do thing 1", "T002 Do thing 2"],
            log: "5 false promises in a row: circuit breaker open",
        },
    ]
}

#[test]
fn every_rule_of_the_breaker_says_what_it_saw() {
    for rule in rules() {
        let env = TestEnv::with_tasks(2);
        let turns: Vec<Value> = (1..=9)
            .map(|n: u32| {
                let text = rule.turn.to_string().replace("{n}", &n.to_string());
                serde_json::from_str(&text).unwrap()
            })
            .collect();
        let agent = env.agent(&turns);
        let mut args = vec!["run", "--agent-cmd", &agent];
        args.extend(rule.args);
        let output = env
            .command(&args)
            .envs(rule.env.iter().copied())
            .output()
            .unwrap();
        let done = Done::of(&output);
        let name = rule.name;
        assert_eq!(done.code, 5, "{name}: {}", done.stdout);
        assert!(
            done.stdout.contains(rule.message),
            "{name}: {}",
            done.stdout
        );

        let told = env.ralph(&["events", "--json", "--filter", "event=breaker_open"]);
        let opened = told.events();
        assert_eq!(opened.len(), 1, "{name}");
        assert_eq!(opened[0]["reason"], name);
        assert_eq!(opened[0]["count"], 5, "{name}");
        assert_eq!(opened[0]["iteration"], 5, "{name}");
        let seen = opened[0]["evidence"].to_string();
        let (_, shown) = done.stdout.split_once("Evidence:").unwrap();
        for sign in rule.evidence {
            assert!(seen.contains(sign), "{name}: {seen}");
            assert!(shown.contains(sign), "{name}: {shown}");
        }

        let status = env.json(".ralph/status.json");
        assert_eq!(status["status"], "circuit_break");
        assert_eq!(status["last_promise"], "NO_PROGRESS");
        assert_eq!(status["reason"], name);
        assert_eq!(status["counters"][name], 5);
        let log = env.read(".ralph/ralph.log");
        assert!(
            log.contains(&format!("[ERROR] {}", rule.log)),
            "{name}: {log}"
        );
    }
}

/// The breaker waits its time, tries one turn, and that turn decides (BRKR-06).
#[test]
fn after_its_cooldown_one_turn_decides_brkr_06() {
    let works = |id: &str, say: &str| json!({"write": {id: "1"}, "tick": [id], "say": say});
    let well = vec![
        works("T001", CONTINUE),
        works("T002", "<promise>COMPLETE</promise>"),
    ];
    for (after, code, closed) in [(well, 0, 1), (vec![say(CONTINUE)], 5, 0)] {
        let env = TestEnv::with_tasks(2);
        let turns: Vec<Value> = [vec![say(CONTINUE); 2], after].concat();
        let agent = env.agent(&turns);
        let output = env
            .command(&["run", "--json", "--agent-cmd", &agent])
            .env("RALPH_LIMITS_STALLED", "2")
            .env("RALPH_LIMITS_COOLDOWN", "50ms")
            .output()
            .unwrap();
        let done = Done::of(&output);
        assert_eq!(done.code, code, "{}", done.stderr);
        let events = done.events();
        let cooldowns = named(&events, "wait");
        assert_eq!(cooldowns.len(), 1, "{cooldowns:?}");
        assert_eq!(cooldowns[0]["reason"], "cooldown");
        assert_eq!(named(&events, "iteration_start").len(), turns.len());
        assert_eq!(named(&events, "breaker_closed").len(), closed);
    }
}

/// BRKR-03: what is said names what was looked at.
#[test]
fn a_turn_without_progress_names_what_counts_brkr_03() {
    let listed = TestEnv::with_tasks(2);
    let plain = TestEnv::new();
    for (env, prompt, counts, want) in [
        (&listed, None, "[\"tasks\"]", "nothing new in ticks"),
        (
            &listed,
            None,
            "[\"tasks\", \"commit\"]",
            "nothing new in ticks, commits",
        ),
        (
            &listed,
            None,
            "[\"tasks\", \"phase\", \"commit\", \"tree\"]",
            "nothing new in ticks, commits or files",
        ),
        // There is no list whose ticks could be looked at.
        (
            &plain,
            Some("Work"),
            "[\"tasks\", \"commit\", \"tree\"]",
            "nothing new in commits, content",
        ),
        (
            &plain,
            Some("Work"),
            "[\"tasks\"]",
            "nothing that counts can be seen here; see progress.evidence",
        ),
    ] {
        env.write(
            ".ralph/config.toml",
            &format!("[progress]\nevidence = {counts}\n"),
        );
        let agent = env.agent(&[say(CONTINUE)]);
        let args = ["run", "--agent-cmd", &agent, "--max-iterations", "1"];
        let args: Vec<&str> = args.into_iter().chain(prompt).collect();
        let done = env.ralph(&args);
        let want = format!("no progress (1 in a row): {want}");
        assert!(done.stdout.contains(&want), "{counts}: {}", done.stdout);
    }
}

/// What Ralph writes by itself is no work, wherever the settings put it
/// (BRKR-03).
#[test]
fn ralph_s_own_files_are_no_progress_wherever_they_lie() {
    let env = TestEnv::with_tasks(1);
    let own = "[log]\nfile = \"logs/x.log\"\nmax_size = \"1KB\"\nkeep = 2\n[checkpoint]\ndir = \"kept/now\"\n[history]\ndir = \"kept/past\"\n";
    env.write(".ralph/config.toml", own);
    let idle = json!({"say": "<promise>CONTINUE</promise>"});
    let (done, events) = env.run_script(&[idle], &["--max-iterations", "20"]);
    assert!(env.path("logs/x.log").exists(), "{}", done.stderr);
    let end = events.last().unwrap();
    assert_eq!(end["outcome"], "circuit_break", "{end}");
    let turns = named(&events, "iteration_complete");
    assert!(turns.len() <= 5, "{} turns", turns.len());
}

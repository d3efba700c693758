//! People who are not looking are told, once, and never hold the loop up.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::{TestEnv, make_executable, named};

const DONE: &str = "<promise>COMPLETE</promise>";

fn told(env: &TestEnv) -> Vec<Value> {
    let text = std::fs::read_to_string(env.outside("told.jsonl")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A project whose run tells a file beside it.
fn telling(on: &str) -> TestEnv {
    let env = TestEnv::with_tasks(1);
    let file = env.outside("told.jsonl");
    env.write(
        ".ralph/config.toml",
        &format!(
            "[notify]\ncommand = \"cat >> '{}'\"\non = [{on}]\n",
            file.display()
        ),
    );
    env
}

#[test]
fn the_end_is_told_once_and_so_is_the_end_of_the_run_that_goes_on() {
    let env = telling("\"end\"");
    let (paused, _) = env.run_script(
        &[json!({"say": "<promise>CONTINUE</promise>", "write": {"a.txt": "a"}})],
        &["--max-iterations", "1"],
    );
    assert_eq!(paused.code, 3, "{}", paused.stderr);
    let first = told(&env);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["topic"], "end");
    assert_eq!(first[0]["project"], "project");
    assert_eq!(first[0]["title"], "Ralph · project · paused");

    env.agent(&[json!({}), json!({"tick": ["T001"], "say": DONE})]);
    let resumed = env.ralph(&["resume", "--yes", "--quiet"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let both = told(&env);
    assert_eq!(both.len(), 2, "{both:?}");
    assert_eq!(both[0], first[0]);
    assert_eq!(both[1]["title"], "Ralph · project · complete");
    assert_ne!(both[0]["id"], both[1]["id"]);
}

/// U-12: whoever has only the text knows what to do.
#[test]
fn the_text_for_a_command_holds_tasks_reason_and_cost_u_12() {
    let env = TestEnv::with_tasks(1);
    let file = env.outside("text");
    env.write(
        ".ralph/config.toml",
        &format!(
            "[notify]\ncommand = 'printf %s \"$RALPH_NOTIFY_TEXT\" > {}'\non = [\"end\"]\n",
            file.display()
        ),
    );
    env.run_script(
        &[json!({"say": "<promise>CONTINUE</promise>", "write": {"a.txt": "a"}})],
        &["--max-iterations", "1"],
    );
    let text = std::fs::read_to_string(file).unwrap();
    for part in [
        "max_iterations", "0/1 task done", "open: T001 Do thing 1", "cost",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A command that hangs costs the loop nothing until its end, and then not
/// for long; the agent's leftovers are ended beside it.
#[test]
fn a_command_that_hangs_does_not_hold_up_the_turns() {
    let env = TestEnv::with_tasks(3);
    let file = env.outside("begun");
    env.write(
        ".ralph/config.toml",
        &format!(
            "[notify]\ncommand = \"echo x >> '{}'; sleep 60\"\non = [\"start\"]\ntimeout = \"3s\"\n",
            file.display()
        ),
    );
    let tick = |id: &str| json!({"tick": [id], "write": {format!("{id}.txt"): id}, "say": "<promise>CONTINUE</promise>"});
    let started = Instant::now();
    let (done, events) = env.run_script(&[tick("T001"), tick("T002"), tick("T003")], &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(named(&events, "iteration_complete").len(), 3);
    let log = env.read(".ralph/ralph.log");
    assert!(log.contains("was not delivered"), "{log}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
}

#[test]
fn a_dry_run_names_who_would_be_told_and_tells_nobody() {
    let env = telling("\"end\", \"question\"");
    let before = env.snapshot();
    let shown = env.ralph(&["run", "--dry-run", "--agent-cmd", "true {prompt_file}"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("notifications: command `cat >> "),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("(end, question)"), "{}", shown.stdout);
    assert_eq!(told(&env), Vec::<Value>::new());
    assert_eq!(env.snapshot(), before);

    let mut secret = env.command(&["run", "--dry-run", "--agent-cmd", "true {prompt_file}"]);
    secret.env("RALPH_NOTIFY_WEBHOOK", "https://hooks.example/T0/s3cr3t");
    let shown = crate::env::Done::of(&secret.output().unwrap());
    assert!(
        shown.stdout.contains("webhook at hooks.example"),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains("s3cr3t"), "{}", shown.stdout);
}

#[test]
fn an_address_that_is_none_is_refused_without_being_repeated() {
    let env = TestEnv::with_tasks(1);
    let mut command = env.command(&["run", "--agent-cmd", "true {prompt_file}"]);
    command.env("RALPH_NOTIFY_WEBHOOK", "file:///s3cr3t");
    let done = crate::env::Done::of(&command.output().unwrap());
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("notify.webhook"), "{}", done.stderr);
    assert!(!done.stderr.contains("s3cr3t"), "{}", done.stderr);
}

/// Whoever knows the address can write to people: no agent needs to.
#[test]
fn the_agent_does_not_get_the_address() {
    let env = TestEnv::with_tasks(1);
    let seen = env.outside("seen");
    let agent = format!("sh -c 'env > {}' sh {{prompt_file}}", seen.display());
    let mut command = env.command(&["run", "--max-iterations", "1", "--agent-cmd", &agent]);
    command
        .env("RALPH_NOTIFY_WEBHOOK", "http://127.0.0.1:9/s3cr3t")
        .env("RALPH_NOTIFY_ON", "guard");
    command.output().unwrap();
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("RALPH_NOTIFY_ON"), "{seen}");
    assert!(!seen.contains("s3cr3t"), "{seen}");
}

/// Takes one post, and gives the path that it went to and its body.
fn listen() -> (String, std::thread::JoinHandle<(String, Value)>) {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut length, mut is_json) = (String::new(), 0, false);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            is_json |= line == "content-type: application/json";
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        assert!(is_json && first.starts_with("POST "), "{first}");
        let path = first.split(' ').nth(1).unwrap().to_owned();
        (path, serde_json::from_slice(&body).unwrap())
    });
    (url, thread)
}

/// A run of which one task is done and proven, and one is open; it is told in
/// this form.
fn ends_telling(form: &str, path: &str) -> (TestEnv, String, Value) {
    let env = TestEnv::with_tasks(2);
    let (url, thread) = listen();
    let settings = format!(
        "[notify]\nform = \"{form}\"\nchat = \"-1001\"\nlink = \"https://ralph.example/{{project}}/{{run_id}}\"\n[verify]\ncommands = [\"test -e T001.txt\"]\n"
    );
    env.write(".ralph/config.toml", &settings);
    let turns = [
        json!({"tick": ["T001"], "write": {"T001.txt": "<b>&*"}, "say": "<promise>CONTINUE</promise>"}),
        json!({"say": "<promise>BLOCKED: <@everyone> & *co*</promise>"}),
    ];
    let agent = env.agent(&turns);
    let mut command = env.command(&["run", "--agent-cmd", &agent]);
    command.env("RALPH_NOTIFY_WEBHOOK", format!("{url}{path}"));
    let done = crate::env::Done::of(&command.output().unwrap());
    assert_eq!(done.code, 4, "{}{}", done.stdout, done.stderr);
    let (posted_to, body) = thread.join().unwrap();
    // No file of the project or of the run has the address.
    let secret = path.rsplit('/').next().unwrap();
    for (file, bytes) in env.snapshot() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret), "{}", file.display());
    }
    assert!(!done.stdout.contains(secret), "{}", done.stdout);
    (env, posted_to, body)
}

const FACTS: [&str; 4] = [
    "1/2 tasks done, 1 of them proven",
    "open: T002 Do thing 2",
    "2 iterations",
    "ralph resume",
];

fn has_facts(text: &str) {
    for fact in FACTS {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    assert!(text.contains("https://ralph.example/project/2"), "{text}");
}

/// U-12: what one needs to act on, in the form of each service.
#[test]
#[cfg_attr(not(has_curl), ignore = "needs curl: cargo xtask test gets it")]
fn services_get_the_end_in_their_own_form() {
    let (_, path, slack) = ends_telling("slack", "/services/T0/B0/s3cr3tk3y");
    assert_eq!(path, "/services/T0/B0/s3cr3tk3y");
    assert_eq!(slack["text"], "Ralph · project · blocked");
    let header = &slack["blocks"][0];
    assert_eq!(
        (&header["type"], &header["text"]["type"]),
        (&json!("header"), &json!("plain_text"))
    );
    let section = &slack["blocks"][1];
    assert_eq!(
        (&section["type"], &section["text"]["type"]),
        (&json!("section"), &json!("plain_text"))
    );
    let text = section["text"]["text"].as_str().unwrap();
    assert!(text.contains("<@everyone> & *co*"), "{text}");
    let link = slack["blocks"][2]["text"]["text"].as_str().unwrap();
    assert!(link.starts_with('<') && link.ends_with('>'), "{link}");
    has_facts(&format!("{text}\n{link}"));

    let (_, _, discord) = ends_telling("discord", "/api/webhooks/1/s3cr3tk3y");
    let embed = &discord["embeds"][0];
    assert_eq!(embed["title"], "Ralph · project · blocked");
    assert!(embed["color"].is_u64());
    assert_eq!(discord["allowed_mentions"], json!({"parse": []}));
    let text = embed["description"].as_str().unwrap();
    has_facts(&text.replace('\\', ""));
    assert!(text.contains("\\*co\\*"), "{text}");

    let (_, path, telegram) = ends_telling("telegram", "/bot1:s3cr3tk3y/sendMessage");
    assert_eq!(path, "/bot1:s3cr3tk3y/sendMessage");
    assert_eq!(telegram["chat_id"], "-1001");
    assert!(telegram["parse_mode"].is_null());
    assert_eq!(telegram["link_preview_options"]["is_disabled"], true);
    has_facts(telegram["text"].as_str().unwrap());

    let (_, path, ntfy) = ends_telling("ntfy", "/s3cr3tk3y");
    assert_eq!((path.as_str(), &ntfy["topic"]), ("/", &json!("s3cr3tk3y")));
    assert_eq!(
        (&ntfy["priority"], &ntfy["tags"]),
        (&json!(4), &json!(["warning"]))
    );
    assert!(
        ntfy["click"]
            .as_str()
            .unwrap()
            .starts_with("https://ralph.example/")
    );
    has_facts(ntfy["message"].as_str().unwrap());

    let (_, _, own) = ends_telling("json", "/s3cr3tk3y");
    assert_eq!(
        own["end"]["tasks"],
        json!({"total": 2, "completed": 1, "proven": 1})
    );
    assert_eq!(
        (&own["end"]["outcome"], &own["end"]["exit_code"]),
        (&json!("blocked"), &json!(4))
    );
    assert_eq!(own["next"], "ralph resume");
}

#[test]
fn a_mail_goes_through_sendmail() {
    let env = TestEnv::with_tasks(1);
    let (program, got) = (env.outside("sendmail"), env.outside("mail"));
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {0}.args\ncat > {0}\n",
        got.display()
    );
    std::fs::write(&program, script).unwrap();
    make_executable(&program);
    let config = format!(
        "[notify]\nemail = \"me@localhost\"\nsendmail = \"{}\"\n",
        program.display()
    );
    env.write(".ralph/config.toml", &config);
    let (done, _) = env.run_script(
        &[json!({"say": "<promise>BLOCKED: 沒有金鑰</promise>"})],
        &[],
    );
    assert_eq!(done.code, 4, "{}", done.stderr);
    let args = std::fs::read_to_string(format!("{}.args", got.display())).unwrap();
    assert_eq!(args, "-t -oi\n");
    let mail = std::fs::read_to_string(&got).unwrap();
    assert!(mail.is_ascii(), "{mail}");
    let (head, body) = mail.split_once("\n\n").unwrap();
    assert!(
        head.starts_with("To: me@localhost\nSubject: =?UTF-8?Q?Ralph_"),
        "{head}"
    );
    for line in [
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "Auto-Submitted: auto-generated",
    ] {
        assert!(head.lines().any(|have| have == line), "{line}: {head}");
    }
    assert!(body.contains("=E6=B2=92=E6=9C=89"), "{body}");
    assert!(body.contains("ralph resume"), "{body}");

    for bad in ["me", "me@localhost\\nBcc: all@example", "a@b c@d"] {
        env.write(
            ".ralph/config.toml",
            &format!("[notify]\nemail = \"{bad}\"\n"),
        );
        let agent = env.agent(&[]);
        let done = env.ralph(&["run", "--agent-cmd", &agent]);
        assert_eq!(done.code, 1, "{bad}: {}", done.stdout);
    }
}

#[test]
fn one_message_tells_of_a_limit_that_ends_the_run() {
    let env = telling("\"end\", \"limit\"");
    let turn = json!({"say": "<promise>CONTINUE</promise>", "write": {"a.txt": "a"}});
    let (done, events) = env.run_script(&[turn], &["--max-iterations", "1"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(named(&events, "limit_reached").len(), 1);
    let topics: Vec<_> = told(&env).iter().map(|one| one["topic"].clone()).collect();
    assert_eq!(topics, [json!("end")]);
}

/// Whoever waits for the end of the program sees what it waits for, and who
/// was not told.
#[test]
fn a_way_that_leads_nowhere_holds_the_end_up_for_a_moment_and_says_so() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[notify]\ncommand = \"exit 7\"\n");
    let agent = env.agent(&[json!({"tick": ["T001"], "say": DONE})]);
    let started = Instant::now();
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert!(started.elapsed() < Duration::from_secs(40));
    assert_eq!(done.code, 0, "{}", done.stderr);
    for said in [
        "trying to deliver the notifications (command `exit 7`)",
        "the notification \"ended\" was not delivered (command `exit 7`): exit code 7",
    ] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
}

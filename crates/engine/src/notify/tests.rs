use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use ralph_core::machine::{GuardBlock, Level};
use serde_json::Value;

use super::*;

const AT: Now = Now {
    wall_ms: 1_768_730_400_000,
    steady_ms: 0,
};

fn notifier(root: &Path, ways: Vec<Way>) -> Notifier {
    Notifier {
        ways,
        on: vec![NotifyTopic::Guard],
        attempts: 3,
        timeout: Duration::from_secs(5),
        root: root.into(),
        link: String::new(),
    }
}

fn posted(url: impl Into<String>) -> Way {
    Way::Webhook {
        url: url.into(),
        form: NotifyForm::Json,
        chat: String::new(),
    }
}

fn state() -> State {
    State::new(ralph_core::machine::Rules::new(
        ralph_core::machine::Goal::Prompt,
    ))
    .unwrap()
}

fn blocked(detail: &str) -> Notice {
    Notice::GuardBlock {
        iteration: 1,
        block: GuardBlock {
            tool: "Bash".into(),
            rule: "fs.rm".into(),
            detail: detail.into(),
            shadow: false,
        },
    }
}

fn finish(courier: &mut Courier) -> Vec<Undelivered> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(courier.finish(Duration::from_secs(20)))
}

fn courier(notifier: Notifier) -> Courier {
    Courier::new(notifier, "20260118-100000-1a2b", Lang::En, 10)
}

#[test]
fn a_command_gets_the_message_on_its_input_and_in_its_environment() {
    let dir = tempfile::tempdir().unwrap();
    let line = "cat > got.json; printf %s \"$RALPH_NOTIFY_TOPIC\" > topic";
    let mut courier = courier(notifier(dir.path(), vec![Way::Command(line.into())]));
    courier.take(&Notice::GateStart { iteration: 1 }, &state(), AT);
    assert!(courier.is_idle());
    courier.take(
        &blocked("rm -rf / token=ghp_0123456789abcdefghijABCDEFGHIJ012345"),
        &state(),
        AT,
    );
    assert_eq!(finish(&mut courier), []);
    let got = std::fs::read_to_string(dir.path().join("got.json")).unwrap();
    let json: Value = serde_json::from_str(&got).unwrap();
    assert_eq!(json["id"], "20260118-100000-1a2b/12");
    assert_eq!(json["level"], Level::Warn.into_str());
    assert!(!got.contains("ghp_"), "{got}");
    let topic = std::fs::read_to_string(dir.path().join("topic")).unwrap();
    assert_eq!(topic, "guard");
}

#[test]
fn a_command_that_fails_is_tried_again_and_then_told() {
    let dir = tempfile::tempdir().unwrap();
    let line = "echo x >> tries; test $(wc -l < tries) -ge 2";
    let mut works = courier(notifier(dir.path(), vec![Way::Command(line.into())]));
    works.take(&blocked("a"), &state(), AT);
    assert_eq!(finish(&mut works), []);
    let tries = std::fs::read_to_string(dir.path().join("tries")).unwrap();
    assert_eq!(tries, "x\nx\n");

    let way = Way::Command("echo no such luck >&2; exit 7".into());
    let mut never = courier(Notifier {
        attempts: 1,
        ..notifier(dir.path(), vec![way.clone()])
    });
    never.take(&blocked("a"), &state(), AT);
    let why = "exit code 7: no such luck".into();
    assert_eq!(
        finish(&mut never),
        [Undelivered {
            way,
            topic: NotifyTopic::Guard,
            why
        }]
    );
}

/// What was ended in the middle may have been heard: it is not said twice.
#[test]
fn a_command_that_hangs_is_ended_and_not_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let way = Way::Command("echo x >> tries; sleep 60".into());
    let mut courier = courier(Notifier {
        timeout: Duration::from_millis(300),
        ..notifier(dir.path(), vec![way])
    });
    courier.take(&blocked("a"), &state(), AT);
    let started = Instant::now();
    let failures = finish(&mut courier);
    assert_eq!(failures[0].why, "timed out");
    assert!(started.elapsed() < Duration::from_secs(10));
    let tries = std::fs::read_to_string(dir.path().join("tries")).unwrap();
    assert_eq!(tries, "x\n");
}

/// Answers each request with the next status, and gives the bodies.
fn server(statuses: &'static [u32]) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks/s3cr3t", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut bodies = Vec::new();
        for status in statuses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let read = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&request).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head
                        .lines()
                        .find_map(|l| l.strip_prefix("Content-Length: "))
                        .and_then(|l| l.parse().ok())
                        .unwrap_or(0);
                    if body.len() >= length {
                        bodies.push(body.to_owned());
                        break;
                    }
                }
            }
            let answer =
                format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
        }
        bodies
    });
    (url, thread)
}

#[test]
#[cfg_attr(not(has_curl), ignore = "needs curl: cargo xtask test gets it")]
fn a_webhook_gets_json_and_a_server_in_trouble_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let (url, thread) = server(&[503, 204]);
    let mut courier = courier(notifier(dir.path(), vec![posted(url)]));
    courier.take(&blocked("say \"hi\" \\ there\ttab 漢字"), &state(), AT);
    assert_eq!(finish(&mut courier), []);
    let bodies = thread.join().unwrap();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1]);
    let json: Value = serde_json::from_str(&bodies[0]).unwrap();
    assert!(
        json["text"]
            .as_str()
            .unwrap()
            .contains("say \"hi\" \\ there")
    );
}

#[test]
#[cfg_attr(not(has_curl), ignore = "needs curl: cargo xtask test gets it")]
fn a_webhook_that_says_no_is_not_asked_again_and_never_named() {
    let dir = tempfile::tempdir().unwrap();
    let (url, thread) = server(&[404]);
    let mut courier = courier(notifier(dir.path(), vec![posted(url)]));
    courier.take(&blocked("a"), &state(), AT);
    let failures = finish(&mut courier);
    assert_eq!(failures[0].why, "HTTP 404");
    assert!(!failures[0].way.say(Lang::En).contains("s3cr3t"));
    assert_eq!(thread.join().unwrap().len(), 1);
}

/// notifications.md: whom the end has no time for is named, each with why.
#[test]
fn what_is_not_delivered_in_time_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let way = Way::Command("echo no such luck >&2; exit 7".into());
    let mut courier = courier(notifier(dir.path(), vec![way.clone()]));
    courier.take(&blocked("a"), &state(), AT);
    courier.take(&blocked("b"), &state(), AT);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let failures = runtime.block_on(async {
        let failures = courier.finish(Duration::from_millis(800)).await;
        assert_eq!(failures, []);
        assert_eq!(courier.trying(), Some(&way));
        courier.give_up()
    });
    let whys: Vec<&str> = failures
        .iter()
        .map(|failure| failure.why.as_str())
        .collect();
    assert_eq!(
        whys,
        ["exit code 7: no such luck", "there was no time left for it"]
    );
    assert!(courier.is_idle());
}

#[test]
fn only_the_host_of_an_address_is_shown() {
    for (url, want, sound) in [
        (
            "https://hooks.example/T0/B0/key",
            "webhook at hooks.example",
            true,
        ),
        (
            "http://me:pw@localhost:8080?x=1",
            "webhook at localhost:8080",
            true,
        ),
        ("ftp://example/x", "webhook at example", false),
        ("https://example/a b", "webhook at example", false),
        ("https://example/\nurl = \"x\"", "webhook at example", false),
    ] {
        let way = posted(url);
        assert_eq!(way.say(Lang::En), want);
        assert_eq!(way.is_sound(), sound, "{url}");
    }
}

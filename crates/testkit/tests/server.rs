//! The server over a real socket.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ralph_testkit::{Call, ModelServer, Report, Script, Select, Turn, limits};
use serde_json::{Value, json};

fn send(server: &ModelServer, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: secret\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn ask(server: &ModelServer, first: &str) -> String {
    let message = json!({"role": "user", "content": first});
    let body = json!({"stream": true, "tools": [{"name": "Bash"}], "messages": [message]});
    send(server, "/v1/messages", &body)
}

fn start(turns: Vec<Turn>) -> ModelServer {
    ModelServer::start(Script::main(turns), None).unwrap()
}

#[test]
fn a_script_is_played_turn_by_turn() {
    let mut script = Script::main(vec![
        Turn::say("one").call(Call {
            name: "Bash".into(),
            input: json!({"command": "ls"}),
        }),
        Turn::say("two"),
    ]);
    script
        .lanes
        .insert("check".into(), vec![Turn::say("checked")]);
    script.select.push(Select {
        text: "CHECK".into(),
        lane: "check".into(),
    });
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("requests.jsonl");
    let server = ModelServer::start(script, Some(&log)).unwrap();
    assert!(ask(&server, "Do it").contains(r#""text":"one""#));
    assert!(ask(&server, "CHECK it").contains(r#""text":"checked""#));
    assert!(ask(&server, "Do it").contains(r#""text":"two""#));
    let untitled = json!({"messages": [{"role": "user", "content": "Name it"}]});
    assert!(send(&server, "/v1/messages", &untitled).contains("Scripted"));

    let Report {
        requests,
        violations,
        unplayed,
    } = server.finish();
    assert_eq!((violations, unplayed), (vec![], vec![]));
    let lanes: Vec<&str> = requests.iter().map(|r| r.lane.as_str()).collect();
    assert_eq!(lanes, ["main", "check", "main", "side"]);
    assert_eq!(requests[0].tools(), ["Bash"]);
    let logged = std::fs::read_to_string(&log).unwrap();
    assert_eq!(logged.lines().count(), 4);
    assert!(!logged.contains("secret"));
    let first: Value = serde_json::from_str(logged.lines().next().unwrap()).unwrap();
    assert_eq!(first["body"]["messages"][0]["content"], "Do it");
    assert_eq!(first["answer"], "turn 1");
}

#[test]
fn what_the_script_does_not_have_is_a_violation() {
    let server = start(vec![Turn::say("one")]);
    ask(&server, "first");
    let answer = ask(&server, "second");
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("no turn left in the lane main"), "{answer}");
    send(&server, "/v1/telemetry", &Value::Null);
    assert_eq!(
        server.finish().violations,
        [
            "request 2, POST /v1/messages: the script has no turn left in the lane main",
            "request 3, POST /v1/telemetry: the model server has no such path",
        ]
    );
}

#[test]
fn a_refusal_comes_with_its_status_and_headers() {
    let server = start(vec![Turn::refuse(limits::anthropic_five_hours(
        1_800_000_000,
    ))]);
    let answer = ask(&server, "Do it");
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert!(answer.contains("anthropic-ratelimit-unified-reset: 1800000000\r\n"));
    assert!(answer.contains("rate_limit_error"));
}

#[test]
fn a_cut_stream_has_no_end() {
    let server = start(vec![Turn::say("never heard").cut(), Turn::say("heard")]);
    let cut = ask(&server, "Do it");
    assert!(cut.starts_with("HTTP/1.1 200"), "{cut}");
    assert!(
        !cut.contains("message_stop") && !cut.ends_with("0\r\n\r\n"),
        "{cut}"
    );
    assert!(ask(&server, "Do it").ends_with("0\r\n\r\n"));
}

/// A client makes a call as soon as it has come whole.
#[test]
fn a_cut_stream_has_no_whole_call() {
    for path in [
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
        "/v1beta/models/m:streamGenerateContent",
    ] {
        for said in ["", "This never arrives."] {
            let input = json!({"command": "touch never.txt"});
            let call = |name: &str| Call {
                name: name.into(),
                input: input.clone(),
            };
            let turn = Turn::say(said).call(call("Bash")).call(call("Read"));
            let server = start(vec![turn.cut()]);
            let message = json!({"role": "user", "content": "Do it"});
            let body = json!({
                "stream": true, "tools": [{"name": "Bash"}],
                "messages": [message], "input": [message], "contents": [message],
            });
            let cut = send(&server, path, &body);
            assert!(cut.contains("data: "), "{path}: {cut}");
            let whole_events = cut.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
            assert!(!whole_events.contains("never.txt"), "{path}: {cut}");
        }
    }
}

#[test]
fn an_answer_can_come_late() {
    let late = Turn {
        delay_ms: 100,
        ..Turn::say("late")
    };
    let server = start(vec![late]);
    let start = Instant::now();
    assert!(ask(&server, "Do it").contains("late"));
    assert!(start.elapsed() >= Duration::from_millis(100));
}

#[test]
fn a_client_that_says_nothing_disturbs_nobody() {
    let server = start(vec![Turn::say("one")]);
    let silent = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    assert!(ask(&server, "Do it").contains("one"));
    drop(silent);
    assert_eq!(server.finish().requests.len(), 1);
}

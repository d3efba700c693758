//! `ralph web`: live, for whoever has the key, and for nobody else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::env::{TestEnv, make_executable, named};
use crate::live::{DEADLINE, Live, eventually, latest_run, shell_agent, wait_until};

const DONE: &str = "<promise>COMPLETE</promise>";
const GO_ON: &str = "<promise>CONTINUE</promise>";
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A page that is being served.
pub struct Page {
    address: String,
    key: String,
    server: Live,
}

pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

impl Page {
    pub fn serve(env: &TestEnv) -> Page {
        Page::of(Live::start(
            env,
            "web",
            env.command(&["web", "--port", "0"]),
        ))
    }

    /// A server that was started already.
    pub fn of(server: Live) -> Page {
        let url = eventually("the address is printed", || {
            let out = server.stdout();
            out.lines()
                .next()
                .filter(|l| l.starts_with("http"))
                .map(str::to_owned)
        });
        let (address, code) = address_and_code(&url);
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        let mut page = Page {
            address,
            key: String::new(),
            server,
        };
        let told = page.enter(&code);
        page.key = told.json()["key"].as_str().unwrap().to_owned();
        page
    }

    fn enter(&self, code: &str) -> Answer {
        self.request("POST", "/api/key", "", code)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends a request as it stands and reads to the end.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // Whoever is refused in the middle of a request may be cut off.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Answer {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|s| s.parse().ok())
                .unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let (address, length) = (&self.address, body.len());
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.key)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &self.bearer(), "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = format!("{}Origin: http://{}\r\n", self.bearer(), self.address);
        self.request("POST", path, &headers, &body.to_string())
    }

    /// What a viewer of a run is told, one by one.
    fn stream(&self, run: &str) -> Stream {
        let mut stream = self.connect();
        let (address, bearer) = (&self.address, self.bearer());
        let request =
            format!("GET /api/runs/{run}/stream HTTP/1.1\r\nHost: {address}\r\n{bearer}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Stream {
            lines: BufReader::new(stream),
        }
    }
}

struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the stream has ended");
            if let Some(json) = line.strip_prefix("data: ") {
                return serde_json::from_str(json).unwrap();
            }
        }
    }

    fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let news = self.next();
            if holds(&news) {
                return news;
            }
            assert!(Instant::now() < deadline, "never told: {what}");
        }
    }
}

fn id(env: &TestEnv) -> String {
    let run = latest_run(env);
    run.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A run that is over, with a secret wherever one can be.
fn finished() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "tasks.md",
        &format!("# Tasks\n\n## Phase 1: Work\n\n- [ ] T001 Log in with {SECRET}\n"),
    );
    env.git(&["add", "-A"]);
    env.git(&[
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "-m", "Plan",
    ]);
    let turns = [
        json!({"say": DONE, "write": {"a.txt": SECRET}}),
        json!({"tick": ["T001"], "say": format!("I used {SECRET}\n{DONE}")}),
    ];
    let verify = format!("echo {SECRET}");
    let (done, events) = env.run_script(&turns, &["--verify", &verify]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(named(&events, "promise_rejected").len(), 1);
    env
}

fn address_and_code(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, code) = rest.split_once("/#").unwrap();
    (address.to_owned(), code.to_owned())
}

/// S-10: what is printed lets one browser in, and no cookie lets anybody in.
#[test]
fn an_address_opens_the_page_once_and_nothing_else_does() {
    let env = finished();
    let page = Page::serve(&env);
    let run = id(&env);
    let printed = || {
        let out = page.server.stdout();
        let urls = out.lines().filter(|line| line.starts_with("http"));
        urls.map(|url| address_and_code(url).1).collect::<Vec<_>>()
    };
    let codes = eventually("the next address is printed", || {
        Some(printed()).filter(|codes| codes.len() == 2)
    });
    assert_eq!(page.enter(&codes[0]).status, 401);
    let entered = page.enter(&codes[1]);
    assert_eq!(entered.status, 200);
    assert!(
        !entered.head.to_lowercase().contains("cookie"),
        "{}",
        entered.head
    );
    for code in ["", "0", &page.key, &codes[1]] {
        assert_eq!(page.enter(code).status, 401, "{code}");
    }
    let home = page.request("GET", "/", "", "");
    assert_eq!(home.status, 200);
    assert!(
        home.head
            .contains("Content-Security-Policy: default-src 'none'; script-src 'self'")
    );
    for known in [&page.key, &run] {
        assert!(!home.body.contains(known.as_str()));
    }
    let port = page.address.rsplit(':').next().unwrap();
    let cookies = [
        String::new(),
        format!("Cookie: ralph-{port}={}\r\n", page.key),
        "Authorization: Bearer x\r\n".to_owned(),
    ];
    for path in ["/api/page", "/api/runs", &format!("/api/runs/{run}")] {
        assert_eq!(page.get(path).status, 200, "{path}");
        for headers in &cookies {
            let refused = page.request("GET", path, headers, "");
            assert_eq!(refused.status, 401, "{path} {headers}");
            assert!(!refused.body.contains(&run), "{}", refused.body);
        }
    }
    // What a browser opens by its address: once.
    let code = page.post("/api/code", &json!({})).json()["code"].clone();
    let report = format!("/runs/{run}/report.html?code={}", code.as_str().unwrap());
    assert_eq!(page.request("GET", &report, "", "").status, 200);
    assert_eq!(page.request("GET", &report, "", "").status, 401);
}

/// S-10: whoever looks at the processes sees no way in.
#[test]
fn the_browser_is_led_there_by_a_file_of_our_own() {
    let env = finished();
    let (bin, seen) = (env.outside("bin"), env.outside("seen"));
    std::fs::create_dir(&bin).unwrap();
    let opener = bin.join("xdg-open");
    let text = format!(
        "#!/bin/sh\n{{ echo \"$1\"; stat -c %a \"$(dirname \"$1\")\"; cat \"$1\"; }} > {0}.new\nmv {0}.new {0}\n",
        seen.display()
    );
    std::fs::write(&opener, text).unwrap();
    make_executable(&opener);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = env.command(&["web", "--port", "0", "--open"]);
    command.env("PATH", path);
    let _server = Live::start(&env, "web", command);
    wait_until("the browser is started", || seen.exists());
    let told = std::fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(!lines[0].contains("http"), "{told}");
    assert_eq!(lines[1], "700", "{told}");
    let url = lines[2].split("url=").nth(1).unwrap();
    let (address, code) = address_and_code(url.split('"').next().unwrap());
    let mut stream = TcpStream::connect(&address).unwrap();
    // As a browser comes from a file.
    let request =
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: cross-site\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(code.len(), 32);
}

#[test]
fn another_page_in_the_same_browser_gets_nothing_and_does_nothing() {
    let env = finished();
    let page = Page::serve(&env);
    let pause = format!("/api/runs/{}/pause", id(&env));
    let bearer = page.bearer();
    let port = page.address.rsplit(':').next().unwrap().to_owned();
    for host in [format!("evil.example:{port}"), "127.0.0.1:1".to_owned()] {
        let answer = page.raw(&format!(
            "GET /api/runs HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n"
        ));
        assert_eq!(answer.status, 403, "{host}");
    }
    let foreign = format!("{bearer}Origin: http://evil.example\r\n");
    assert_eq!(page.request("GET", "/api/runs", &foreign, "").status, 403);
    assert_eq!(page.request("POST", &pause, &foreign, "").status, 403);
    assert_eq!(page.request("POST", "/api/key", &foreign, "x").status, 403);
    let cross = format!("{bearer}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(page.request("GET", "/api/runs", &cross, "").status, 403);
    // With everything right it is heard, and out of place.
    let told = page.post(&pause, &json!({}));
    assert_eq!(told.status, 409, "{}", told.body);
}

/// S-15: whoever connects and says nothing keeps nobody out.
#[test]
fn a_thousand_silent_connections_keep_nobody_out() {
    let env = finished();
    let page = Page::serve(&env);
    let mut silent: Vec<TcpStream> = Vec::new();
    for n in 0..1000 {
        let mut stream = page.connect();
        // Some say half of something.
        if n % 3 == 0 {
            let _ = stream.write_all(b"GET /api/runs HTTP/1.1\r\nX: ");
        }
        silent.push(stream);
        if n % 250 == 249 {
            assert_eq!(page.get("/api/runs").status, 200, "behind {n}");
        }
    }
    for _ in 0..5 {
        assert_eq!(page.get("/api/runs").status, 200);
    }
}

#[test]
fn no_address_leads_out_of_the_runs() {
    let env = finished();
    let page = Page::serve(&env);
    let run = id(&env);
    env.write("secret.txt", "out of bounds");
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/runs/../../secret.txt",
        "/api/runs/..",
        "/api/runs/../..",
        "/api/runs/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/api/runs/....//....//secret.txt",
        "/api/runs/20260101-000000-0000",
        "//etc/passwd",
        "/runs/x/report.html",
        "/runs/20260101-000000-0000/report.html",
    ] {
        let answer = page.get(path);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert!(!answer.body.contains("out of bounds"), "{path}");
    }
    for rest in [
        "/turns/../journal.jsonl/output",
        "/turns/1/../../output",
        "/turns/99/output",
        "/turns/1.9/output",
        "/turns/-1/output",
        "/journal.jsonl",
        "/stream/x",
    ] {
        assert_eq!(
            page.get(&format!("/api/runs/{run}{rest}")).status,
            404,
            "{rest}"
        );
    }
    assert_eq!(
        page.get(&format!("/api/runs/{run}/turns/1/output")).status,
        200
    );
    assert_eq!(
        page.request("DELETE", "/api/runs", &page.bearer(), "")
            .status,
        405
    );
    assert_eq!(page.raw("nonsense\r\n\r\n").status, 400);
}

#[test]
fn no_secret_leaves_by_any_address() {
    let env = finished();
    let page = Page::serve(&env);
    let run = id(&env);
    let whole = page.get(&format!("/api/runs/{run}")).json();
    assert_eq!(whole["head"]["outcome"], "complete");
    assert_eq!(whole["head"]["word"], "complete");
    assert_eq!(whole["turns"].as_array().unwrap().len(), 2);
    assert_eq!(whole["turns"][0]["verdict"], "rejected");
    assert_eq!(whole["tasks"][0]["done"], true);
    for path in [
        "/api/runs".to_owned(),
        format!("/api/runs/{run}"),
        format!("/api/runs/{run}/turns"),
        format!("/api/runs/{run}/events"),
        format!("/api/runs/{run}/diff"),
        format!("/api/runs/{run}/report"),
        format!("/api/runs/{run}/turns/2/output"),
        format!("/runs/{run}/report.html"),
    ] {
        let answer = page.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains(SECRET), "{path}: {}", answer.body);
    }
    let told = page.stream(&run).next().to_string();
    assert!(told.contains("I used"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
}

/// An agent that works when it is told to.
fn waiting_run(env: &TestEnv) -> Live {
    run_of(env, "echo ticked one")
}

/// An agent that waits for its word, does something, and ticks a task.
fn run_of(env: &TestEnv, deed: &str) -> Live {
    let go = env.outside("go");
    let go = go.display();
    let agent = shell_agent(
        env,
        &format!(
            "while [ ! -e {go} ]; do sleep 0.02; done\nrm {go}\n{deed}\n\
             sed -i '0,/- \\[ \\]/s//- [x]/' tasks.md\necho '{GO_ON}'\n"
        ),
    );
    Live::start(
        env,
        "run",
        env.command(&["run", "--json", "--agent-cmd", &agent]),
    )
}

#[test]
fn what_happens_is_seen_at_once_and_pause_and_continue_act() {
    let env = TestEnv::with_tasks(3);
    let run = waiting_run(&env);
    wait_until("the run has begun", || env.state("runs").exists());
    let page = Page::serve(&env);
    let id = eventually("the run is listed", || {
        let runs = page.get("/api/runs").json();
        Some(runs["runs"][0]["id"].as_str()?.to_owned())
    });
    let mut stream = page.stream(&id);
    let first = stream.next();
    assert_eq!(first["full"], true);
    if first["head"]["standing"] != "working" {
        stream.until("the turn runs", |n| n["head"]["standing"] == "working");
    }
    std::fs::write(env.outside("go"), "").unwrap();
    let news = stream.until("one task is done", |n| n["head"]["completed"] == 1);
    assert!(
        news["turns"]
            .as_array()
            .unwrap()
            .iter()
            .any(|t| t["newly_done"] == 1)
    );

    let told = page.post(&format!("/api/runs/{id}/pause"), &json!({}));
    assert_eq!(told.status, 200, "{}", told.body);
    assert!(
        told.json()["said"].as_str().unwrap().contains("pauses"),
        "{}",
        told.body
    );
    std::fs::write(env.outside("go"), "").unwrap();
    stream.until("it has paused", |n| n["head"]["outcome"] == "paused");
    assert_eq!(run.finish().code, 3);
    // The lock is looked at a moment later.
    wait_until("it can go on", || {
        let can = page.get(&format!("/api/runs/{id}")).json()["head"]["can"].clone();
        (&can["pause"], &can["resume"]) == (&json!(false), &json!(true))
    });

    let told = page.post(&format!("/api/runs/{id}/resume"), &json!({}));
    assert_eq!(told.status, 200, "{}", told.body);
    std::fs::write(env.outside("go"), "").unwrap();
    let over = stream.until("it is complete", |n| n["head"]["outcome"] == "complete");
    assert_eq!(over["head"]["completed"], 3);
    // Once more is out of place.
    wait_until("nobody holds the lock", || {
        page.post(&format!("/api/runs/{id}/resume"), &json!({}))
            .status
            == 409
    });
}

#[test]
fn two_hundred_viewers_are_held() {
    let env = TestEnv::with_tasks(2);
    let run = waiting_run(&env);
    wait_until("the run has begun", || env.state("runs").exists());
    let page = Page::serve(&env);
    let id = eventually("the run is listed", || {
        let runs = page.get("/api/runs").json();
        Some(runs["runs"][0]["id"].as_str()?.to_owned())
    });
    let mut viewers: Vec<Stream> = (0..200).map(|_| page.stream(&id)).collect();
    for viewer in &mut viewers {
        assert_eq!(viewer.next()["full"], true);
    }
    std::fs::write(env.outside("go"), "").unwrap();
    for viewer in &mut viewers {
        viewer.until("one task is done", |n| n["head"]["completed"] == 1);
    }
    std::fs::write(env.outside("go"), "").unwrap();
    for viewer in &mut viewers {
        viewer.until("it is complete", |n| n["head"]["outcome"] == "complete");
    }
    assert_eq!(run.finish().code, 0);
    assert_eq!(page.get("/api/runs").status, 200);
}

/// Viewers that take nothing out of the line hold up neither the others nor
/// the run.
#[test]
fn those_who_do_not_listen_hold_up_nobody() {
    let env = TestEnv::with_tasks(1);
    let line = "x".repeat(1900);
    let flood = format!("for i in $(seq 12); do yes {line} | head -n 300; sleep 0.15; done");
    let run = run_of(&env, &flood);
    wait_until("the run has begun", || env.state("runs").exists());
    let page = Page::serve(&env);
    let id = eventually("the run is listed", || {
        let runs = page.get("/api/runs").json();
        Some(runs["runs"][0]["id"].as_str()?.to_owned())
    });
    let deaf: Vec<Stream> = (0..20).map(|_| page.stream(&id)).collect();
    let mut quick = page.stream(&id);
    std::fs::write(env.outside("go"), "").unwrap();
    quick.until("it is complete", |n| n["head"]["outcome"] == "complete");
    assert_eq!(run.finish().code, 0);
    drop(deaf);
    assert_eq!(page.get("/api/runs").status, 200);
}

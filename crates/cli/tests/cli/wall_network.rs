//! Tricks with names, redirects and requests, played against the proxy of a
//! real wall: nothing of the machine answers (issue 20, point 3).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::env::{Done, TestEnv};

/// Answers everybody the same and counts them.
fn serve(answer: String) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, asked)
}

fn secret() -> (u16, Arc<AtomicUsize>) {
    serve("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret".into())
}

fn behind(env: &TestEnv, hosts: &[&str], script: &str) -> Command {
    let hosts = serde_json::json!(hosts);
    env.write(
        ".ralph/config.toml",
        &format!("[sandbox]\nhosts = {hosts}\n"),
    );
    let mut command = env.command(&["sandbox", "--", "bash", "-c", script]);
    command.env("RALPH_SANDBOX_MODE", "strict");
    command
}

#[test]
#[cfg_attr(
    not(all(has_wall, has_curl)),
    ignore = "needs bubblewrap, namespaces and curl"
)]
fn a_redirect_into_the_machine_leads_nowhere() {
    let env = TestEnv::with_tasks(1);
    let (inner, asked) = secret();
    for home in [
        "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "user@127.0.0.1",
    ] {
        let (port, redirected) = serve(format!(
            "HTTP/1.1 302 Found\r\nLocation: http://{home}:{inner}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ));
        let script = format!(
            "curl -sL -m 5 http://localhost:{port}/; curl -sL -m 5 --noproxy '*' http://localhost:{port}/"
        );
        let done = Done::of(
            &behind(&env, &[&format!("localhost:{port}")], &script)
                .output()
                .unwrap(),
        );
        assert!(!done.stdout.contains("secret"), "{home}: {}", done.stdout);
        assert!(
            redirected.load(Ordering::SeqCst) > 0,
            "{home}: {}",
            done.stderr
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[test]
#[cfg_attr(
    not(all(has_wall, has_curl)),
    ignore = "needs bubblewrap, namespaces and curl"
)]
fn an_open_name_whose_answer_points_home_is_closed() {
    let env = TestEnv::with_tasks(1);
    let names = "127.0.0.1 home.example.org\n10.0.0.7 inside.example.org\n\
                 169.254.169.254 meta.example.org\n::1 six.example.org\n";
    let all = ["home", "inside", "meta", "six"].map(|name| format!("{name}.example.org"));
    let each =
        |host: &String| format!("curl -s -m 5 -o /dev/null -w '%{{http_code}} ' http://{host}/\n");
    let script: String = all.iter().map(each).collect();
    let usual = behind(&env, &all.each_ref().map(String::as_str), &script);
    let done = Done::of(&env.with_hosts(&usual, names).output().unwrap());
    // Closed, and not merely out of reach (502).
    assert_eq!(done.stdout.trim(), "403 403 403 403", "{}", done.stderr);
}

#[test]
#[cfg_attr(not(has_wall), ignore = "needs bubblewrap and namespaces")]
fn a_request_that_names_two_hosts_is_not_understood() {
    let env = TestEnv::with_tasks(1);
    let (inner, asked) = secret();
    let requests = [
        format!("CONNECT pypi.org@127.0.0.1:{inner} HTTP/1.1"),
        format!("CONNECT 127.0.0.1:{inner}@pypi.org:443 HTTP/1.1"),
        format!("CONNECT 127.0.0.1\\0.pypi.org:{inner} HTTP/1.1"),
        format!("CONNECT 127.0.0.1:{inner}\\0.pypi.org:443 HTTP/1.1"),
        format!("CONNECT 127.0.0.1%%00.pypi.org:{inner} HTTP/1.1"),
        format!("GET http://pypi.org@127.0.0.1:{inner}/ HTTP/1.1"),
        format!("GET http://127.0.0.1:{inner}\\0@pypi.org/ HTTP/1.1"),
        format!("GET http://127.0.0.1:{inner}#@pypi.org/ HTTP/1.1"),
        format!("GET http://127.0.0.1:{inner}\\\\@pypi.org/ HTTP/1.1"),
        format!("GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{inner}"),
    ];
    let each = |request: &String| {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/$port; printf '{request}\\r\\n\\r\\n' >&3; \
             timeout 5 head -c 12 <&3; echo; exec 3>&-\n"
        )
    };
    let script: String = requests.iter().map(each).collect();
    let script = format!("port=${{HTTP_PROXY##*:}}; port=${{port%%/*}}\n{script}");
    let done = Done::of(&behind(&env, &["pypi.org"], &script).output().unwrap());
    let answers: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(
        answers.len(),
        requests.len(),
        "{}{}",
        done.stdout,
        done.stderr
    );
    for (answer, request) in answers.iter().zip(&requests) {
        let refused = ["HTTP/1.1 400", "HTTP/1.1 403"].contains(answer);
        assert!(refused, "{request}: {answer}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

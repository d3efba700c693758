//! Who is let in, and who is let go: without a server.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::access::{Gate, Refused};
use super::http::{self, Request};

/// A request as it comes over the wire.
fn request(text: &str) -> std::io::Result<Request> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    client.write_all(text.as_bytes())?;
    client.shutdown(std::net::Shutdown::Write)?;
    http::read(&listener.accept()?.0)
}

fn gate(address: &str) -> Gate {
    Gate::new(address.parse().unwrap()).unwrap()
}

#[track_caller]
fn check_sender(address: &str, headers: &str, want: Result<(), Refused>) {
    let request = request(&format!("GET /api/runs HTTP/1.1\r\n{headers}\r\n")).unwrap();
    assert_eq!(gate(address).check_sender(&request), want, "{headers}");
}

#[test]
fn only_our_own_name_and_page_are_let_in() {
    let here = "127.0.0.1:7437";
    for host in [
        "127.0.0.1:7437", "localhost:7437", "[::1]:7437", "127.9.9.9:7437",
    ] {
        check_sender(here, &format!("Host: {host}\r\n"), Ok(()));
        let own =
            format!("Host: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n");
        check_sender(here, &own, Ok(()));
    }
    // DNS rebinding: a name that leads here is still somebody else's.
    for host in [
        "evil.example:7437",
        "localhost.evil.example:7437",
        "127.0.0.1.evil.example:7437",
        "127.0.0.1:80",
        "127.0.0.1",
        "192.168.0.7:7437",
        "",
    ] {
        check_sender(here, &format!("Host: {host}\r\n"), Err(Refused::Host));
    }
    check_sender(here, "", Err(Refused::Host));
    let twice = "Host: 127.0.0.1:7437\r\nHost: evil.example:7437\r\n";
    check_sender(here, twice, Err(Refused::Host));
    for origin in [
        "http://evil.example", "http://127.0.0.1:8080", "https://127.0.0.1:7437", "null",
        "http://localhost:7437",
    ] {
        let headers = format!("Host: 127.0.0.1:7437\r\nOrigin: {origin}\r\n");
        check_sender(here, &headers, Err(Refused::Origin));
    }
    for site in ["cross-site", "same-site", "x"] {
        let headers = format!("Host: 127.0.0.1:7437\r\nSec-Fetch-Site: {site}\r\n");
        check_sender(here, &headers, Err(Refused::Origin));
    }
    // On the network an address is believed, and a name never.
    check_sender("0.0.0.0:7437", "Host: 192.168.0.7:7437\r\n", Ok(()));
    check_sender("0.0.0.0:7437", "Host: box.lan:7437\r\n", Err(Refused::Host));
}

#[test]
fn nothing_is_seen_without_the_key_and_a_code_is_good_once() {
    let gate = gate("127.0.0.1:7437");
    let key = gate.key.text().to_owned();
    let check = |method: &str, path: &str, headers: &str, want: Result<(), Refused>| {
        let text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:7437\r\n{headers}\r\n");
        let request = request(&text).unwrap();
        assert_eq!(gate.check_key(&request), want, "{method} {path} {headers}");
    };
    let no = Err(Refused::Key);
    let bearer = format!("Authorization: Bearer {key}\r\n");
    check("GET", "/api/runs", &bearer, Ok(()));
    check("POST", "/api/runs/x/pause", &bearer, Ok(()));
    // No cookie counts, whatever it holds (S-10).
    for headers in [
        String::new(),
        format!("Cookie: ralph-7437={key}\r\n"),
        format!("Cookie: key={key}\r\n"),
        "Authorization: Bearer x\r\n".into(),
        format!("Authorization: Bearer {key}0\r\n"),
        format!("Authorization: Basic {key}\r\n"),
        format!("{bearer}{bearer}"),
    ] {
        check("GET", "/api/runs", &headers, no);
        check("GET", &format!("/api/runs?token={key}"), &headers, no);
        check("GET", &format!("/api/runs?code={key}"), &headers, no);
    }
    let code = gate.code().unwrap();
    let with_code = format!("/runs/x/report.html?code={}", code.text());
    check("POST", &with_code, "", no);
    check("GET", &with_code, "", Ok(()));
    check("GET", &with_code, "", no);
    // An old address dies with too many new ones.
    let old = gate.code().unwrap();
    for _ in 0..40 {
        gate.code().unwrap();
    }
    assert!(!gate.takes(old.text()));
    assert!(!format!("{gate:?}").contains(&key));
}

#[test]
fn what_is_no_request_is_not_taken_for_one() {
    for text in [
        "",
        "GET\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc",
    ] {
        assert!(request(text).is_err(), "{text:?}");
    }
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert!(request(&long).is_err());
    let sound = request("POST /a?b=c&d=7 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").unwrap();
    assert_eq!(
        (sound.path.as_str(), sound.asked("b"), sound.number("d")),
        ("/a", Some("c"), Some(7))
    );
    assert_eq!(sound.body, b"abc");
}

/// A viewer that takes nothing is gone after a moment, whatever the line held.
#[test]
fn whoever_takes_nothing_is_let_go() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut deaf = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    deaf.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let (stream, _) = listener.accept().unwrap();
    http::read(&stream).unwrap();
    let patience = stream.write_timeout().unwrap().unwrap();
    assert!(patience <= Duration::from_secs(10), "{patience:?}");
    // That it ends is the point; how soon was just seen.
    let short = Duration::from_millis(200);
    stream.set_write_timeout(Some(short)).unwrap();
    let started = Instant::now();
    let news = "x".repeat(1024 * 1024);
    let sent = (0..256).map(|_| super::send_event(&stream, &news));
    let error = sent.filter_map(Result::err).next().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "{error}");
}

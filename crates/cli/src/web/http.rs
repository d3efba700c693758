//! As much of HTTP/1.1 as a page on loopback needs: one request for each
//! connection, with bounds on everything that comes from outside.
//!
//! A server of our own instead of a framework: ten routes, no body but small
//! JSON, and a thread for each viewer, so that a slow one holds up nobody. It
//! brings no dependency into a program that is started for every hook.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const LONGEST_HEAD: u64 = 16 * 1024;
const LONGEST_BODY: usize = 64 * 1024;
/// For the whole request: nobody trickles it in.
const READ_TIME: Duration = Duration::from_secs(3);
/// Whoever takes no bytes for so long is gone.
const WRITE_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Other,
}

/// A request as it came.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    /// Without the query, as it was sent: nothing is decoded, so that nothing
    /// hides in it.
    pub path: String,
    pub query: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A header that was given once; several of a kind are none.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(n, _)| n == name);
        let first = found.next().map(|(_, value)| value.as_str());
        first.filter(|_| found.next().is_none())
    }

    pub fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(n, _)| n == name)
    }

    /// A value of the query, as it stands.
    pub fn asked(&self, name: &str) -> Option<&str> {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.asked(name)?.parse().ok()
    }
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads one request, or gives up on it.
pub fn read(stream: &TcpStream) -> io::Result<Request> {
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let patient = Patient {
        stream,
        until: Instant::now() + READ_TIME,
    };
    let mut reader = BufReader::new(patient);
    let mut head = (&mut reader).take(LONGEST_HEAD);
    let first = line(&mut head)?;
    let mut words = first.split(' ');
    let method = match words.next() {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        _ => Method::Other,
    };
    let target = words.next().filter(|target| target.starts_with('/'));
    let target = target.ok_or_else(|| bad("the request names no path"))?;
    if !words
        .next()
        .is_some_and(|version| version.starts_with("HTTP/1."))
    {
        return Err(bad("not HTTP/1"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| bad("no header"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        query,
        headers,
        body: Vec::new(),
    };
    if request.has("transfer-encoding") {
        return Err(bad("a body without a length"));
    }
    let length: usize = match request.header("content-length") {
        Some(length) => length.parse().map_err(|_| bad("no length"))?,
        None => 0,
    };
    if length > LONGEST_BODY {
        return Err(bad("the body is too long"));
    }
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(request)
}

/// A line without its end; the end of the input is an error.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(bad("the head ends early, or is too long"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| bad("the head is no text"))
}

/// Reads until a moment, not for so long each time.
struct Patient<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

/// An answer that is whole.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub kind: &'static str,
    policy: &'static str,
    pub body: Vec<u8>,
}

pub const JSON: &str = "application/json; charset=utf-8";
pub const HTML: &str = "text/html; charset=utf-8";
pub const TEXT: &str = "text/plain; charset=utf-8";

/// Scripts and styles come from here or from nowhere, and nobody frames us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Response {
    pub fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response {
            status,
            kind,
            policy: POLICY,
            body: body.into(),
        }
    }

    pub fn json(value: &serde_json::Value) -> Response {
        Response::new(200, JSON, value.to_string())
    }

    /// A problem for a program: `{"error": …}`.
    pub fn problem(status: u16, error: &str) -> Response {
        let body = serde_json::json!({ "error": error }).to_string();
        Response::new(status, JSON, body)
    }

    /// With another policy for its contents.
    pub fn under(self, policy: &'static str) -> Response {
        Response { policy, ..self }
    }

    pub fn send(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut head = head(self.status, self.kind, self.policy);
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()
    }
}

/// The beginning of an answer that goes on as long as somebody listens.
pub fn begin_stream(mut stream: &TcpStream) -> io::Result<()> {
    let head = head(200, "text/event-stream; charset=utf-8", POLICY) + "\r\n";
    stream.write_all(head.as_bytes())?;
    stream.flush()
}

fn head(status: u16, kind: &str, policy: &str) -> String {
    let reason = match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        503 => "Service Unavailable",
        _ => "Error",
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    )
}

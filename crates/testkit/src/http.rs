//! As much of HTTP/1.1 as the clients need: one request per connection, with
//! bounds, and answers at once or as a stream of events.

use std::io::{self, BufRead, BufReader, Read, Write};

const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: u64 = 64 * 1024 * 1024;

/// A request as it came.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    pub method: String,
    pub target: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Incoming {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub fn read<S>(stream: &S) -> io::Result<Incoming>
where
    for<'a> &'a S: Read + Write,
{
    let mut reader = BufReader::new(stream);
    let mut request = read_head(&mut reader)?;
    if request.header("expect").is_some() {
        (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = read_body(&mut reader, &request)?;
    Ok(request)
}

fn read_head(reader: &mut impl BufRead) -> io::Result<Incoming> {
    let mut head = reader.take(MAX_HEAD);
    let first = line(&mut head)?;
    let mut words = first.split(' ');
    let mut request = Incoming {
        method: words.next().unwrap_or_default().to_owned(),
        target: words.next().unwrap_or_default().to_owned(),
        ..Incoming::default()
    };
    if !request.target.starts_with('/') {
        return Err(bad("the request line names no path"));
    }
    loop {
        let line = line(&mut head)?;
        if line.is_empty() {
            return Ok(request);
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| bad("a header without a colon"))?;
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.push(header);
    }
}

/// A line without its end; the end of the input is an error.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(bad("the request ends early, or its head is too long"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| bad("the head is no text"))
}

fn read_body(reader: &mut impl BufRead, request: &Incoming) -> io::Result<Vec<u8>> {
    if request.header("transfer-encoding").is_some() {
        return read_chunks(reader);
    }
    let length = match request.header("content-length") {
        Some(length) => length.parse().map_err(|_| bad("no length"))?,
        None => 0,
    };
    let mut body = Vec::new();
    read_exactly(reader, length, &mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut reader.take(MAX_HEAD))?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("no chunk size"))?;
        read_exactly(reader, size, &mut body)?;
        line(&mut reader.take(MAX_HEAD))?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_exactly(reader: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if length > MAX_BODY.saturating_sub(body.len() as u64) {
        return Err(bad("the body is too long"));
    }
    let got = reader.take(length).read_to_end(body)?;
    if got as u64 == length {
        Ok(())
    } else {
        Err(bad("the body ends early"))
    }
}

/// An answer, before it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Break the connection off in the middle of the body, or of its last event.
    pub cut: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    Whole(String),
    Bytes(Vec<u8>),
    /// Events, each with the empty line that ends it.
    Events(Vec<String>),
}

pub fn write(stream: &mut impl Write, answer: &Outgoing) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", answer.status, phrase(answer.status));
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("Connection: close\r\n");
    match &answer.body {
        Body::Whole(text) => {
            head.push_str("Content-Type: application/json\r\n");
            head.push_str(&format!("Content-Length: {}\r\n\r\n", text.len()));
            let text = if answer.cut {
                half(text)
            } else {
                text.as_bytes()
            };
            stream.write_all(head.as_bytes())?;
            stream.write_all(text)?;
        }
        Body::Bytes(bytes) => {
            head.push_str(&format!("Content-Length: {}\r\n\r\n", bytes.len()));
            stream.write_all(head.as_bytes())?;
            stream.write_all(bytes)?;
        }
        Body::Events(events) => {
            head.push_str("Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n");
            head.push_str("Transfer-Encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes())?;
            write_events(stream, events, answer.cut)?;
        }
    }
    stream.flush()
}

/// A whole stream ends with an empty chunk; one that is cut does not.
fn write_events(stream: &mut impl Write, events: &[String], cut: bool) -> io::Result<()> {
    for (number, event) in events.iter().enumerate() {
        if cut && number + 1 == events.len() {
            return write_chunk(stream, half(event));
        }
        write_chunk(stream, event.as_bytes())?;
    }
    write_chunk(stream, b"")
}

fn write_chunk(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    write!(stream, "{:x}\r\n", bytes.len())?;
    stream.write_all(bytes)?;
    stream.write_all(b"\r\n")?;
    stream.flush()
}

fn half(text: &str) -> &[u8] {
    let bytes = text.as_bytes();
    &bytes[..bytes.len() / 2]
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Scripted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: Result<(&str, &str, &str), &str>) {
        let mut reader = io::Cursor::new(text.as_bytes());
        let got = read_head(&mut reader).and_then(|mut request| {
            request.body = read_body(&mut reader, &request)?;
            Ok(request)
        });
        let got = got.as_ref().map(|r| {
            let body = std::str::from_utf8(&r.body).unwrap();
            (r.method.as_str(), r.target.as_str(), body)
        });
        assert_eq!(
            got.map_err(ToString::to_string),
            want.map_err(str::to_owned),
            "{text}"
        );
    }

    #[test]
    fn requests_are_read_within_bounds() {
        check("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", Ok(("GET", "/a", "")));
        check(
            "POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd",
            Ok(("POST", "/b", "abc")),
        );
        check(
            "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n\r\n",
            Ok(("POST", "/c", "abc")),
        );
        let early = "the request ends early, or its head is too long";
        check("", Err(early));
        check("GET /a HTTP/1.1\r\nHost: x\r\n", Err(early));
        check(
            &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(70_000)),
            Err(early),
        );
        check(
            "GET a HTTP/1.1\r\n\r\n",
            Err("the request line names no path"),
        );
        check(
            "GET /a HTTP/1.1\r\nHost\r\n\r\n",
            Err("a header without a colon"),
        );
        check(
            "POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            Err("the body ends early"),
        );
        check(
            "POST /b HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            Err("no length"),
        );
        let huge = format!("POST /b HTTP/1.1\r\nContent-Length: {}\r\n\r\n", u64::MAX);
        check(&huge, Err("the body is too long"));
    }

    fn written(cut: bool) -> String {
        let mut bytes = Vec::new();
        let answer = Outgoing {
            status: 200,
            headers: vec![("X-A".into(), "b".into())],
            body: Body::Events(vec!["data: 1\n\n".into(), "data: 2\n\n".into()]),
            cut,
        };
        write(&mut bytes, &answer).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_stream_is_whole_or_cut_in_the_middle_of_an_event() {
        let whole = written(false);
        assert!(
            whole.starts_with("HTTP/1.1 200 OK\r\nX-A: b\r\n"),
            "{whole}"
        );
        assert!(
            whole.ends_with("9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"),
            "{whole}"
        );
        let cut = written(true);
        assert!(cut.ends_with("9\r\ndata: 1\n\n\r\n4\r\ndata\r\n"), "{cut}");
    }
}

//! What came in: for assertions, and as one JSON line per request.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::http::Incoming;

/// A request that the server answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    pub number: usize,
    pub method: String,
    /// With the query, without keys in it.
    pub path: String,
    /// Names in small letters; what opens doors is left out.
    pub headers: BTreeMap<String, String>,
    /// JSON as such, anything else as a text.
    pub body: Value,
    /// The lane that answered, or empty where no model was asked.
    pub lane: String,
    /// What was answered, in a word or two.
    pub answer: String,
}

const SECRETS: [&str; 5] = [
    "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key",
];
const LEFT_OUT: &str = "[left out]";

impl Request {
    pub fn new(number: usize, incoming: &Incoming) -> Request {
        let text = String::from_utf8_lossy(&incoming.body);
        let header = |(name, value): &(String, String)| {
            let shown = if SECRETS.contains(&name.as_str()) {
                LEFT_OUT
            } else {
                value
            };
            (name.clone(), shown.to_owned())
        };
        Request {
            number,
            method: incoming.method.clone(),
            path: without_keys(&incoming.target),
            headers: incoming.headers.iter().map(header).collect(),
            body: serde_json::from_str(&text).unwrap_or_else(|_| text.into_owned().into()),
            lane: String::new(),
            answer: String::new(),
        }
    }

    pub fn write(&self, log: &mut File) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        log.write_all(&line)
    }

    /// The names of the tools that the model was offered.
    pub fn tools(&self) -> Vec<String> {
        crate::api::tools(&self.body)
    }
}

fn without_keys(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else {
        return target.to_owned();
    };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some(("key", _)) => format!("key={LEFT_OUT}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", shown.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_left_out() {
        let incoming = Incoming {
            method: "POST".into(),
            target: "/v1/x?alt=sse&key=secret".into(),
            headers: vec![
                ("x-api-key".into(), "secret".into()),
                ("authorization".into(), "Bearer secret".into()),
                ("accept".into(), "*/*".into()),
            ],
            body: b"{\"a\":1}".into(),
        };
        let request = Request::new(1, &incoming);
        let line = serde_json::to_string(&request).unwrap();
        assert!(!line.contains("secret"), "{line}");
        assert_eq!(request.path, "/v1/x?alt=sse&key=[left out]");
        assert_eq!(request.headers["accept"], "*/*");
        assert_eq!(request.body["a"], 1);
    }
}

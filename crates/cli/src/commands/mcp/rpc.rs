//! JSON-RPC over lines: as much of it as the protocol needs.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// Nothing that an assistant asks is longer.
const LONGEST_LINE: u64 = 4 * 1024 * 1024;
/// Calls that are answered at the same time.
const MOST_CALLS: usize = 16;

pub struct Asked {
    pub method: String,
    pub params: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcError {
    NotJson,
    NoRequest,
    NoMethod,
    BadParams,
}

impl RpcError {
    fn json(self) -> Value {
        let (code, message) = match self {
            RpcError::NotJson => (-32700, "this is no JSON"),
            RpcError::NoRequest => (-32600, "this is no request"),
            RpcError::NoMethod => (-32601, "there is no such method"),
            RpcError::BadParams => (-32602, "these are no parameters of this method"),
        };
        json!({ "code": code, "message": message })
    }
}

/// Answers line by line until nobody asks any more. What takes its time holds
/// up nobody else; a notification has no answer.
pub fn serve(
    mut input: impl BufRead,
    output: impl Write + Send,
    answer: impl Fn(&Asked) -> Result<Value, RpcError> + Sync,
) -> io::Result<()> {
    let output = Mutex::new(output);
    let tell = |id: &Value, said: Result<Value, RpcError>| -> io::Result<()> {
        let line = match said {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.json() }),
        };
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(output, "{line}")?;
        output.flush()
    };
    let (answer, tell) = (&answer, &tell);
    thread::scope(|scope| {
        let mut calls = Vec::new();
        while let Some(line) = next_line(&mut input)? {
            let (id, asked) = match read(&line) {
                Ok(Some(request)) => request,
                Ok(None) => continue,
                Err((id, error)) => {
                    tell(&id, Err(error))?;
                    continue;
                }
            };
            calls.retain(|call: &thread::ScopedJoinHandle<'_, _>| !call.is_finished());
            if asked.method != "tools/call" || calls.len() >= MOST_CALLS {
                tell(&id, answer(&asked))?;
                continue;
            }
            calls.push(scope.spawn(move || tell(&id, answer(&asked))));
        }
        Ok(())
    })
}

fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)?;
    if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        // The rest of it is no other request.
        input.skip_until(b'\n')?;
    }
    Ok(Some(line).filter(|line| !line.is_empty()))
}

type Request = Option<(Value, Asked)>;

/// `None` for what wants no answer: a notification, an answer to nothing that
/// was asked, an empty line.
fn read(line: &[u8]) -> Result<Request, (Value, RpcError)> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let message = serde_json::from_slice(line);
    let mut message: Value = message.map_err(|_| (Value::Null, RpcError::NotJson))?;
    let mut take = |key: &str| message.get_mut(key).map(Value::take).unwrap_or_default();
    let (id, method, params) = (take("id"), take("method"), take("params"));
    match method {
        Value::String(_) if id.is_null() => Ok(None),
        Value::String(method) => Ok(Some((id, Asked { method, params }))),
        _ if message.get("result").is_some() || message.get("error").is_some() => Ok(None),
        _ => Err((id, RpcError::NoRequest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, want: &[Value]) {
        let mut heard = Vec::new();
        serve(said.as_bytes(), &mut heard, |asked| match &*asked.method {
            "echo" => Ok(asked.params.clone()),
            _ => Err(RpcError::NoMethod),
        })
        .unwrap();
        let lines = heard.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let heard: Vec<Value> = lines.map(|l| serde_json::from_slice(l).unwrap()).collect();
        assert_eq!(heard, want, "{said}");
    }

    #[test]
    fn each_request_has_one_answer_and_nothing_else_has_one() {
        let error = |code: i32, id: Value| move |message: &str| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
        check("", &[]);
        check("\n \n", &[]);
        let echo = r#"{"jsonrpc":"2.0","id":"a","method":"echo","params":{"x":1}}"#;
        let answer = json!({"jsonrpc": "2.0", "id": "a", "result": {"x": 1}});
        check(echo, std::slice::from_ref(&answer));
        check(&format!("{echo}\r\n{echo}\n"), &[answer.clone(), answer]);
        check(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            &[],
        );
        check(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, &[]);
        let unknown = r#"{"jsonrpc":"2.0","id":0,"method":"resources/list"}"#;
        check(
            unknown,
            &[error(-32601, json!(0))("there is no such method")],
        );
        check(
            "{nonsense",
            &[error(-32700, Value::Null)("this is no JSON")],
        );
        let long = format!("\"{}{echo}\n", " ".repeat(LONGEST_LINE as usize));
        check(&long, &[error(-32700, Value::Null)("this is no JSON")]);
        for strange in ["[]", "7", "{}", r#"{"method":7}"#] {
            check(strange, &[error(-32600, Value::Null)("this is no request")]);
        }
    }
}

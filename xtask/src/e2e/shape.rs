//! What a client's protocol looks like from outside, so that two versions can
//! be compared: what it asks for, which tools it offers, what it prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ralph_testkit::Request;
use serde_json::Value;

/// One line per thing that is there.
pub type Shape = BTreeSet<String>;

pub fn of(requests: &[Request], runs: &Path) -> Shape {
    let mut shape = Shape::new();
    for request in requests {
        let path = request.path.split('?').next().unwrap_or_default();
        shape.insert(format!("request {} {path}", request.method));
        shape.extend(request.tools().iter().map(|tool| format!("tool {tool}")));
    }
    for output in outputs(runs) {
        output.lines().for_each(|line| add_line(line, &mut shape));
    }
    shape
}

/// What the agent printed in each turn.
fn outputs(runs: &Path) -> Vec<String> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let runs = entries(runs);
    let files = runs.flat_map(|run| entries(&run.path()).collect::<Vec<_>>());
    let files = files.map(|entry| entry.path());
    let outputs = files.filter(|path| path.extension().is_some_and(|e| e == "out"));
    outputs
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect()
}

/// A stream line by its type and the names of its fields.
fn add_line(line: &str, shape: &mut Shape) {
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return;
    };
    let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = [word("type"), word("subtype")].join("/");
    let kind = kind.trim_end_matches('/');
    shape.extend(fields.keys().map(|name| format!("stream {kind}: {name}")));
}

/// What the second has and the first has not, and the other way round.
pub fn differences(before: &Shape, after: &Shape) -> Vec<String> {
    let gone = before.difference(after).map(|line| format!("- {line}"));
    let new = after.difference(before).map(|line| format!("+ {line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(lines: &[&str]) -> Shape {
        let mut shape = Shape::new();
        lines.iter().for_each(|line| add_line(line, &mut shape));
        shape
    }

    #[test]
    fn versions_differ_by_what_they_print() {
        let before = shape(&[r#"{"type":"result","subtype":"success","cost":1}"#, "words"]);
        let after = shape(&[r#"{"type":"result","subtype":"success","price":2}"#]);
        assert_eq!(
            differences(&before, &after),
            [
                "- stream result/success: cost",
                "+ stream result/success: price"
            ]
        );
        assert!(differences(&before, &before).is_empty());
    }
}

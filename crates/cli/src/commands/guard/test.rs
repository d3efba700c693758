//! `ralph guard test` and `ralph guard explain`.

use std::collections::HashMap;
use std::io::{BufRead, BufWriter, Read, Write};
use std::path::Path;

use ralph_core::config::GuardSettings;
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_guard::{Decision, Explanation, ToolCall, Verdict};
use serde_json::{Value, json};

use super::load;
use crate::BLOCKED;
use crate::app::{App, Exit};
use crate::args::{GuardCallArgs, GuardTestArgs};
use crate::guard::{Place, project};

/// A longer line of a batch is no call.
const MAX_LINE: u64 = 8 * 1024 * 1024;

pub fn test(app: &App, args: &GuardTestArgs) -> Exit {
    let (place, loaded) = load(app)?;
    if args.batch {
        return batch(app, &place, &loaded.settings);
    }
    let text = args.text.as_deref().unwrap_or_default();
    let (tool, input) = call(app, args.tool.as_deref(), text)?;
    let verdict = explained(&place, &loaded.settings, &tool, &input, &here(&place)).verdict;
    let lang = app.lang();
    if args.json {
        app.json(&to_json(&verdict, lang));
    } else if verdict.rule.is_none() {
        app.tell(&tr!(lang, "allowed"));
    } else if verdict.decision == Decision::Allow {
        app.tell(&verdict.say(lang).replacen("BLOCKED", "WARNING", 1));
    } else {
        app.tell(&verdict.say(lang));
    }
    exit_code(&verdict)
}

pub fn explain(app: &App, args: &GuardCallArgs, json: bool) -> Exit {
    let (place, loaded) = load(app)?;
    let (tool, input) = call(app, args.tool.as_deref(), &args.text)?;
    let explanation = explained(&place, &loaded.settings, &tool, &input, &here(&place));
    app.answer(
        json,
        || explanation_json(&explanation, app.lang()),
        || in_words(&explanation, &tool, app.lang()),
    )?;
    exit_code(&explanation.verdict)
}

/// One verdict per line; each line says for itself what was blocked.
fn batch(app: &App, place: &Place, settings: &GuardSettings) -> Exit {
    let lang = app.lang();
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut input = std::io::stdin().lock();
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => break,
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
            Err(error) => {
                return app.refuse(&error.to_string());
            }
        }
        let answer = match serde_json::from_slice::<Value>(&line) {
            Ok(call) => judge_line(place, &mut places, settings, &call, lang),
            Err(error) => broken_line(&error.to_string()),
        };
        if writeln!(out, "{answer}").is_err() {
            return Ok(0);
        }
    }
    let _ = out.flush();
    Ok(0)
}

fn broken_line(why: &str) -> Value {
    json!({"verdict": Decision::Block.name(), "rule": "guard.failure", "reason": why, "hint": ""})
}

fn judge_line(
    place: &Place,
    places: &mut HashMap<String, Place>,
    settings: &GuardSettings,
    call: &Value,
    lang: Lang,
) -> Value {
    let tool = call.get("tool").and_then(Value::as_str).unwrap_or("Bash");
    let Some(input) = call.get("input") else {
        return broken_line("no input");
    };
    let cwd = call.get("cwd").and_then(Value::as_str);
    let cwd = cwd.filter(|cwd| cwd.starts_with('/'));
    let (place, cwd) = match cwd {
        None => (place, here(place)),
        Some(cwd) if project::holds(Path::new(&place.project), Path::new(cwd)) => {
            (place, cwd.to_owned())
        }
        // Another project than ours.
        Some(cwd) => {
            if !places.contains_key(cwd) {
                let root = project::root_above(Path::new(cwd));
                places.insert(cwd.to_owned(), Place::new(&root));
            }
            let real = project::real(Path::new(cwd));
            let place = places.get(cwd).unwrap_or(place);
            (place, real.to_string_lossy().into_owned())
        }
    };
    let shell_text;
    let input = match input {
        // A bare command is as good as an object.
        Value::String(text) if tool == "Bash" => {
            shell_text = json!({ "command": text });
            &shell_text
        }
        input => input,
    };
    let verdict = explained(place, settings, tool, input, &cwd).verdict;
    to_json(&verdict, lang)
}

fn explained(
    place: &Place,
    settings: &GuardSettings,
    tool: &str,
    input: &Value,
    cwd: &str,
) -> Explanation {
    let call = ToolCall { tool, input, cwd };
    ralph_guard::explain(&call, &place.context(settings))
}

/// Where we stand, if that is in the project; else its root.
fn here(place: &Place) -> String {
    let here = std::env::current_dir().map(|dir| project::real(&dir));
    match here {
        Ok(dir) if dir.starts_with(&place.project) => dir.to_string_lossy().into_owned(),
        _ => place.project.clone(),
    }
}

/// The tool and its input, from what was typed.
fn call(app: &App, tool: Option<&str>, text: &str) -> Result<(String, Value), u8> {
    let Some(tool) = tool else {
        return Ok(("Bash".to_owned(), json!({ "command": text })));
    };
    match serde_json::from_str(text) {
        Ok(input) => Ok((tool.to_owned(), input)),
        Err(error) => {
            let lang = app.lang();
            app.refuse(&tr!(
                lang,
                "the input of {tool} is no JSON: {error}; write for example '{{\"url\":\"…\"}}'"
            ))
        }
    }
}

fn exit_code(verdict: &Verdict) -> Exit {
    match verdict.decision {
        Decision::Allow => Ok(0),
        Decision::Ask | Decision::Block => Err(BLOCKED),
    }
}

pub fn to_json(verdict: &Verdict, lang: Lang) -> Value {
    json!({
        "verdict": verdict.decision.name(),
        "rule": verdict.rule,
        "reason": verdict.reason(lang),
        "hint": verdict.hint(lang),
    })
}

fn explanation_json(explanation: &Explanation, lang: Lang) -> Value {
    let trace = &explanation.trace;
    let path = |(action, written, resolved): &(&str, String, String)| json!({"action": action, "path": written, "resolved": resolved});
    let matched = |(rule, detail): &(String, String)| json!({"rule": rule, "detail": detail});
    let mut value = to_json(&explanation.verdict, lang);
    value["commands"] = json!(trace.commands);
    value["unwrapped"] = json!(trace.unwrapped);
    value["paths"] = trace.paths.iter().map(path).collect();
    value["urls"] = json!(trace.urls);
    value["matched"] = explanation.matched.iter().map(matched).collect();
    value
}

fn in_words(explanation: &Explanation, tool: &str, lang: Lang) -> String {
    let trace = &explanation.trace;
    let paths = trace.paths.iter().map(|(action, written, resolved)| {
        if written == resolved {
            format!("{action} {written}")
        } else {
            format!("{action} {written} → {resolved}")
        }
    });
    let matched = explanation
        .matched
        .iter()
        .map(|(rule, detail)| format!("[{rule}] {detail}"));
    let tried = ralph_guard::built_in_rules().count();
    let mut text = tr!(lang, "Tool: {tool}");
    let sections: [(String, Vec<String>); 5] = [
        (tr!(lang, "Commands found"), trace.commands.clone()),
        (tr!(lang, "Looked into"), trace.unwrapped.clone()),
        (tr!(lang, "Paths"), paths.collect()),
        (tr!(lang, "URLs"), trace.urls.clone()),
        (
            tr!(lang, "Rules that match (of {tried} built-in ones)"),
            matched.collect(),
        ),
    ];
    for (title, lines) in sections {
        if lines.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{title}:"));
        for line in lines {
            text.push_str(&format!("\n  {line}"));
        }
    }
    text.push('\n');
    let verdict = &explanation.verdict;
    text.push_str(&match verdict.rule {
        Some(_) => verdict.say(lang),
        None => tr!(lang, "allowed"),
    });
    text
}

//! `ralph flow`: the flows that tasks and runs can go through.

use std::path::Path;

use ralph_core::flow::{self, Flow, FlowError, Origin, PROJECT_FLOWS, Scope, Step};
use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::flows::{self, Listed, NoFlow};
use serde_json::{Value, json};

use crate::FAILED;
use crate::app::{App, Exit};
use crate::args::{FlowArgs, FlowVerb};

pub fn run(app: &App, args: &FlowArgs) -> Exit {
    match &args.verb {
        None => list(app, args.json),
        Some(FlowVerb::List { json }) => list(app, *json),
        Some(FlowVerb::Show { name, file, json }) => show(app, name, *file, *json),
        Some(FlowVerb::Check { file }) => check(app, file.as_deref()),
    }
}

fn list(app: &App, json: bool) -> Exit {
    let listed = flows::all(&app.root);
    if json {
        let all: Vec<Value> = listed.iter().map(entry).collect();
        app.json(&Value::from(all));
        return Ok(0);
    }
    for one in &listed {
        let origin = origin(app, &one.origin);
        let name = &one.name;
        let about = match &one.flow {
            Ok(flow) => format!(
                "{:<4}  {}",
                flow.scope.into_str(),
                flow.about.say(app.lang())
            ),
            Err(_) => tr!(app.lang(), "broken: `ralph flow check` says why"),
        };
        app.tell(&format!("{name:<12} {origin:<10} {about}"));
    }
    Ok(0)
}

fn origin(app: &App, origin: &Origin) -> String {
    match origin {
        Origin::BuiltIn => tr!(app.lang(), "built in"),
        Origin::File(file) => file.clone(),
    }
}

fn entry(listed: &Listed) -> Value {
    let file = match &listed.origin {
        Origin::BuiltIn => None,
        Origin::File(file) => Some(file),
    };
    let flow = listed.flow.as_ref().ok();
    json!({
        "name": listed.name,
        "built_in": file.is_none(),
        "file": file,
        "scope": flow.map(|flow| flow.scope.into_str()),
        "about": flow.map(|flow| flow.about.en.as_str()),
        "valid": flow.is_some(),
    })
}

fn show(app: &App, name: &str, file: bool, json: bool) -> Exit {
    let listed = flows::all(&app.root);
    let known = listed.iter().map(|one| one.name.clone()).collect();
    let Some(one) = listed.iter().find(|one| one.name == name) else {
        let name = name.to_owned();
        return app.fail(&NoFlow::Unknown { name, known });
    };
    if file {
        return print_file(app, one);
    }
    let flow = match &one.flow {
        Ok(flow) => flow,
        Err(errors) => return complain(app, errors),
    };
    if json {
        app.json(&serde_json::to_value(flow).unwrap_or_default());
    } else {
        app.tell(&described(app, flow));
    }
    Ok(0)
}

fn print_file(app: &App, one: &Listed) -> Exit {
    match &one.origin {
        Origin::BuiltIn => {
            let text = flow::BUILT_IN.iter().find(|(name, _)| *name == one.name);
            app.print(text.map_or("", |(_, text)| text));
            Ok(0)
        }
        Origin::File(file) => match ralph_store::regular::read_to_string(app.root.join(file)) {
            Ok(text) => {
                app.print(&text);
                Ok(0)
            }
            Err(error) => app.refuse(&format!("{file}: {error}")),
        },
    }
}

fn described(app: &App, flow: &Flow) -> String {
    let (name, scope) = (&flow.name, flow.scope.into_str());
    let mut out = format!("{name} ({scope}): {}\n", flow.about.say(app.lang()));
    for step in &flow.steps {
        out.push_str(&step_lines(app, flow, step));
    }
    for (risk, variant) in &flow.risk {
        let steps = variant.skip.join(", ");
        let skip = match steps.is_empty() {
            true => steps,
            false => tr!(app.lang(), "without {steps}"),
        };
        let limits: Vec<String> = variant
            .limit
            .iter()
            .map(|(answer, limit)| format!("{} {limit}", answer.into_str()))
            .collect();
        let raise = variant.raise.map(|risk| format!(" → {}", risk.into_str()));
        let parts = [skip, limits.join(", ") + &raise.unwrap_or_default()];
        let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        out.push_str(&format!("  {:<8} {}\n", risk.into_str(), parts.join("; ")));
    }
    out
}

fn step_lines(app: &App, flow: &Flow, step: &Step) -> String {
    let title = step.title.say(app.lang());
    let role = step.role.to_uppercase();
    let mut head = format!("  {} ({role})", step.id);
    if flow.scope == Scope::Run && !title.is_empty() {
        head.push_str(&format!(" {title}"));
    }
    if let Some(output) = &step.output {
        head.push_str(&format!(" → {output}"));
    }
    if let Some(percent) = step.percent {
        head.push_str(&format!(" {percent}%"));
    }
    let answers: Vec<String> = step
        .on
        .iter()
        .map(|(answer, target)| {
            let limit = step.limit.get(answer).filter(|limit| **limit > 0);
            let limit = limit.map_or_else(String::new, |limit| format!(" (≤ {limit})"));
            format!("{} → {target}{limit}", answer.into_str())
        })
        .collect();
    format!("{head}\n      {}\n", answers.join(", "))
}

fn check(app: &App, file: Option<&Path>) -> Exit {
    if let Some(path) = file {
        return match flows::read_file(path) {
            Ok(_) => sound(app, 1),
            Err(errors) => complain(app, &errors),
        };
    }
    let own: Vec<Listed> = flows::all(&app.root)
        .into_iter()
        .filter(|one| one.origin != Origin::BuiltIn)
        .collect();
    let errors: Vec<FlowError> = own
        .iter()
        .filter_map(|one| one.flow.as_ref().err())
        .flatten()
        .cloned()
        .collect();
    if errors.is_empty() {
        sound(app, own.len())
    } else {
        complain(app, &errors)
    }
}

fn sound(app: &App, count: usize) -> Exit {
    app.done(&match count {
        0 => tr!(app.lang(), "there are no flows in {PROJECT_FLOWS}; `ralph flow show drt --file` prints one to start from"),
        1 => tr!(app.lang(), "1 flow is in order"),
        count => tr!(app.lang(), "{count} flows are in order"),
    })
}

fn complain(app: &App, errors: &[FlowError]) -> Exit {
    for error in errors {
        app.warn(&error.say(app.lang()));
    }
    Err(FAILED)
}

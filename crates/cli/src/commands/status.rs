//! `ralph status`: where the loop stands, from the files that it writes.

use std::io::{self, ErrorKind};
use std::path::Path;

use ralph_core::display::{self, Progress, UsageView};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Need;
use ralph_core::report::outcome_word;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_core::usage::Usd;
use ralph_store::layout::Layout;
use ralph_store::lock::holder;
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::StatusArgs;

pub fn run(app: &App, args: &StatusArgs) -> Exit {
    let lang = app.lang();
    let layout = Layout::new(&app.root);
    let path = layout.status();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            return app.refuse(&unread(&path, &error, lang));
        }
    };
    let mut status: Value = match serde_json::from_str(&text) {
        Ok(status) => status,
        Err(error) => {
            let path = path.display();
            return app.refuse(&tr!(lang, "{path} is damaged ({error}); delete it, the next run writes it anew, and `ralph events` shows everything that happened"));
        }
    };
    let holder = holder(&layout.lock()).ok().flatten();
    // A process that died could not say so itself.
    // One in a session has none between two hooks.
    let in_session = status["session"].is_object();
    if status["status"] == "running" && holder.is_none() && !in_session {
        status["status"] = json!("dead");
    }
    status["pid"] = holder.as_ref().map_or(Value::Null, |h| json!(h.pid));
    app.answer(args.json, || status.clone(), || words(app, &status))
}

fn unread(path: &Path, error: &io::Error, lang: Lang) -> String {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => tr!(
            lang,
            "no loop has run here yet ({path} is not there); start one with `ralph run`"
        ),
        _ => tr!(
            lang,
            "{path} can't be read ({error}); move away what stands there, `ralph events` shows everything that happened"
        ),
    }
}

/// The `status` of `status.json` in words (STAT-03).
fn state_words(state: &str, lang: Lang) -> String {
    match state {
        "running" => tr!(lang, "running"),
        "circuit_break" => tr!(lang, "circuit breaker open"),
        "max_iterations" => tr!(lang, "stopped at the iteration limit"),
        "error" => tr!(lang, "stopped by errors"),
        "dead" => tr!(lang, "dead (its process is gone)"),
        other => outcome_word(lang, other),
    }
}

/// The machine's own reasons in words; what an agent said stays as it is.
fn reason_words(reason: &str, lang: Lang) -> String {
    match reason {
        "max_iterations" => tr!(lang, "iteration limit"),
        "max_duration" => tr!(lang, "time limit"),
        "requested" => tr!(lang, "asked for"),
        "unproven" => tr!(lang, "done, says the agent; not proven"),
        "disk" => tr!(
            lang,
            "the disk took no more; make room, then `ralph resume`"
        ),
        "spend_limit" => Need::Spend.say(lang),
        "admin_limit" => Need::Admin.say(lang),
        "login" => Need::Login.say(lang),
        "plan" => Need::Plan.say(lang),
        "max_wait" => Need::LongWait.say(lang),
        "block_cap" => Need::BlockCap.say(lang),
        "max_cost" => tr!(lang, "cost limit"),
        "max_tokens" => tr!(lang, "token limit"),
        "question" => tr!(lang, "a question waits for an answer: `ralph answer`"),
        "stalled" => tr!(lang, "no progress"),
        "missing_promise" => tr!(lang, "no promise in the answers"),
        "same_error" => tr!(lang, "the same error again and again"),
        "false_promise" => tr!(lang, "false promises"),
        words => words.to_owned(),
    }
}

fn usage(usage: &Value) -> UsageView {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let partial = count("partial_calls") > 0;
    UsageView {
        calls: u32::try_from(count("calls")).unwrap_or(u32::MAX),
        cost: usage["cost_usd"].as_f64().and_then(Usd::from_dollars),
        tokens: usage["tokens"].as_u64(),
        more_cost: partial || count("unpriced_calls") > 0,
        more_tokens: partial || count("uncounted_calls") > 0,
    }
}

fn words(app: &App, status: &Value) -> String {
    let lang = app.lang();
    let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
    let tasks = &status["tasks"];
    let state = state_words(&text("status"), lang);
    let (run, time) = (text("run_id"), text("timestamp"));
    let iteration = number(&status["iteration"]);
    let max = match number(&status["max_iterations"]) {
        0 => "∞".to_owned(),
        n => n.to_string(),
    };
    let mut out = tr!(
        lang,
        "{state} · run {run} · iteration {iteration} / {max} · {time}\n"
    );
    let total = number(&tasks["total"]);
    if total > 0 {
        let progress = Progress {
            done: number(&tasks["completed"]),
            total,
        };
        let (done, bar) = (progress.done, display::bar(&app.screen, progress.percent()));
        let path = text("tasks_file");
        let below = Path::new(&path).strip_prefix(&app.root);
        let file = below.unwrap_or(Path::new(&path)).display();
        let tasks_en = plural(total, "task", "tasks");
        out.push_str(&tr!(lang, "{done}/{total} {tasks_en} · {file}\n{bar}\n"));
    }
    for (key, label) in [
        ("phase", tr!(lang, "phase")),
        ("last_promise", tr!(lang, "last promise")),
        ("reason", tr!(lang, "reason")),
    ] {
        let value = match (key, text(key)) {
            // The state says it already.
            ("reason", reason) if reason == text("status") => String::new(),
            ("reason", reason) => reason_words(&reason, lang),
            // A mark of the breaker, which no agent said (BRKR-05).
            ("last_promise", promise) if promise == "NO_PROGRESS" => String::new(),
            (_, value) => value,
        };
        if !value.is_empty() {
            out.push_str(&format!("{label}: {value}\n"));
        }
    }
    if let Some(until) = status["waiting_until"].as_str() {
        out.push_str(&tr!(lang, "sleeping until {until}; wake: `ralph wake`\n"));
    }
    for question in status["questions"].as_array().into_iter().flatten() {
        let id = number(&question["id"]);
        let words = question["question"].as_str().unwrap_or_default();
        out.push_str(&tr!(
            lang,
            "question {id}: {words}; answer: `ralph answer {id} …`\n"
        ));
    }
    let used = usage(&status["usage"]);
    if used.calls > 0 {
        out.push_str(&format!("{}\n", used.line(lang)));
    }
    if let Some(pid) = status["pid"].as_u64() {
        out.push_str(&tr!(lang, "process: {pid}\n"));
    }
    out
}

//! What a hook leaves behind: a count for every call, a line for every block.
//! Neither may fail a call.

use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::config::GuardFailure;
use ralph_core::machine::iso_utc;
use ralph_core::text;
use ralph_engine::session::index;
use ralph_engine::wall;
use ralph_store::guard_log::Report;
use ralph_store::layout::{RunId, RunPaths};
use serde_json::{Value, json};

use super::{Call, Client, FAILURE, Judged};

/// A name from outside that is longer is no tool's.
const MAX_NAME: usize = 120;
const MAX_DETAIL: usize = 500;

/// The run that this hook belongs to.
fn run_of(call: &Call) -> Option<RunPaths> {
    let layout = call.layout.as_ref()?;
    let run = std::env::var("RALPH_RUN_ID").ok();
    Some(layout.run(&RunId::parse(&run?)?))
}

/// The same, or the run whose session made the call: what was blocked there
/// is told by its next hook (EVNT-04).
fn run_or_session_of(call: &Call) -> Option<RunPaths> {
    let layout = call.layout.as_ref()?;
    let of_session = || {
        // One that waits for any session belongs to none yet.
        let session = Some(&call.payload?.session).filter(|id| !id.is_empty())?;
        Some(layout.run(&index::find(layout, session)?))
    };
    run_of(call).or_else(of_session)
}

/// Writes it down, or tells the run, where a wall stands between.
fn leave(call: &Call, report: &Report) {
    if wall::is_around_us() {
        let _ = wall::tell(report);
        return;
    }
    let run = match report {
        // Most calls are only counted: they pay for no look at sessions.
        Report::Judged { line: Some(_), .. } => run_or_session_of(call),
        _ => run_of(call),
    };
    if let Some(layout) = &call.layout {
        report.keep(layout, run.as_ref());
    }
}

/// Notes that the guard was asked. Whoever reads the client's stream takes a
/// tool that ran without this for one that ran unguarded, so it comes before
/// the answer. Where there is no such run, there is no folder for it either.
pub(super) fn asked(call: &Call) {
    if let Some(payload) = call.payload {
        let (tool, id) = (payload.tool.clone(), payload.id.clone());
        leave(call, &Report::Asked { tool, id });
    }
}

pub(super) fn record(call: &Call, judged: &Judged, host: Client) {
    let tool = call.payload.map_or("unknown", |payload| &payload.tool);
    let tool: String = tool
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME)
        .collect();
    let is_silent = !judged.blocks() && !matches!(judged.failure, Some((GuardFailure::Open, _)));
    let line = (!is_silent).then(|| line(judged, &tool, host));
    let report = Report::Judged {
        tool,
        id: call.payload.and_then(|payload| payload.id.clone()),
        blocked: judged.blocks(),
        line,
    };
    leave(call, &report);
}

fn line(judged: &Judged, tool: &str, host: Client) -> Value {
    let (rule, detail) = match &judged.failure {
        Some((_, why)) => (FAILURE, why.as_str()),
        None => (
            judged.verdict.rule.as_deref().unwrap_or_default(),
            judged.verdict.detail.as_str(),
        ),
    };
    let detail: String = text::redact(detail).chars().take(MAX_DETAIL).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0));
    json!({
        "ts": iso_utc(now),
        "host": host.into_str(),
        "tool": tool,
        "rule": rule,
        "detail": detail,
        "shadow": judged.shadow,
    })
}

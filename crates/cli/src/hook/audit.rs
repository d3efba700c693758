//! What a hook leaves behind: a count for every call, a line for every block.
//! Neither may fail a call.

use std::time::{SystemTime, UNIX_EPOCH};

use ralph_core::config::GuardFailure;
use ralph_core::machine::iso_utc;
use ralph_core::text;
use ralph_store::layout::{RunId, RunPaths};
use ralph_store::{guard_log, stats};
use serde_json::json;

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

/// Notes that the guard was asked. Whoever reads the client's stream takes a
/// tool that ran without this for one that ran unguarded, so it comes before
/// the answer. Where there is no such run, there is no folder for it either.
pub(super) fn asked(call: &Call) {
    if let (Some(run), Some(payload)) = (run_of(call), call.payload) {
        let _ = guard_log::asked(&run.asked(), &payload.tool, payload.id.as_deref());
    }
}

pub(super) fn record(call: &Call, judged: &Judged, host: Client) {
    let Some(layout) = &call.layout else { return };
    // A folder that leads elsewhere is not ours to write into (S-07).
    if layout.refuse_links(&layout.safety_stats()).is_err()
        || (!layout.ralph_dir().is_dir() && layout.prepare().is_err())
    {
        return;
    }
    let tool = call.payload.map_or("unknown", |payload| &payload.tool);
    let tool: String = tool
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME)
        .collect();
    let decision = if judged.blocks() {
        stats::Decision::Blocked
    } else {
        stats::Decision::Allowed
    };
    let id = call.payload.and_then(|payload| payload.id.as_deref());
    if let Ok(false) = stats::count(&layout.safety_stats(), &tool, decision, id) {
        return;
    }
    let (rule, detail) = match &judged.failure {
        Some((_, why)) => (FAILURE, why.as_str()),
        None => (
            judged.verdict.rule.as_deref().unwrap_or_default(),
            judged.verdict.detail.as_str(),
        ),
    };
    let is_silent = !judged.blocks() && !matches!(judged.failure, Some((GuardFailure::Open, _)));
    if is_silent {
        return;
    }
    let Some(run) = run_of(call).filter(|run| run.dir.is_dir()) else {
        return;
    };
    let detail: String = text::redact(detail).chars().take(MAX_DETAIL).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0));
    let line = json!({
        "ts": iso_utc(now),
        "host": host.into_str(),
        "tool": tool,
        "rule": rule,
        "detail": detail,
        "shadow": judged.shadow,
    });
    let _ = guard_log::append(&run.guard_log(), &line);
}

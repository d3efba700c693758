//! What the guard's hook blocked while a turn ran, from its log into the
//! journal. A log that can't be read stops nothing: the calls were blocked
//! all the same.

use std::path::Path;

use ralph_core::machine::{GuardBlock, Kind};
use ralph_core::text;
use ralph_store::guard_log;
use serde_json::Value;

/// The event for the lines behind the first `known` ones, if there are any.
pub fn blocked_since(log: &Path, known: u64) -> Option<Kind> {
    let lines = guard_log::read(log, known).unwrap_or_default();
    if lines.is_empty() {
        return None;
    }
    Some(Kind::GuardBlocked {
        lines: lines.len() as u64,
        blocks: lines.into_iter().filter_map(block).collect(),
    })
}

/// The hook redacts what it writes; but the file is data like any other.
fn block(line: Value) -> Option<GuardBlock> {
    let mut block: GuardBlock = serde_json::from_value(line).ok()?;
    for field in [&mut block.tool, &mut block.rule, &mut block.detail] {
        let clean = text::redact(field).into_owned();
        *field = clean
            .chars()
            .filter(|c| !c.is_control())
            .take(500)
            .collect();
    }
    Some(block)
}

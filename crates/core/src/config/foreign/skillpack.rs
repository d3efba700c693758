//! `.skillpackrc`: JSON, in the short shape with only `loop` and in the long
//! one with a section for every part of that tool.

use serde_json::{Map, Value as Json};
use toml::Value;

use super::{ForeignKey, Import};
use crate::config::warning::{ConfigWarning, SkillpackRule};
use crate::config::words::Found;

/// What becomes of a key that this product uses.
#[derive(Clone, Copy)]
enum Becomes {
    Same,
    Minutes,
}

/// The keys that are used: theirs, ours, and how the value changes.
const USED: [(&str, &str, Becomes); 8] = [
    (
        "loop.max_iterations",
        "limits.max_iterations",
        Becomes::Same,
    ),
    ("loop.warning_threshold", "limits.warn_at", Becomes::Same),
    (
        "loop.auto_checkpoint_interval",
        "checkpoint.interval",
        Becomes::Same,
    ),
    (
        "loop.timeout_per_iteration_minutes",
        "limits.iteration_timeout",
        Becomes::Minutes,
    ),
    (
        "checkpoint.backup_count",
        "checkpoint.backups",
        Becomes::Same,
    ),
    ("checkpoint.max_history", "history.keep", Becomes::Same),
    ("output.current_dir", "checkpoint.dir", Becomes::Same),
    ("output.history_dir", "history.dir", Becomes::Same),
];

/// Keys of the sections above that belong to that tool alone.
const THEIRS: [&str; 3] = [
    "checkpoint.auto_save",
    "checkpoint.atomic_writes",
    "checkpoint.save_interval_minutes",
];

/// Sections that belong to that tool alone; what is in them is not looked at.
const THEIR_SECTIONS: [&str; 16] = [
    "version",
    "knowledge",
    "routing",
    "logging",
    "recovery",
    "cross_validation",
    "mcp",
    "cli",
    "parallel",
    "adapter",
    "smart_routing",
    "tool_discovery",
    "branch",
    "skill_system",
    "lsp",
    "$schema",
];

const OUR_SECTIONS: [&str; 3] = ["loop", "checkpoint", "output"];

pub(super) fn read(text: &str, import: &mut Import) {
    let root = match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(root)) => root,
        Ok(_) => return import.unreadable(None, "the file is not a JSON object"),
        Err(error) => return import.unreadable(Some(error.line()), &error.to_string()),
    };
    for (name, value) in &root {
        match value {
            Json::Object(section) if OUR_SECTIONS.contains(&name.as_str()) => {
                read_section(name, section, import);
            }
            _ if THEIR_SECTIONS.contains(&name.as_str()) => {}
            _ => import.unknown(key(name), THEIR_SECTIONS.into_iter().chain(OUR_SECTIONS)),
        }
    }
    check_rules(&root, import);
}

fn key(name: &str) -> ForeignKey<'_> {
    ForeignKey { name, line: None }
}

fn read_section(section: &str, entries: &Map<String, Json>, import: &mut Import) {
    for (entry, value) in entries {
        let name = format!("{section}.{entry}");
        if let Some((_, ours, becomes)) = USED.iter().find(|(theirs, _, _)| *theirs == name) {
            let converted = convert(value, *becomes);
            import.set(key(&name), ours, &converted, Found::of_json(value));
        } else if !THEIRS.contains(&name.as_str()) {
            let known = USED.iter().map(|(theirs, _, _)| *theirs).chain(THEIRS);
            import.unknown(key(&name), known);
        }
    }
}

/// The value for our key; one that cannot be converted becomes something that
/// our key refuses.
fn convert(value: &Json, becomes: Becomes) -> Value {
    match (value, becomes) {
        (Json::String(text), Becomes::Same) => Value::String(text.clone()),
        (Json::Number(number), Becomes::Same) => number
            .as_i64()
            .map_or(Value::Float(f64::NAN), Value::Integer),
        (Json::Number(number), Becomes::Minutes) => Value::String(format!("{number}m")),
        _ => Value::Table(toml::Table::new()),
    }
}

fn check_rules(root: &Map<String, Json>, import: &mut Import) {
    let routing = root.get("routing");
    if let Some(rule) = routing.and_then(|routing| broken_weights(routing.get("weights")?)) {
        report(rule, import);
    }
    if let Some(rule) = routing.and_then(|routing| broken_thresholds(routing.get("thresholds")?)) {
        report(rule, import);
    }
    let number = |name: &str| root.get("loop")?.get(name)?.as_i64();
    // Zero is "unlimited" here, which nothing exceeds.
    let Some(maximum) = number("max_iterations").filter(|maximum| *maximum > 0) else {
        return;
    };
    if let Some(warning) = number("warning_threshold").filter(|warning| *warning > maximum) {
        import.layer.remove("limits.warn_at");
        report(
            SkillpackRule::WarningWithinMaximum { warning, maximum },
            import,
        );
    }
    if let Some(interval) = number("auto_checkpoint_interval").filter(|every| *every > maximum) {
        import.layer.remove("checkpoint.interval");
        report(
            SkillpackRule::IntervalWithinMaximum { interval, maximum },
            import,
        );
    }
}

fn report(rule: SkillpackRule, import: &mut Import) {
    let file = import.file.clone();
    import
        .warnings
        .push(ConfigWarning::BrokenRule { file, rule });
}

fn broken_weights(weights: &Json) -> Option<SkillpackRule> {
    let sum: f64 = weights.as_object()?.values().filter_map(Json::as_f64).sum();
    ((sum - 100.0).abs() > 1e-9).then_some(SkillpackRule::WeightsSumTo100 { sum })
}

fn broken_thresholds(thresholds: &Json) -> Option<SkillpackRule> {
    let values: Vec<f64> = ["direct", "planned", "ralph"]
        .iter()
        .filter_map(|name| thresholds.get(name)?.as_f64())
        .collect();
    if values.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let shown: Vec<String> = values.iter().map(f64::to_string).collect();
    Some(SkillpackRule::ThresholdsIncrease {
        found: shown.join(", "),
    })
}

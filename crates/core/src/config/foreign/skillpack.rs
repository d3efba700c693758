//! `.skillpackrc`: JSON, in the short shape with only `loop` and in the long
//! one with a section for every part of that tool.

use serde_json::{Map, Value as Json};
use strum::VariantArray as _;
use toml::Value;

use super::{ForeignKey, Import};
use crate::config::warning::{ConfigWarning, SkillpackRule};
use crate::config::words::Found;
use crate::route::{Dimension, Scale};

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
const THEIR_SECTIONS: [&str; 15] = [
    "version", "knowledge", "logging", "recovery", "cross_validation", "mcp", "cli", "parallel",
    "adapter", "smart_routing", "tool_discovery", "branch", "skill_system", "lsp", "$schema",
];

const OUR_SECTIONS: [&str; 4] = ["loop", "checkpoint", "output", "routing"];

pub(super) fn read(text: &str, import: &mut Import) {
    let root = match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(root)) => root,
        Ok(_) => return import.unreadable(None, "the file is not a JSON object"),
        Err(error) => return import.unreadable(Some(error.line()), &error.to_string()),
    };
    for (name, value) in &root {
        match value {
            Json::Object(section) if name == "routing" => read_routing(section, import),
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

/// How the scorer weighs, and where one route ends (ROUT-03, ROUT-04). These
/// numbers have a sense only together: all of a group count, or none.
fn read_routing(section: &Map<String, Json>, import: &mut Import) {
    for (name, value) in section {
        match (name.as_str(), value) {
            ("weights", Json::Object(weights)) => read_weights(weights, import),
            ("thresholds", Json::Object(thresholds)) => read_thresholds(thresholds, import),
            _ => {
                let name = format!("routing.{name}");
                import.unknown(key(&name), ["routing.weights", "routing.thresholds"]);
            }
        }
    }
}

fn read_weights(weights: &Map<String, Json>, import: &mut Import) {
    let names: Vec<_> = Dimension::VARIANTS
        .iter()
        .map(Dimension::into_str)
        .collect();
    let is_sound = read_group("routing.weights", weights, &names, import);
    let sum: f64 = weights.values().filter_map(Json::as_f64).sum();
    if (sum - 100.0).abs() > 1e-9 {
        report(SkillpackRule::WeightsSumTo100 { sum }, import);
        return forget("routing.weights", &names, import);
    }
    if !is_sound {
        return forget("routing.weights", &names, import);
    }
    // What is not named has no weight there.
    for name in names.iter().filter(|name| !weights.contains_key(**name)) {
        let name = format!("routing.weights.{name}");
        let nothing = Json::from(0);
        import.set(
            key(&name),
            &name,
            &Value::Integer(0),
            Found::of_json(&nothing),
        );
    }
}

fn read_thresholds(thresholds: &Map<String, Json>, import: &mut Import) {
    let usual = Scale::default();
    let names = ["direct", "planned", "ralph"];
    let is_sound = read_group("routing.thresholds", thresholds, &names, import);
    let of = |name: &str, usual: u32| match thresholds.get(name) {
        Some(value) => value.as_f64().unwrap_or(f64::NAN),
        None => f64::from(usual),
    };
    let borders = [
        of("direct", usual.thresholds.direct),
        of("planned", usual.thresholds.planned),
        of("ralph", usual.thresholds.ralph),
    ];
    let grows = borders.is_sorted_by(|a, b| a < b) && borders.iter().all(|border| *border < 100.0);
    if !grows && is_sound {
        let shown: Vec<String> = borders.iter().map(f64::to_string).collect();
        let found = shown.join(", ");
        report(SkillpackRule::ThresholdsIncrease { found }, import);
    }
    if !grows || !is_sound {
        forget("routing.thresholds", &names, import);
    }
}

/// Whether every key of a group is known and has a value of its kind.
fn read_group(
    group: &str,
    entries: &Map<String, Json>,
    names: &[&str],
    import: &mut Import,
) -> bool {
    let warnings = import.warnings.len();
    for (entry, value) in entries {
        let name = format!("{group}.{entry}");
        if names.contains(&entry.as_str()) {
            let converted = convert(value, Becomes::Same);
            import.set(key(&name), &name, &converted, Found::of_json(value));
        } else {
            let known: Vec<String> = names.iter().map(|name| format!("{group}.{name}")).collect();
            import.unknown(key(&name), known.iter().map(String::as_str));
        }
    }
    import.warnings.len() == warnings
}

fn forget(group: &str, names: &[&str], import: &mut Import) {
    for name in names {
        import.layer.remove(&format!("{group}.{name}"));
    }
}

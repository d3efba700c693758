//! What a configuration can be used with, but a person should know.

use super::origin::Place;
use super::schema::Kind;
use super::words::{Found, did_you_mean, say_line};
use crate::lang::{Lang, Say};
use crate::tr;

#[derive(Debug, Clone, PartialEq, Say)]
pub enum ConfigWarning {
    /// A file of another tool that cannot be read; nothing of it is used.
    #[say(foreign("CFG-001", file, &place, &reason, &fix, lang), place = say_line(file, *line, lang), reason = tr!(lang,"it cannot be read and nothing of it is used: {detail}"), fix = tr!(lang,"correct the file or write the settings to .ralph/config.toml"))]
    Unreadable {
        file: String,
        line: Option<usize>,
        detail: String,
    },
    #[say(foreign("CFG-002", file, &place, &reason, &fix, lang), place = say_line(file, *line, lang), reason = tr!(lang, "the key \"{key}\" is not known and not used"), fix = instead(nearest.as_deref(), lang))]
    UnknownForeignKey {
        file: String,
        line: Option<usize>,
        key: String,
        nearest: Option<String>,
    },
    #[say(foreign("CFG-003", file, &place, &reason, &fix, lang), place = say_line(file, *line, lang), found = found.say(lang), expected = expected.say(lang), reason = tr!(lang, "\"{key}\" is {found} and not used"), fix = tr!(lang, "write {expected}"))]
    BadForeignValue {
        file: String,
        line: Option<usize>,
        key: String,
        expected: Kind,
        found: Found,
    },
    /// A `.ralphrc` value that only a shell could work out.
    #[say("{place}: the value of {name} would have to be run by a shell, so it is not used. Write a plain value, such as {name}=15.", place = say_line(file, Some(*line), lang))]
    NeedsShell {
        file: String,
        line: usize,
        name: String,
    },
    /// A line of a `.ralphrc` that is no assignment.
    #[say("{place}: this is not NAME=value and is not used: ralph reads the file and never runs it.", place = say_line(file, Some(*line), lang))]
    NotAnAssignment { file: String, line: usize },
    /// A `.skillpackrc` that breaks a rule of its own tool.
    #[say(rule.say_of(file, lang))]
    BrokenRule { file: String, rule: SkillpackRule },
    /// Two files of other tools disagree.
    #[say("\"{key}\" is set differently by {used} and by {ignored}; {used} is used. Set it in .ralph/config.toml to decide.", used = used.say(lang), ignored = ignored.say(lang))]
    Disagreement {
        key: String,
        used: Place,
        ignored: Place,
    },
    /// A variable that is nearly one of ours.
    #[say("environment variable {name} is none of ralph's and not used.{guess}", guess = did_you_mean(Some(nearest), lang))]
    UnknownVariable { name: String, nearest: String },
    /// A lower maximum from a stronger place leaves no turn to warn in.
    #[say("the warning at turn {warn_at} ({place}) never comes: the last turn is {max_iterations}. Set limits.warn_at to a percentage such as \"75%\".", place = place.say(lang))]
    NeverWarns {
        warn_at: u32,
        max_iterations: u32,
        place: Place,
    },
}

/// The rules that a `.skillpackrc` has to keep, with what broke them.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillpackRule {
    WeightsSumTo100 { sum: f64 },
    ThresholdsIncrease { found: String },
    WarningWithinMaximum { warning: i64, maximum: i64 },
    IntervalWithinMaximum { interval: i64, maximum: i64 },
}

impl SkillpackRule {
    fn say_of(&self, file: &str, lang: Lang) -> String {
        let above = |warning: &i64, maximum: &i64| {
            let reason = tr!(
                lang,
                "{warning} is more than loop.max_iterations ({maximum}), so it is not used"
            );
            (reason, tr!(lang, "write {maximum} or less"))
        };
        let (code, key, (reason, fix)) = match self {
            SkillpackRule::WeightsSumTo100 { sum } => {
                let reason = tr!(lang, "the weights sum to {sum}, so they are not used");
                let fix = tr!(lang, "make them sum to 100");
                ("CFG-004", "routing.weights", (reason, fix))
            }
            SkillpackRule::ThresholdsIncrease { found } => {
                let reason = tr!(
                    lang,
                    "the thresholds do not increase below 100: {found}, so they are not used"
                );
                let fix = tr!(lang, "make direct < planned < ralph < 100");
                ("CFG-005", "routing.thresholds", (reason, fix))
            }
            SkillpackRule::WarningWithinMaximum { warning, maximum } => {
                let why = above(warning, maximum);
                ("CFG-006", "loop.warning_threshold", why)
            }
            SkillpackRule::IntervalWithinMaximum { interval, maximum } => {
                let why = above(interval, maximum);
                ("CFG-007", "loop.auto_checkpoint_interval", why)
            }
        };
        numbered(code, &format!("{file} {key}"), &reason, &fix)
    }
}

/// The form of a problem with a `.skillpackrc`: `[CFG-001] path / reason / fix`.
fn instead(nearest: Option<&str>, lang: Lang) -> String {
    match nearest {
        Some(nearest) => tr!(lang, "write \"{nearest}\" if that is meant"),
        None => tr!(lang, "remove it if it is a mistake"),
    }
}

fn numbered(code: &str, path: &str, reason: &str, fix: &str) -> String {
    format!("[{code}] {path} / {reason} / {fix}")
}

fn is_skillpack(file: &str) -> bool {
    file.ends_with(".skillpackrc")
}

/// A problem with a file of another tool, in the form that its tool gives it.
fn foreign(code: &str, file: &str, place: &str, reason: &str, fix: &str, lang: Lang) -> String {
    if is_skillpack(file) {
        return numbered(code, place, reason, fix);
    }
    tr!(lang, "{place}: {reason}; {fix}.")
}

//! The drill as people and programs see it.

use std::path::Path;
use std::time::Duration;

use ralph_core::config::Settings;
use ralph_core::display::Screen;
use ralph_core::lang::{Lang, Say};
use ralph_core::text::duration::human;
use ralph_core::text::width::{pad_right, width, wrap};
use ralph_core::tr;
use ralph_engine::supervise::Tag;
use serde_json::{Value, json};

use super::faults::{Fault, Sizes};
use super::project::{Project, Tasks};
use super::say::size;
use super::scale::{Scale, setting};
use super::stage::{Played, speaks_stream_json};
use super::verdict::Verdict;

/// Less than this kept of a run is its journal and its prompts.
const WORTH_A_WORD: u64 = 1 << 20;
/// On a narrower screen a fault gets lines of its own.
const NARROW: usize = 76;
const WIDEST_REASON: usize = 60;
const GAP: &str = "  ";
/// How many columns may pass between two breaks of a line of settings.
const LEAST: usize = 30;

/// The columns of the table; the reason takes what is left.
#[derive(Debug)]
pub struct Table {
    screen: Screen,
    sizes: Sizes,
    fault: usize,
    reason: usize,
    time: usize,
    left: usize,
}

impl Table {
    pub fn new(screen: Screen, sizes: Sizes, faults: &[Fault]) -> Table {
        let lang = screen.lang;
        let [fault, _, time, left, verdict] = heading(lang);
        let widest = |texts: &[String]| texts.iter().map(|t| width(t)).max().unwrap_or(0);
        let mut names: Vec<String> = faults.iter().map(|f| f.describe(lang, sizes)).collect();
        names.push(fault);
        let fault = widest(&names);
        // Under a second, under a minute, and more.
        let times = [888, 8_888, 68_000].map(|ms| human(lang, Duration::from_millis(ms)));
        let time = widest(&times).max(width(&time));
        let left = widest(&[left, nothing(lang), "9999 MB".into()]);
        let verdict = widest(&[
            verdict,
            Verdict::Caught(Vec::new()).word(lang),
            tr!(lang, "NOT caught"),
        ]);
        let others = fault + time + left + verdict + 4 * GAP.len();
        Table {
            screen,
            sizes,
            fault,
            reason: screen.width.saturating_sub(others).min(WIDEST_REASON),
            time,
            left,
        }
    }

    fn is_narrow(&self) -> bool {
        self.screen.width < NARROW
    }

    pub fn head(&self) -> Option<String> {
        let [fault, caught, time, left, verdict] = heading(self.screen.lang);
        (!self.is_narrow()).then(|| self.line(&fault, &caught, &time, &left, &verdict))
    }

    pub fn row(&self, played: &Played) -> String {
        let lang = self.screen.lang;
        let name = played.fault.describe(lang, self.sizes);
        let reason = played.verdict.say(lang);
        let was_run = !matches!(played.verdict, Verdict::Skipped(_));
        let (time, left) = match was_run {
            true => (human(lang, played.evidence.duration), left(lang, played)),
            false => ("–".into(), "–".into()),
        };
        let verdict = self.colored(&played.verdict);
        if self.is_narrow() {
            return self.block(&name, &reason, &format!("{time} · {left}"), &verdict);
        }
        let reason = wrap(&reason, self.reason);
        let mut lines = reason.iter();
        let first = lines.next().map_or("", String::as_str);
        let mut row = self.line(&name, first, &time, &left, &verdict);
        for more in lines {
            row.push('\n');
            row.push_str(&pad_right("", self.fault + GAP.len()));
            row.push_str(more);
        }
        row
    }

    fn line(&self, fault: &str, reason: &str, time: &str, left: &str, verdict: &str) -> String {
        let cells = [
            pad_right(fault, self.fault),
            pad_right(reason, self.reason),
            pad_right(time, self.time),
            pad_right(left, self.left),
            verdict.to_owned(),
        ];
        cells.join(GAP).trim_end().to_owned()
    }

    fn block(&self, name: &str, reason: &str, facts: &str, verdict: &str) -> String {
        let mut text = format!("{name}: {verdict}\n{GAP}{facts}");
        for line in wrap(
            reason,
            self.screen.width.saturating_sub(GAP.len()).max(LEAST),
        ) {
            text.push('\n');
            text.push_str(GAP);
            text.push_str(&line);
        }
        text
    }

    fn colored(&self, verdict: &Verdict) -> String {
        let word = verdict.word(self.screen.lang);
        if !self.screen.style.color {
            return word;
        }
        let color = match verdict {
            Verdict::Caught(_) => 32,
            Verdict::NotCaught(_) => 31,
            Verdict::Skipped(_) => 33,
        };
        format!("\u{1b}[{color}m{word}\u{1b}[0m")
    }
}

/// What stands above each column.
fn heading(lang: Lang) -> [String; 5] {
    [
        tr!(lang, "the agent …"),
        tr!(lang, "what caught it"),
        tr!(lang, "time"),
        tr!(lang, "left"),
        tr!(lang, "verdict"),
    ]
}

fn nothing(lang: Lang) -> String {
    tr!(lang, "nothing")
}

fn left(lang: Lang, played: &Played) -> String {
    let seen = &played.evidence;
    let count = seen.survivors;
    if count > 0 {
        tr!(lang, "{count} alive")
    } else if seen.lock_is_held {
        tr!(lang, "the lock")
    } else if seen.kept_bytes >= WORTH_A_WORD {
        size(seen.kept_bytes)
    } else {
        nothing(lang)
    }
}

/// What is tried out, where, and what is not as the person set it.
pub fn beginning(
    screen: &Screen,
    settings: &Settings,
    project: &Project,
    scale: &Scale,
    dir: &Path,
) -> String {
    let lang = screen.lang;
    let dir = dir.display();
    let tasks = project.tasks.name().display();
    let tasks = match &project.tasks {
        Tasks::Own(_) => tasks.to_string(),
        Tasks::Made { .. } => tr!(lang, "{tasks} (made for the drill: no open task was found)"),
    };
    let agent = match speaks_stream_json(settings) {
        true => "claude",
        false => "custom",
    };
    let limits = limits(settings);
    let verify = match settings.verify.commands.as_slice() {
        [] => tr!(lang, "nothing"),
        commands => commands.join(" && "),
    };
    let changes = scale.changes(settings, Fault::HangBefore);
    let changes: Vec<String> = changes
        .iter()
        .map(|change| format!("{} {}", change.key, change.to))
        .collect();
    let changes = changes.join(", ");
    [
        tr!(lang, "Ralph drill · {tasks} · a scripted agent, read as {agent}"),
        tr!(lang, "Copies in {dir}; the project itself is only read."),
        tr!(lang, "Yours: {limits}; verified by: {verify}"),
        tr!(lang, "For the drill: {changes}; turns that do not hang get up to 4 min; a fault that comes once is followed by one turn; no sandbox: `ralph doctor` tries that"),
    ]
    .iter()
    .flat_map(|text| wrap(text, screen.width.max(LEAST)))
    .collect::<Vec<_>>()
    .join("\n")
        + "\n\n"
}

fn limits(settings: &Settings) -> String {
    let limits = &settings.limits;
    let counts = [
        ("max_iterations", limits.max_iterations),
        ("consecutive_errors", limits.consecutive_errors),
        ("missing_promise", limits.missing_promise),
        ("stalled", limits.stalled),
        ("same_error", limits.same_error),
        ("false_promise", limits.false_promise),
    ];
    let mut said: Vec<String> = counts
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    for (name, time) in [
        ("iteration_timeout", limits.iteration_timeout),
        ("idle_timeout", limits.idle_timeout),
        ("max_duration", limits.max_duration),
    ] {
        said.push(format!("{name} {}", setting(time)));
    }
    said.join(", ")
}

/// What the drill left behind, as it looked for it itself.
#[derive(Debug)]
pub struct Ending {
    pub caught: usize,
    pub not_caught: usize,
    pub skipped: usize,
    pub duration: Duration,
    pub survivors: usize,
    /// The copies are still there.
    pub copies: bool,
    /// The fingerprint of the project, if it is what it was.
    pub untouched: Option<String>,
    pub interrupted: bool,
}

impl Ending {
    /// Whether everything held, as far as it was tried.
    pub fn holds(&self, keep: bool) -> bool {
        self.not_caught == 0
            && self.survivors == 0
            && (keep || !self.copies)
            && self.untouched.is_some()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "event": "drill_end",
            "caught": self.caught,
            "not_caught": self.not_caught,
            "skipped": self.skipped,
            "duration_ms": millis(self.duration),
            "processes_left": self.survivors,
            "copies_left": self.copies,
            "project_untouched": self.untouched.is_some(),
            "fingerprint": self.untouched,
            "interrupted": self.interrupted,
        })
    }

    pub fn text(&self, screen: &Screen, dir: &Path) -> String {
        let lang = screen.lang;
        let Ending {
            caught,
            not_caught,
            skipped,
            survivors,
            ..
        } = self;
        let time = human(lang, self.duration);
        let dir = dir.display();
        let mut said = vec![tr!(
            lang,
            "{caught} caught, {not_caught} not caught, {skipped} skipped, after {time}."
        )];
        if self.interrupted {
            said.push(tr!(lang, "Interrupted."));
        }
        said.push(match survivors {
            0 => tr!(lang, "No process of the drill is alive."),
            _ => tr!(lang, "Processes of the drill that are alive: {survivors}."),
        });
        said.push(match self.copies {
            false => tr!(lang, "The copies are gone."),
            true => tr!(lang, "The copies are in {dir}."),
        });
        said.push(match &self.untouched {
            Some(print) => {
                let print: String = print.chars().take(12).collect();
                tr!(lang, "The project is untouched (fingerprint {print}).")
            }
            None => tr!(lang, "The project CHANGED during the drill; see `git status`, and run it again while nobody else works here."),
        });
        let text = match lang {
            Lang::En => said.join(" "),
            _ => said.concat(),
        };
        wrap(&text, screen.width.max(LEAST)).join("\n")
    }
}

pub fn fault_json(played: &Played) -> Value {
    let seen = &played.evidence;
    json!({
        "event": "drill_fault",
        "fault": played.fault.into_str(),
        "verdict": played.verdict.into_str(),
        "reason": played.verdict.say(Lang::En),
        "duration_ms": millis(seen.duration),
        "exit_code": seen.exit,
        "peak_memory": seen.peak_memory,
        "left": {
            "processes": seen.survivors,
            "bytes": seen.kept_bytes,
            "lock": seen.lock_is_held,
        },
        "run": played.run.as_ref().map(Tag::name),
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub fn list(lang: Lang, sizes: Sizes) -> String {
    let longest = Fault::ALL
        .iter()
        .map(|f| f.into_str().len())
        .max()
        .unwrap_or(0);
    let line = |fault: &Fault| {
        let name = pad_right(fault.into_str(), longest);
        format!("{name}{GAP}{}", fault.describe(lang, sizes))
    };
    Fault::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

//! The faults, what caught them and what did not, in words.

use ralph_core::lang::{Lang, Say};
use ralph_core::text::duration::human;
use ralph_core::tr;

use super::faults::{Fault, Sizes};
use super::verdict::{MOST_MEMORY, Miss, Verdict};

impl Fault {
    pub fn describe(self, lang: Lang, sizes: Sizes) -> String {
        let (flood, line) = (size(sizes.flood), size(sizes.line));
        match self {
            Fault::HangBefore => tr!(lang, "hangs before its result"),
            Fault::HangAfter => tr!(lang, "hangs after its result"),
            Fault::NoResult => tr!(lang, "prints no result"),
            Fault::HalfLine => tr!(lang, "prints half a JSON line"),
            Fault::Flood => tr!(lang, "floods {flood}"),
            Fault::LongLine => tr!(lang, "prints a {line} line"),
            Fault::RawBytes => tr!(lang, "invalid UTF-8 and ANSI"),
            Fault::TicksOnly => tr!(lang, "ticks without work"),
            Fault::DeletesTasks => tr!(lang, "deletes the task file"),
            Fault::Daemon => tr!(lang, "leaves a deaf daemon"),
            Fault::Exit137 => tr!(lang, "exits with 137"),
            Fault::CorruptStatus => tr!(lang, "corrupts status.json"),
            Fault::CorruptJournal => {
                tr!(lang, "corrupts the journal")
            }
            Fault::CorruptLock => tr!(lang, "deletes the lock"),
            Fault::FullDisk => tr!(lang, "fills the disk"),
        }
    }
}

impl Verdict {
    /// For programs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Caught(_) => "caught",
            Verdict::NotCaught(_) => "not_caught",
            Verdict::Skipped(_) => "skipped",
        }
    }

    pub fn word(&self, lang: Lang) -> String {
        match self {
            Verdict::Caught(_) => tr!(lang, "caught"),
            Verdict::NotCaught(_) => tr!(lang, "NOT caught"),
            Verdict::Skipped(_) => tr!(lang, "skipped"),
        }
    }
}

impl Say for Verdict {
    fn say(&self, lang: Lang) -> String {
        match self {
            Verdict::Caught(catches) => {
                let said: Vec<String> = catches.iter().map(|catch| catch.say(lang)).collect();
                said.join(" → ")
            }
            Verdict::NotCaught(miss) => miss.say(lang),
            Verdict::Skipped(skip) => skip.say(lang),
        }
    }
}

impl Say for Miss {
    fn say(&self, lang: Lang) -> String {
        match self {
            Miss::NeverEnded {
                after,
                timeouts_off,
            } => {
                let after = human(lang, *after);
                if *timeouts_off {
                    tr!(
                        lang,
                        "still running after {after}: set limits.iteration_timeout or limits.idle_timeout, both are off"
                    )
                } else {
                    tr!(lang, "still running after {after}: no limit ended it")
                }
            }
            Miss::ProcessesLeft { count, names } => {
                let names = names.join(", ");
                tr!(lang, "processes left alive: {count} ({names})")
            }
            Miss::Crashed { words } => tr!(lang, "the engine crashed: {words}"),
            Miss::Completed {
                has_verification: false,
            } => tr!(
                lang,
                "the ticks were believed: set verify.commands, nothing else can prove them"
            ),
            Miss::Completed {
                has_verification: true,
            } => tr!(
                lang,
                "the run ended as complete: verify.commands pass although nothing was done; add one that fails without the work"
            ),
            Miss::NoOutcome { words } => tr!(lang, "the run has no outcome: {words}"),
            Miss::DidNotGoOn { words } => tr!(lang, "the run did not go on: {words}"),
            Miss::AnswerLost => tr!(lang, "the answer behind it was not heard"),
            Miss::Memory { bytes } => {
                let (used, most) = (size(*bytes), size(MOST_MEMORY));
                tr!(lang, "the engine took {used} of memory, more than {most}")
            }
            Miss::Output { bytes, cap } => {
                let (kept, cap) = (size(*bytes), size(*cap));
                tr!(
                    lang,
                    "{kept} of output were kept, log.agent_output_max is {cap}"
                )
            }
            Miss::Controls { place } => tr!(lang, "bytes that a terminal obeys reached {place}"),
            Miss::StatusBroken => tr!(lang, "status.json stayed broken"),
            Miss::JournalBelieved => tr!(lang, "the damaged journal was believed"),
            Miss::SecondRun => tr!(lang, "a second run worked beside the first"),
            Miss::ResumeFailed { words } => tr!(lang, "with room again it did not go on: {words}"),
            Miss::Drill { words } => tr!(lang, "the drill itself failed: {words}"),
        }
    }
}

/// A size in its largest unit, rounded down to a whole number.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

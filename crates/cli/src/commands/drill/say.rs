//! The faults, what caught them and what did not, in words.

use ralph_core::lang::Lang;
use ralph_core::tr;

use super::faults::{Fault, Sizes};
use super::verdict::Verdict;

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
    pub fn word(&self, lang: Lang) -> String {
        match self {
            Verdict::Caught(_) => tr!(lang, "caught"),
            Verdict::NotCaught(_) => tr!(lang, "NOT caught"),
            Verdict::Skipped(_) => tr!(lang, "skipped"),
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

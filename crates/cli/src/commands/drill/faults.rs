//! The faults, as data: what the agent does in its turns, how often it does
//! it, and what has to come of it.

use std::path::Path;

use ralph_core::config::PromiseSettings;
use serde_json::{Value, json};

use super::place::Place;
use crate::scripted;

/// One way in which an agent misbehaves.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Fault {
    HangBefore,
    HangAfter,
    NoResult,
    HalfLine,
    Flood,
    LongLine,
    RawBytes,
    TicksOnly,
    DeletesTasks,
    Daemon,
    #[strum(to_string = "exit-137")]
    Exit137,
    CorruptStatus,
    CorruptJournal,
    CorruptLock,
    FullDisk,
}

/// How often a fault comes, and so what it has to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// In every turn: the run has to end by itself, and not as complete.
    Always,
    /// In the first turn only: the run has to go on, unharmed.
    Once,
}

/// How much time a turn gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The timeout itself is tried out.
    Short,
    Long,
}

/// How large the floods are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub flood: u64,
    pub line: u64,
}

impl Fault {
    pub const ALL: &[Fault] = <Fault as strum::VariantArray>::VARIANTS;

    pub fn course(self) -> Course {
        match self {
            Fault::HangBefore
            | Fault::HangAfter
            | Fault::NoResult
            | Fault::HalfLine
            | Fault::TicksOnly
            | Fault::DeletesTasks
            | Fault::Exit137 => Course::Always,
            _ => Course::Once,
        }
    }

    pub fn pace(self) -> Pace {
        match self {
            Fault::HangBefore | Fault::HangAfter => Pace::Short,
            _ => Pace::Long,
        }
    }

    /// Whether the run is shown as to a person: what is printed is looked at.
    pub fn is_watched(self) -> bool {
        self == Fault::RawBytes
    }

    /// The script of the agent.
    pub fn script(self, place: &Place, promise: &PromiseSettings, sizes: Sizes) -> Value {
        let misdeed = self.turn(place, promise, sizes);
        match self.course() {
            Course::Always => json!({"turns": [misdeed], "repeat_last": true}),
            Course::Once => {
                json!({"turns": [misdeed, goes_on(place, promise)], "repeat_last": true})
            }
        }
    }

    fn turn(self, place: &Place, promise: &PromiseSettings, sizes: Sizes) -> Value {
        let done = tag(promise.asked_for().unwrap_or("DONE"));
        let more = tag(&promise.continue_word);
        match self {
            Fault::HangBefore => json!({"thinking": "Let me think.", "faults": ["hang"]}),
            Fault::HangAfter => json!({"say": more, "faults_after_answer": ["hang"]}),
            Fault::NoResult => json!({"thinking": "I have nothing to say."}),
            Fault::HalfLine => json!({"faults": [{"raw": half_line(&done)}]}),
            Fault::Flood => json!({"faults": [{"flood_bytes": sizes.flood}], "say": more}),
            Fault::LongLine => json!({"faults": [{"line_bytes": sizes.line}], "say": more}),
            Fault::RawBytes => json!({
                "faults": [{"raw": RAW}],
                "complain": "\u{1b}[2J\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}0m",
                "exit": 1,
            }),
            Fault::TicksOnly => json!({"tick": [scripted::EVERY_TASK], "say": done}),
            // Gone is gone: later turns have nothing to delete.
            Fault::DeletesTasks => json!({
                "faults": [{"run": {
                    "command": ["rm", "-f", place.tasks()],
                    "report": place.file("rm"),
                }}],
                "say": done,
            }),
            Fault::Daemon => json!({
                "faults": [{"daemon": {"pid_file": place.daemon()}}],
                "say": more,
            }),
            Fault::Exit137 => json!({"thinking": "Killed", "exit": 137}),
            Fault::CorruptStatus => json!({
                "write": {".ralph/status.json": "{\"status\": \"complete\", \"iter"},
                "say": more,
            }),
            Fault::CorruptJournal => json!({
                "write": {(journal(place)): "{\"seq\":0,\"data\":{}}\nnot a record\n"},
                "say": more,
            }),
            Fault::CorruptLock => json!({
                "remove": [place.layout().lock()],
                "faults": [{"run": {
                    "command": place.second_run(),
                    "report": place.second_run_report(),
                }}],
                "say": more,
            }),
            Fault::FullDisk => json!({"faults": [{"fill_disk": "ballast"}], "say": more}),
        }
    }
}

/// Bytes that are no text, and orders to the terminal.
const RAW: &[u8] = b"\xff\xfe\x80\x1b[2J\x1b]0;owned\x07\xc3\x28\x00\x1b[31m\xf0\x9f\n";

/// A turn as it should be; that it took place shows that the run went on.
fn goes_on(place: &Place, promise: &PromiseSettings) -> Value {
    json!({
        "write": {(text(&place.went_on())): "yes\n"},
        "say": tag(&promise.continue_word),
    })
}

fn journal(place: &Place) -> String {
    let runs = text(&place.layout().runs_dir());
    format!("{runs}/{}/journal.jsonl", scripted::RUN_ID)
}

/// A result that claims everything, torn before its end.
fn half_line(claim: &str) -> Vec<u8> {
    let line = json!({"type": "result", "subtype": "success", "result": claim}).to_string();
    let half = line.len().saturating_sub(12);
    line.bytes().take(half).collect()
}

fn tag(word: &str) -> String {
    format!("<promise>{word}</promise>")
}

pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

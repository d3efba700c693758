//! One event, in the one shape that the rest of the program knows.

use serde_json::{Map, Value, json};

/// How much an event matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum EventLevel {
    Trace,
    Debug,
    #[default]
    Info,
    Warn,
    Error,
}

impl EventLevel {
    /// Knows the names of EVNT-03 in any case, and `WARNING`.
    pub fn from_name(name: &str) -> Option<EventLevel> {
        match name.to_ascii_uppercase().as_str() {
            "TRACE" => Some(EventLevel::Trace),
            "DEBUG" => Some(EventLevel::Debug),
            "INFO" => Some(EventLevel::Info),
            "WARN" | "WARNING" => Some(EventLevel::Warn),
            "ERROR" => Some(EventLevel::Error),
            _ => None,
        }
    }
}

/// One event. It is written as EVNT-01 has it (`ts`, an integer `phase`) and
/// read from that as well as from the sibling shape of EVNT-02 (`timestamp`,
/// `"Phase 2/3"`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventLine {
    /// UTC, ISO 8601.
    pub ts: String,
    pub level: EventLevel,
    pub event: String,
    pub iteration: Option<u64>,
    pub phase: Option<u64>,
    /// Everything else, in its order.
    pub fields: Map<String, Value>,
}

impl EventLine {
    pub fn to_json(&self) -> Value {
        let mut json = Map::new();
        json.insert("ts".to_owned(), json!(self.ts));
        json.insert("level".to_owned(), json!(self.level.into_str()));
        json.insert("event".to_owned(), json!(self.event));
        let numbers = [("iteration", self.iteration), ("phase", self.phase)];
        for (key, number) in numbers {
            if let Some(number) = number {
                json.insert(key.to_owned(), json!(number));
            }
        }
        for (key, value) in &self.fields {
            json.entry(key).or_insert_with(|| value.clone());
        }
        Value::Object(json)
    }

    /// `None` for what is not an event: it needs a time, a name and, if it
    /// gives a level, one of those we know.
    pub fn parse(line: &[u8]) -> Option<EventLine> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Value::Object(mut fields) = serde_json::from_slice(line).ok()? else {
            return None;
        };
        let ts = text(
            fields
                .shift_remove("ts")
                .or_else(|| fields.shift_remove("timestamp"))?,
        )?;
        let event = text(fields.shift_remove("event")?)?;
        let level = match fields.shift_remove("level") {
            Some(level) => EventLevel::from_name(level.as_str()?)?,
            None => EventLevel::default(),
        };
        let iteration = take_number(&mut fields, "iteration", |text| text.parse().ok());
        let phase = take_number(&mut fields, "phase", phase_number);
        Some(EventLine {
            ts,
            level,
            event,
            iteration,
            phase,
            fields,
        })
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Takes a member that is a number or can be read as one; leaves any other
/// among the fields.
fn take_number(
    fields: &mut Map<String, Value>,
    key: &str,
    read: fn(&str) -> Option<u64>,
) -> Option<u64> {
    let value = fields.get(key)?;
    let number = value
        .as_u64()
        .or_else(|| value.as_str().and_then(|text| read(text.trim())))?;
    fields.shift_remove(key);
    Some(number)
}

/// `Phase 2/3`, `phase 2` or `2`.
fn phase_number(text: &str) -> Option<u64> {
    let rest = match text.get(..5) {
        Some(word) if word.eq_ignore_ascii_case("phase") => text.get(5..)?,
        _ => text,
    };
    let number = rest.split('/').next()?;
    number.trim().parse().ok()
}

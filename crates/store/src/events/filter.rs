//! Chooses events: `level>=WARN iteration=3 event=iteration_retry`.

use std::cmp::Ordering;

use ralph_core::lang::Say;
use serde_json::Value;

use super::{EventLevel, EventLine};

/// Conditions that must all hold. An empty filter lets everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    terms: Vec<Term>,
}

/// Why a text is not a filter.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum FilterError {
    /// Not of the form `key=value`.
    #[say(
        "the filter `{term}` is not of the form key=value; write for example `level>=WARN` or `iteration=3`"
    )]
    NotATerm { term: String },
    #[say("there is no level `{name}`; write TRACE, DEBUG, INFO, WARN or ERROR")]
    UnknownLevel { name: String },
    #[say("`{key}` is a number, not `{value}`; write for example `{key}=3`")]
    NotANumber { key: String, value: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    relation: Relation,
    operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Greater,
    Less,
}

impl Relation {
    /// Longer signs first, so that `>=` is not read as `>`.
    const SIGNS: [(&str, Relation); 6] = [
        (">=", Relation::AtLeast),
        ("<=", Relation::AtMost),
        ("!=", Relation::NotEqual),
        ("=", Relation::Equal),
        (">", Relation::Greater),
        ("<", Relation::Less),
    ];

    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Relation::Equal => ordering.is_eq(),
            Relation::NotEqual => ordering.is_ne(),
            Relation::AtLeast => ordering.is_ge(),
            Relation::AtMost => ordering.is_le(),
            Relation::Greater => ordering.is_gt(),
            Relation::Less => ordering.is_lt(),
        }
    }
}

/// What is compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Level(EventLevel),
    Ts(String),
    Event(String),
    Iteration(u64),
    Phase(u64),
    Field { key: String, value: String },
}

impl Filter {
    /// Reads terms that spaces or commas separate.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let terms = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|term| !term.is_empty())
            .map(Term::parse)
            .collect::<Result<_, _>>()?;
        Ok(Filter { terms })
    }

    pub fn matches(&self, event: &EventLine) -> bool {
        self.terms.iter().all(|term| term.matches(event))
    }
}

impl Term {
    fn parse(term: &str) -> Result<Term, FilterError> {
        let not_a_term = || FilterError::NotATerm {
            term: term.to_owned(),
        };
        let sign_at = term.find(['=', '!', '<', '>']).ok_or_else(not_a_term)?;
        let (key, rest) = term.split_at(sign_at);
        let (relation, value) = Relation::SIGNS
            .into_iter()
            .find_map(|(sign, relation)| Some((relation, rest.strip_prefix(sign)?)))
            .ok_or_else(not_a_term)?;
        if key.is_empty() || value.is_empty() {
            return Err(not_a_term());
        }
        let operand = Operand::parse(key, value)?;
        Ok(Term { relation, operand })
    }

    /// An event that lacks the member differs from every value and compares
    /// with none.
    fn matches(&self, event: &EventLine) -> bool {
        match self.operand.compare(event) {
            Some(ordering) => self.relation.holds(ordering),
            None => self.relation == Relation::NotEqual,
        }
    }
}

impl Operand {
    fn parse(key: &str, value: &str) -> Result<Operand, FilterError> {
        let number = || {
            value.parse().map_err(|_| FilterError::NotANumber {
                key: key.to_owned(),
                value: value.to_owned(),
            })
        };
        Ok(match key {
            "level" => Operand::Level(EventLevel::from_name(value).ok_or_else(|| {
                FilterError::UnknownLevel {
                    name: value.to_owned(),
                }
            })?),
            "ts" | "timestamp" => Operand::Ts(value.to_owned()),
            "event" => Operand::Event(value.to_owned()),
            "iteration" => Operand::Iteration(number()?),
            "phase" => Operand::Phase(number()?),
            _ => Operand::Field {
                key: key.to_owned(),
                value: value.to_owned(),
            },
        })
    }

    fn compare(&self, event: &EventLine) -> Option<Ordering> {
        match self {
            Operand::Level(level) => Some(event.level.cmp(level)),
            Operand::Ts(ts) => Some(event.ts.as_str().cmp(ts)),
            Operand::Event(name) => Some(event.event.as_str().cmp(name)),
            Operand::Iteration(number) => Some(event.iteration?.cmp(number)),
            Operand::Phase(number) => Some(event.phase?.cmp(number)),
            Operand::Field { key, value } => compare_field(event.fields.get(key)?, value),
        }
    }
}

fn compare_field(field: &Value, value: &str) -> Option<Ordering> {
    match field {
        Value::String(text) => Some(text.as_str().cmp(value)),
        Value::Number(number) => number.as_f64()?.partial_cmp(&value.parse().ok()?),
        Value::Bool(flag) => Some(flag.to_string().as_str().cmp(value)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

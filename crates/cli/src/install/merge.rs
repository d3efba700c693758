//! Puts our entries into a file of an agent's settings, and takes them out.
//!
//! Texts in, texts out. Every edit is noted with what it takes to undo it, so
//! that taking away what was added gives the text back byte by byte, and
//! leaves alone what a person added or changed since.

use ralph_core::jsonc::{self, Node, Step, SyntaxError};
use ralph_engine::agents::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::hosts::{self, Wanted};
use super::{CAP, program};

/// What was done to a text, in order.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Edit {
    /// A container that was not there; it goes when nothing is left in it.
    Container { path: Vec<String>, tail: String },
    /// The version of the file's format. It stays where a person relies on it:
    /// where there are more elements than the file had without us.
    Version { tail: String, elements: usize },
    /// An element in the list of an event.
    Element {
        event: String,
        value: Value,
        tail: String,
    },
    /// A variable for the agent.
    Variable {
        name: String,
        value: String,
        tail: String,
    },
    /// A variable that had another value, written as `before`.
    Replaced {
        name: String,
        value: String,
        before: String,
    },
}

/// Why nothing can be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    Syntax(SyntaxError),
    /// Something of another kind stands where a list or an object belongs.
    Shape {
        path: String,
    },
}

impl From<SyntaxError> for MergeError {
    fn from(error: SyntaxError) -> MergeError {
        MergeError::Syntax(error)
    }
}

/// A text with our entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    pub text: String,
    pub edits: Vec<Edit>,
}

/// What a file begins with where there is none.
pub const EMPTY: &str = "{}\n";

/// Adds everything that is wanted to a text that has none of it.
pub fn merge(
    text: &str,
    host: Client,
    wanted: &Wanted,
    cap: Option<u32>,
) -> Result<Merged, MergeError> {
    let mut merge = Merge {
        text: text.to_owned(),
        edits: Vec::new(),
    };
    if !matches!(jsonc::parse(text)?.kind, jsonc::Kind::Object(_)) {
        return Err(shape(&[]));
    }
    if host.hooks().needs_version {
        merge.version()?;
    }
    for (event, value) in wanted.elements(host) {
        merge.container(&[], "hooks", &json!({}))?;
        merge.container(&["hooks"], event, &json!([]))?;
        merge.element(event, value)?;
    }
    if let Some(cap) = cap {
        merge.cap(cap)?;
    }
    let Merge { text, edits } = merge;
    Ok(Merged { text, edits })
}

struct Merge {
    text: String,
    edits: Vec<Edit>,
}

impl Merge {
    fn version(&mut self) -> Result<(), MergeError> {
        if let Some(added) = jsonc::insert_member(&self.text, &[], "version", &json!(1))? {
            let elements = elements(&jsonc::parse(&self.text)?).len();
            self.text = added.text;
            let tail = added.tail;
            self.edits.push(Edit::Version { tail, elements });
        }
        Ok(())
    }

    fn container(&mut self, path: &[&str], key: &str, empty: &Value) -> Result<(), MergeError> {
        let whole = [path, &[key]].concat();
        let root = jsonc::parse(&self.text)?;
        if let Some(there) = root.at(&steps(&whole)) {
            let fits = match &there.kind {
                jsonc::Kind::Object(_) => empty.is_object(),
                jsonc::Kind::Array(_) => empty.is_array(),
                jsonc::Kind::Scalar(_) => false,
            };
            return if fits { Ok(()) } else { Err(shape(&whole)) };
        }
        let added = jsonc::insert_member(&self.text, &steps(path), key, empty)?;
        let added = added.ok_or_else(|| shape(path))?;
        self.text = added.text;
        let path = whole.into_iter().map(str::to_owned).collect();
        let tail = added.tail;
        self.edits.push(Edit::Container { path, tail });
        Ok(())
    }

    fn element(&mut self, event: &str, value: Value) -> Result<(), MergeError> {
        let path = ["hooks", event];
        let added = jsonc::push_element(&self.text, &steps(&path), &value)?;
        let added = added.ok_or_else(|| shape(&path))?;
        self.text = added.text;
        self.edits.push(Edit::Element {
            event: event.to_owned(),
            value,
            tail: added.tail,
        });
        Ok(())
    }

    /// A person who allows more, or has no cap, keeps it so.
    fn cap(&mut self, cap: u32) -> Result<(), MergeError> {
        let path = steps(&["env", CAP]);
        let (name, value) = (CAP.to_owned(), cap.to_string());
        let root = jsonc::parse(&self.text)?;
        if let Some(there) = root.at(&path) {
            if cap_of(&there.to_value()).is_some_and(|there| reaches(there, cap)) {
                return Ok(());
            }
            let raw = Value::from(value.as_str()).to_string();
            if let Some((text, before)) = jsonc::replace(&self.text, &path, &raw)? {
                self.text = text;
                self.edits.push(Edit::Replaced {
                    name,
                    value,
                    before,
                });
            }
            return Ok(());
        }
        self.container(&[], "env", &json!({}))?;
        let there = value.as_str().into();
        let added = jsonc::insert_member(&self.text, &steps(&["env"]), CAP, &there)?;
        let added = added.ok_or_else(|| shape(&["env"]))?;
        self.text = added.text;
        let tail = added.tail;
        self.edits.push(Edit::Variable { name, value, tail });
        Ok(())
    }
}

/// A cap as people write it: a text, or a number.
pub fn cap_of(value: &Value) -> Option<u32> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64()?.try_into().ok(),
        _ => None,
    }
}

/// Whether a cap lets a loop come as far as the other one does; 0 is no cap.
pub fn reaches(cap: u32, needed: u32) -> bool {
    cap == 0 || (needed != 0 && cap >= needed)
}

/// Whether all that is wanted is there, and nothing of ours that is not.
pub fn is_current(
    text: &str,
    host: Client,
    wanted: &Wanted,
    cap: Option<u32>,
) -> Result<bool, MergeError> {
    let root = jsonc::parse(text)?;
    let mut missing = wanted.elements(host);
    for (event, element) in elements(&root) {
        if !hosts::is_ours(&element, host) {
            continue;
        }
        let known = |(e, value): &(&str, Value)| *e == event && *value == element;
        match missing.iter().position(known) {
            Some(found) => drop(missing.swap_remove(found)),
            None => return Ok(false),
        }
    }
    let cap_there = root.at(&steps(&["env", CAP])).map(Node::to_value);
    let cap_fits = cap.is_none_or(|needed| {
        cap_there
            .as_ref()
            .and_then(cap_of)
            .is_some_and(|there| reaches(there, needed))
    });
    Ok(missing.is_empty() && cap_fits)
}

/// Whether anything in a text calls us.
pub fn calls_us(text: &str, host: Client) -> bool {
    let ours = |line: &str| program::called_by(line, host).is_some();
    jsonc::parse(text).is_ok_and(|root| {
        elements(&root)
            .iter()
            .any(|(_, element)| hosts::commands(element).iter().any(|(_, line)| ours(line)))
    })
}

/// Every element of every event's list.
pub fn elements(root: &Node) -> Vec<(String, Value)> {
    let Some(hooks) = root.get(&"hooks".into()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for item in hooks.list() {
        let event = item.key.clone().unwrap_or_default();
        let elements = item.value.list().iter();
        all.extend(elements.map(|element| (event.clone(), element.value.to_value())));
    }
    all
}

/// Takes away what `edits` added, and whatever else calls us; everything else
/// stays as it is.
pub fn strip(text: &str, host: Client, edits: &[Edit]) -> Result<String, MergeError> {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        if let Some(without) = undo(&text, edit)? {
            text = without;
        }
    }
    while let Some(without) = strip_one(&text, host)? {
        text = without;
    }
    // What they stood in may be empty only now.
    for edit in edits.iter().rev() {
        if matches!(edit, Edit::Container { .. } | Edit::Version { .. })
            && let Some(without) = undo(&text, edit)?
        {
            text = without;
        }
    }
    Ok(text)
}

fn undo(text: &str, edit: &Edit) -> Result<Option<String>, MergeError> {
    let root = jsonc::parse(text)?;
    Ok(match edit {
        Edit::Container { path, tail } => {
            let path: Vec<Step> = path.iter().map(|key| key.as_str().into()).collect();
            match root.at(&path) {
                Some(node) if node.list().is_empty() && has_no_comment(text, node) => {
                    jsonc::remove_added(text, &path, tail)?
                }
                _ => None,
            }
        }
        Edit::Version { tail, elements } => match self::elements(&root).len() <= *elements {
            true => jsonc::remove_added(text, &steps(&["version"]), tail)?,
            false => None,
        },
        Edit::Element { event, value, tail } => {
            let list = root.at(&steps(&["hooks", event]));
            let list = list.map(Node::list).unwrap_or_default();
            let found = list
                .iter()
                .rposition(|item| item.value.to_value() == *value);
            match found {
                Some(index) => {
                    let path = [steps(&["hooks", event]), vec![index.into()]].concat();
                    jsonc::remove_added(text, &path, tail)?
                }
                None => None,
            }
        }
        Edit::Variable { name, value, tail } => match is_still(&root, name, value) {
            true => jsonc::remove_added(text, &steps(&["env", name]), tail)?,
            false => None,
        },
        Edit::Replaced {
            name,
            value,
            before,
        } => match is_still(&root, name, value) {
            true => jsonc::replace(text, &steps(&["env", name]), before)?.map(|(text, _)| text),
            false => None,
        },
    })
}

fn is_still(root: &Node, name: &str, value: &str) -> bool {
    let there = root.at(&steps(&["env", name])).map(Node::to_value);
    there == Some(value.into())
}

/// A person's comment keeps a container where it is.
fn has_no_comment(text: &str, node: &Node) -> bool {
    let inner = text.get(node.span.start + 1..node.span.end.saturating_sub(1));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Takes away one hook of ours that no edit knows: one that a person changed,
/// or one that came with the project from elsewhere.
fn strip_one(text: &str, host: Client) -> Result<Option<String>, MergeError> {
    let root = jsonc::parse(text)?;
    let Some(hooks) = root.get(&"hooks".into()) else {
        return Ok(None);
    };
    for item in hooks.list() {
        let event = item.key.clone().unwrap_or_default();
        for (index, element) in item.value.list().iter().enumerate() {
            let element = element.value.to_value();
            let lines = hosts::commands(&element);
            let ours = |line: &str| program::called_by(line, host).is_some();
            let Some((inner, _)) = lines.iter().find(|(_, line)| ours(line)) else {
                continue;
            };
            let list = item.value.list().len();
            let mut path = vec![Step::from("hooks"), event.as_str().into()];
            // The last thing in a list takes the list with it.
            match inner {
                Some(inner) if lines.len() > 1 => {
                    path.extend([index.into(), "hooks".into(), (*inner).into()]);
                }
                _ if list > 1 => path.push(index.into()),
                _ if hooks.list().len() == 1 => drop(path.pop()),
                _ => {}
            }
            return Ok(jsonc::remove(text, &path)?);
        }
    }
    Ok(None)
}

fn steps(path: &[&str]) -> Vec<Step> {
    path.iter().map(|key| Step::from(*key)).collect()
}

fn shape(path: &[&str]) -> MergeError {
    MergeError::Shape {
        path: path.join("."),
    }
}

//! From the text of a flow file to a flow that was checked, or to everything
//! that is wrong with it.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::error::{FlowError, Problem};
use super::{Flow, check};
use crate::lang::Lang;

/// The flows that come with the program, as files of the same format.
pub const BUILT_IN: [(&str, &str); 6] = [
    ("drt", include_str!("built_in/drt.toml")),
    ("direct", include_str!("built_in/direct.toml")),
    ("planned", include_str!("built_in/planned.toml")),
    ("ralph", include_str!("built_in/ralph.toml")),
    ("architect", include_str!("built_in/architect.toml")),
    ("ui_flow", include_str!("built_in/ui_flow.toml")),
];

/// The prompts of those flows in other languages, by flow and step.
fn prompts(lang: Lang) -> Option<&'static str> {
    match lang {
        Lang::En => None,
        Lang::ZhTw => Some(include_str!("built_in/zh-TW.toml")),
        Lang::ZhCn => Some(include_str!("built_in/zh-CN.toml")),
    }
}

/// A flow that comes with the program, with its prompts in the person's
/// language (REIN-01, TMPL-07).
pub fn in_language(mut flow: Flow, lang: Lang) -> Flow {
    type Prompts = BTreeMap<String, BTreeMap<String, String>>;
    let all: Option<Prompts> = prompts(lang).and_then(|text| toml::from_str(text).ok());
    let mut own = all.and_then(|mut all| all.remove(&flow.name));
    for step in &mut flow.steps {
        let prompt = own.as_mut().and_then(|own| own.remove(&step.id));
        step.prompt = prompt.unwrap_or(std::mem::take(&mut step.prompt));
    }
    flow
}

/// Where a flow came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    /// A file of the project, as messages name it.
    File(String),
}

/// A flow that comes with the program.
pub fn built_in(name: &str) -> Option<Flow> {
    let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    read(name, text).ok()
}

/// Reads a flow file. All of its mistakes are reported.
pub fn read(file: &str, text: &str) -> Result<Flow, Vec<FlowError>> {
    let flow: Flow = toml::from_str(text).map_err(|error| {
        vec![FlowError {
            file: file.into(),
            line: error.span().map(|span| line_at(text, span.start)),
            key: String::new(),
            problem: Problem::Syntax {
                message: first_line(error.message()),
            },
        }]
    })?;
    let problems = check::problems(&flow);
    if problems.is_empty() {
        return Ok(flow);
    }
    let table = DeTable::parse(text).ok();
    let error = |(path, problem): (check::Path, Problem)| FlowError {
        file: file.into(),
        line: table
            .as_ref()
            .and_then(|table| place(table.get_ref(), &path))
            .map(|at| line_at(text, at)),
        key: path.key(&flow),
        problem,
    };
    Err(problems.into_iter().map(error).collect())
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// Where in the text a key stands; the nearest that is there.
fn place(table: &DeTable<'_>, path: &check::Path) -> Option<usize> {
    let mut found = None;
    let mut here = table;
    if let Some(step) = path.step {
        let (_, steps) = table.get_key_value("step")?;
        let one = steps.get_ref().as_array()?.get(step)?;
        found = Some(one.span().start);
        here = one.get_ref().as_table()?;
    }
    for key in &path.keys {
        let Some((name, value)) = here.get_key_value(*key) else {
            break;
        };
        found = Some(name.span().start);
        match value.get_ref() {
            DeValue::Table(inner) => here = inner,
            _ => break,
        }
    }
    found
}

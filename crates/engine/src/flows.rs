//! The flows that a project can follow: those that come with the program, and
//! its own in `.ralph/flows`.

use std::path::Path;

use ralph_core::flow::{self, Flow, FlowError, Origin, PROJECT_FLOWS, Problem, Scope};
use ralph_core::lang::{Lang, Say, said};

/// A flow by the name of its file.
#[derive(Clone, Debug)]
pub struct Listed {
    pub name: String,
    pub origin: Origin,
    pub flow: Result<Flow, Vec<FlowError>>,
}

/// Why there is no flow to follow.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum NoFlow {
    #[say("there is no flow \"{name}\"; there are {known} (see `ralph flow list`)", known = known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[say(said(_0, "\n", lang))]
    Broken(Vec<FlowError>),
    /// It is about tasks where a run was meant, or the other way round.
    #[say("the flow \"{name}\" can't be used here: it needs scope = \"{scope}\"; see `ralph flow show {name}`", scope = needs.into_str())]
    WrongScope { name: String, needs: Scope },
}

/// Every flow of the project, its own first. One of its own takes the place of
/// a built-in one of the same name.
pub fn all(root: &Path) -> Vec<Listed> {
    let mut listed = own(root);
    for (name, text) in flow::BUILT_IN {
        if listed.iter().all(|known| known.name != name) {
            listed.push(Listed {
                name: name.into(),
                origin: Origin::BuiltIn,
                flow: flow::read(name, text),
            });
        }
    }
    listed
}

fn own(root: &Path) -> Vec<Listed> {
    let dir = root.join(PROJECT_FLOWS);
    let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .collect();
    files.sort();
    files.iter().map(|path| listed(path)).collect()
}

fn listed(path: &Path) -> Listed {
    let stem = path.file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    let file = format!("{PROJECT_FLOWS}/{name}.toml");
    Listed {
        flow: read(path, &file, &name),
        origin: Origin::File(file),
        name,
    }
}

/// Reads one file; `file` is what messages call it.
fn read(path: &Path, file: &str, name: &str) -> Result<Flow, Vec<FlowError>> {
    let error = |problem| {
        vec![FlowError {
            file: file.into(),
            line: None,
            key: String::new(),
            problem,
        }]
    };
    let text = ralph_store::regular::read_to_string(path).map_err(|e| {
        error(Problem::Unreadable {
            message: e.to_string(),
        })
    })?;
    let flow = flow::read(file, &text)?;
    if flow.name != name {
        let mut errors = error(Problem::OtherName {
            name: flow.name.clone(),
            file: name.into(),
        });
        for error in &mut errors {
            error.key = "name".into();
        }
        return Err(errors);
    }
    Ok(flow)
}

/// Reads a file that is named by its path.
pub fn read_file(path: &Path) -> Result<Flow, Vec<FlowError>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    read(path, &path.display().to_string(), &stem)
}

/// The flow of that name.
pub fn find(root: &Path, name: &str, needs: Scope, lang: Lang) -> Result<Flow, NoFlow> {
    let listed = all(root);
    let known = listed.iter().map(|listed| listed.name.clone()).collect();
    let Some(found) = listed.into_iter().find(|listed| listed.name == name) else {
        return Err(NoFlow::Unknown {
            name: name.into(),
            known,
        });
    };
    let flow = found.flow.map_err(NoFlow::Broken)?;
    let flow = match found.origin {
        Origin::BuiltIn => flow::in_language(flow, lang),
        Origin::File(_) => flow,
    };
    if flow.scope == needs {
        Ok(flow)
    } else {
        Err(NoFlow::WrongScope {
            name: name.into(),
            needs,
        })
    }
}

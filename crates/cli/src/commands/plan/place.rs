//! Where a plan goes, and how it is written: as the project does it already.

use std::path::{Path, PathBuf};

use ralph_core::tasks::Format;

use crate::args::PlanFormat;

/// The file that a plan is to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: PathBuf,
    pub format: Format,
}

/// Words of a goal that name its folder.
const WORDS: usize = 5;

impl Place {
    pub fn find(root: &Path, goal: &str, wanted: Option<PlanFormat>, into: Option<&Path>) -> Place {
        let is_json = into.is_some_and(|file| file.extension().is_some_and(|e| e == "json"));
        let wanted = wanted.unwrap_or_else(|| match () {
            () if is_json => PlanFormat::Prd,
            () if into.is_some() => PlanFormat::Plain,
            () if root.join("openspec").is_dir() => PlanFormat::OpenSpec,
            () if root.join(".specify").is_dir() || root.join("specs").is_dir() => {
                PlanFormat::SpecKit
            }
            () if root.join("prd.json").is_file() => PlanFormat::Prd,
            () => PlanFormat::Plain,
        });
        let name = folder(goal);
        let (format, file) = match wanted {
            PlanFormat::OpenSpec => {
                let change = root.join("openspec/changes").join(name);
                (Format::OpenSpec, change.join("tasks.md"))
            }
            PlanFormat::SpecKit => {
                let number = next_number(&root.join("specs"));
                let spec = root.join("specs").join(format!("{number:03}-{name}"));
                (Format::SpecKit, spec.join("tasks.md"))
            }
            PlanFormat::Prd => (Format::PrdJson, root.join("prd.json")),
            PlanFormat::Plain => (Format::Plain, root.join("tasks.md")),
        };
        let into = into.map(|into| std::path::absolute(into).unwrap_or_else(|_| into.into()));
        Place {
            file: into.unwrap_or(file),
            format,
        }
    }

    /// What the agent writes in its copy.
    pub fn plan_file(&self) -> &'static str {
        match self.format {
            Format::PrdJson => "ralph-plan.json",
            _ => "ralph-plan.md",
        }
    }

    /// As people know it.
    pub fn name(&self, root: &Path) -> String {
        let inner = self.file.strip_prefix(root).unwrap_or(&self.file);
        inner.to_string_lossy().into_owned()
    }
}

/// `add-a-login-page`; a goal in a language without such letters has a plain
/// name.
fn folder(goal: &str) -> String {
    let words = goal
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(str::to_ascii_lowercase);
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "plan".into() } else { name }
}

/// The number behind those of the specs that are there.
fn next_number(specs: &Path) -> u32 {
    let entries = std::fs::read_dir(specs).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.split('-').next()?.parse::<u32>().ok()
    });
    numbers.max().unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_goes_where_the_project_keeps_its_plans() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let found = |wanted, into: Option<&str>| {
            let place = Place::find(root, "Add a login page!", wanted, into.map(Path::new));
            (place.name(root), place.format)
        };
        assert_eq!(found(None, None), ("tasks.md".into(), Format::Plain));
        std::fs::create_dir_all(root.join("specs/004-old")).unwrap();
        let spec = "specs/005-add-a-login-page/tasks.md";
        assert_eq!(found(None, None), (spec.into(), Format::SpecKit));
        std::fs::create_dir_all(root.join("openspec/changes")).unwrap();
        let change = "openspec/changes/add-a-login-page/tasks.md";
        assert_eq!(found(None, None), (change.into(), Format::OpenSpec));
        let prd = found(Some(PlanFormat::Prd), None);
        assert_eq!(prd, ("prd.json".into(), Format::PrdJson));
        assert_eq!(found(None, Some("x.json")).1, Format::PrdJson);
        assert_eq!(found(None, Some("x.md")).1, Format::Plain);
        assert_eq!(folder("登入頁面"), "plan");
    }
}

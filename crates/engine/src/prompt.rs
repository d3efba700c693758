//! What the agent is told: a template, filled in, behind what Ralph has to
//! say about the turn before.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ralph_core::flow::{self, FlowTurn, Step, Writes};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{State, TaskFacts, Turn};
use ralph_core::tasks::{Format, TaskList};
use ralph_core::template::{self, BuiltIn, PromptNote, Variables};
use ralph_core::{text, tr};

/// Where a template came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub text: String,
    /// None for the built-in one.
    pub path: Option<PathBuf>,
}

/// A template that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    pub path: PathBuf,
    pub fault: TemplateFault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateFault {
    Missing,
    /// With the system's words.
    Unreadable(String),
    /// An agent would be told nothing at all.
    Empty,
}

impl Template {
    /// The named template, else the first that the project has, else the
    /// built-in one. A named one that is missing is an error (TMPL-04), and so
    /// is one that is there and can't be read or says nothing (TMPL-02).
    pub fn find(
        root: &Path,
        named: Option<&Path>,
        built_in: (BuiltIn, Lang),
    ) -> Result<Template, TemplateError> {
        if let Some(path) = named {
            return Template::read(path)?.ok_or_else(|| TemplateError {
                path: path.into(),
                fault: TemplateFault::Missing,
            });
        }
        for place in template::PROJECT_TEMPLATES {
            if let Some(template) = Template::read(&root.join(place))? {
                return Ok(template);
            }
        }
        Ok(Template {
            text: template::built_in(built_in.0, built_in.1),
            path: None,
        })
    }

    /// `None` where there is no such file.
    fn read(path: &Path) -> Result<Option<Template>, TemplateError> {
        match ralph_store::regular::read_to_string(path) {
            Ok(text) => match text.trim_start_matches('\u{feff}') {
                text if text.trim().is_empty() => Err(TemplateError {
                    path: path.into(),
                    fault: TemplateFault::Empty,
                }),
                text => Ok(Some(Template {
                    text: text.to_owned(),
                    path: Some(path.into()),
                })),
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(TemplateError {
                path: path.into(),
                fault: TemplateFault::Unreadable(error.to_string()),
            }),
        }
    }
}

/// Everything about a run that prompts are made of.
#[derive(Clone, Debug)]
pub struct Prompter {
    pub template: Template,
    /// The text of a plain prompt.
    pub prompt: Option<String>,
    pub tasks_file: String,
    /// What the agent has to promise when all is done.
    pub promise: String,
    /// Somebody chose these words: a preset, a setting or a flag.
    pub is_promise_chosen: bool,
    /// What it has to promise when only its phase is done.
    pub phase_promise: Option<String>,
    /// What asks for another turn, and what begins a reason against one.
    pub go_on: String,
    pub blocked: String,
    pub lang: Lang,
    /// Where the phases of a flow leave their files, relative to the project.
    pub output_dir: String,
    /// What there is to read beside the task file of a spec-kit project.
    pub spec_files: String,
    /// Where the state of a delta loop stands, relative to the project.
    pub state_file: Option<String>,
}

impl Prompter {
    pub fn prompt(&self, turn: &Turn, state: &State, branch: &str) -> template::Rendered {
        let mut body = self.body(turn, state, branch);
        if let Some(file) = &self.state_file {
            let step = turn.flow.as_ref().and_then(|flow| step_of(flow, state));
            let promise = &self.promise;
            let words = match step.map(|step| step.writes) {
                // Whoever is there to look or to plan is asked to change nothing.
                Some(Writes::May | Writes::No) => tr!(
                    self.lang,
                    "The state of this work stands in {file}: read it first. Ralph keeps it; change nothing in it."
                ),
                Some(Writes::Yes) | None => tr!(
                    self.lang,
                    "The state of this work stands in {file}: read it first, and go on from there. Keep its progress, its completed and its pending work true while you work. When all of it is finished, set <promise>{promise}</promise> in it."
                ),
            };
            body.text = format!("{}\n\n{words}\n", body.text.trim_end());
        }
        template::Rendered {
            text: template::compose(&body.text, &turn.notes, self.lang),
            unknown: body.unknown,
        }
    }

    /// The same without what is said about the turn before.
    pub fn body(&self, turn: &Turn, state: &State, branch: &str) -> template::Rendered {
        let role = turn
            .flow
            .as_ref()
            .and_then(|flow| Some((flow, step_of(flow, state)?)));
        let template = match role {
            Some((_, step)) => &step.prompt,
            // The built-in ones ask for a promise.
            None if self.promise.is_empty() && self.template.path.is_none() => "{{PROMPT}}",
            None => &self.template.text,
        };
        let mut rendered = template::render(template, &self.variables(turn, state, branch));
        if let Some((flow, step)) = role {
            rendered.text = rendered.text.trim_end().to_owned() + &self.trailer(flow, step);
        }
        rendered
    }

    fn variables(&self, turn: &Turn, state: &State, branch: &str) -> Variables {
        let facts = state.tasks.facts.clone().unwrap_or_default();
        let max = state.rules.limits.max_iterations;
        let flow = turn.flow.as_ref();
        // What stands in a file is data (REIN-06).
        let clean = |text: &str| text::redact(&text::without_controls(text)).into_owned();
        let task = match (&self.prompt, &turn.task) {
            (_, Some(task)) if flow.is_some() => clean(&task.text),
            (Some(prompt), _) => prompt.clone(),
            (None, Some(task)) => clean(&task.text),
            (None, None) => String::new(),
        };
        // Where nothing is open any more, the last phase is repaired.
        let last = facts.phases.last().filter(|_| facts.pending == 0);
        let phase = turn.phase.clone().or(last.map(|phase| phase.key.clone()));
        Variables {
            phase: clean(&phase.unwrap_or_default()),
            iteration: turn.turn.to_string(),
            max_iterations: Variables::limit(u64::from(max), self.lang),
            tasks_file: self.tasks_file.clone(),
            task,
            task_id: turn.task.as_ref().map(|t| t.id.clone()).unwrap_or_default(),
            pending: facts.pending.to_string(),
            completed: facts.completed.to_string(),
            total: facts.total.to_string(),
            branch: branch.into(),
            last_failure: last_failure(&turn.notes, self.lang),
            promise: self.promise_for(turn, &facts).to_owned(),
            go_on: self.go_on.clone(),
            blocked: self.blocked.clone(),
            prompt: self.prompt.clone().unwrap_or_default(),
            role: flow
                .map(|flow| flow.role.to_uppercase())
                .unwrap_or_default(),
            risk: flow.map_or("", |flow| flow.risk.into_str()).into(),
            output_dir: self.output_dir.clone(),
            spec_files: self.spec_files.clone(),
        }
    }

    /// How to answer, with the file where people look for it.
    fn trailer(&self, turn: &FlowTurn, step: &Step) -> String {
        let output = turn.output.as_ref();
        let turn = FlowTurn {
            output: output.map(|name| format!("{}/{name}", self.output_dir)),
            ..turn.clone()
        };
        let promise = Some(self.promise.as_str()).filter(|_| step.output_optional);
        flow::trailer(&turn, promise, self.lang)
    }

    /// The agent is never asked for a promise that could not be true yet: one
    /// phase is not all there is while others are open.
    fn promise_for(&self, turn: &Turn, facts: &TaskFacts) -> &str {
        match &self.phase_promise {
            Some(phase_promise) if is_before_others(turn, facts) => phase_promise,
            _ => &self.promise,
        }
    }
}

/// The step that a turn plays, as the run's own rules have it.
fn step_of<'a>(turn: &FlowTurn, state: &'a State) -> Option<&'a Step> {
    let flow = &state.rules.flow.as_ref()?.flow;
    flow.step(flow.index_of(&turn.step)?)
}

/// Whether tasks of other phases are open beside those of the turn.
fn is_before_others(turn: &Turn, facts: &TaskFacts) -> bool {
    let phase = facts
        .phases
        .iter()
        .find(|p| Some(&p.key) == turn.phase.as_ref());
    phase.is_some_and(|p| p.total.saturating_sub(p.completed) < facts.pending)
}

fn last_failure(notes: &[PromptNote], lang: Lang) -> String {
    let failure = notes.iter().rev().find_map(|note| match note {
        PromptNote::VerifyFailed { command, output } => Some(format!("{command}\n{output}")),
        PromptNote::LastError { class, message } => {
            let message = message.say(lang);
            Some(format!("{class}: {message}"))
        }
        PromptNote::E2eFailed { reason } => Some(reason.clone()),
        PromptNote::Forge(note) => note.failure().map(|(of, said)| format!("{of}\n{said}")),
        _ => None,
    });
    failure.unwrap_or_default()
}

/// The built-in template that fits the work.
pub fn built_in_for(list: Option<&TaskList>, tasks: Option<&Path>) -> BuiltIn {
    let has_spec = || !spec_files(tasks).is_empty();
    match list {
        None => BuiltIn::Plain,
        Some(list) if list.phases.is_empty() => BuiltIn::Flat,
        Some(list) if list.format == Format::SpecKit && has_spec() => BuiltIn::SpecKit,
        Some(_) => BuiltIn::Generic,
    }
}

/// What the spec-kit flow wants beside the task file, as far as it is there.
fn spec_files(tasks: Option<&Path>) -> Vec<&'static str> {
    let beside = |name: &&str| tasks.is_some_and(|tasks| tasks.with_file_name(name).is_file());
    ["spec.md", "plan.md"].into_iter().filter(beside).collect()
}

/// The same as words in a prompt.
pub fn spec_files_in_words(tasks: Option<&Path>, lang: Lang) -> String {
    match spec_files(tasks).as_slice() {
        [first, second] => tr!(lang, "`{first}` and `{second}`"),
        [only] => format!("`{only}`"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::tasks::ReadOptions;

    const OWN: &str = ".ralph/prompt-template.md";
    const OLDER: &str = ".ralph/templates/prompt-template.md";

    /// What is found in a project with these files, each of which holds its
    /// own name.
    fn find(files: &[&str], named: Option<&str>) -> Result<Template, TemplateError> {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file).unwrap();
        }
        let named = named.map(|name| dir.path().join(name));
        let found = Template::find(dir.path(), named.as_deref(), (BuiltIn::Flat, Lang::En));
        let relative = |path: PathBuf| path.strip_prefix(dir.path()).unwrap().to_owned();
        found
            .map(|template| Template {
                path: template.path.map(relative),
                ..template
            })
            .map_err(|error| TemplateError {
                path: relative(error.path),
                ..error
            })
    }

    fn check(files: &[&str], named: Option<&str>, want: &str) {
        let template = find(files, named).unwrap();
        assert_eq!(template.text, want);
        assert_eq!(template.path.as_deref(), Some(Path::new(want)));
    }

    #[test]
    fn templates_are_looked_for_in_order() {
        check(&["mine.md", OWN, OLDER], Some("mine.md"), "mine.md");
        check(&[OWN, OLDER], None, OWN);
        check(&[OLDER], None, OLDER);
        let built_in = find(&["prompt-template.md"], None).unwrap();
        assert_eq!(built_in.text, template::built_in(BuiltIn::Flat, Lang::En));
        assert_eq!(built_in.path, None);
    }

    /// TMPL-03.
    #[test]
    fn the_template_of_spec_kit_names_only_files_that_are_there() {
        let text = b"## Phase 1: Form\n- [ ] T001 Add the form\n";
        let list = ralph_core::tasks::read("tasks.md", text, &ReadOptions::default()).unwrap();
        assert_eq!(list.format, Format::SpecKit);
        let dir = tempfile::tempdir().unwrap();
        let tasks = dir.path().join("tasks.md");
        let seen = || {
            let kind = built_in_for(Some(&list), Some(&tasks));
            (kind, spec_files_in_words(Some(&tasks), Lang::En))
        };
        assert_eq!(seen(), (BuiltIn::Generic, String::new()));
        std::fs::write(dir.path().join("plan.md"), "").unwrap();
        assert_eq!(seen(), (BuiltIn::SpecKit, "`plan.md`".into()));
        std::fs::write(dir.path().join("spec.md"), "").unwrap();
        assert_eq!(seen(), (BuiltIn::SpecKit, "`spec.md` and `plan.md`".into()));
    }

    #[test]
    fn a_named_template_must_be_there() {
        let error = find(&[OWN, OLDER], Some("mine.md")).unwrap_err();
        assert_eq!(error.path, Path::new("mine.md"));
        assert_eq!(error.fault, TemplateFault::Missing);
    }

    #[test]
    fn a_template_that_is_there_must_be_readable() {
        let error = find(&[&format!("{OWN}/x"), OLDER], None).unwrap_err();
        assert_eq!(error.path, Path::new(OWN));
        assert!(matches!(error.fault, TemplateFault::Unreadable(_)));
    }

    /// An empty one would be the whole prompt (TMPL-02).
    #[test]
    fn a_template_must_say_something() {
        let dir = tempfile::tempdir().unwrap();
        let built_in = (BuiltIn::Flat, Lang::En);
        for (file, named) in [("mine.md", true), (OWN, false), (OLDER, false)] {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            for text in ["", " \n\t\n", "\u{feff}\n"] {
                std::fs::write(&path, text).unwrap();
                let named = named.then_some(path.as_path());
                let error = Template::find(dir.path(), named, built_in).unwrap_err();
                assert_eq!(error.path, path);
                assert_eq!(error.fault, TemplateFault::Empty);
            }
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_last_failure_is_the_newest_note_about_one() {
        let verify = PromptNote::VerifyFailed {
            command: "npm test".into(),
            output: "1 failed".into(),
        };
        let error = PromptNote::LastError {
            class: "agent_exec".into(),
            message: "exit 1".into(),
        };
        let other = PromptNote::TasksShrank {
            removed: vec!["T001".into()],
        };
        for (notes, want) in [
            (vec![], ""),
            (vec![other.clone()], ""),
            (vec![verify.clone(), other.clone()], "npm test\n1 failed"),
            (vec![verify, error, other], "agent_exec: exit 1"),
        ] {
            assert_eq!(last_failure(&notes, Lang::En), want);
        }
    }
}

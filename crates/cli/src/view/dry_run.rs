//! What would be done (LOOP-08).

use std::fmt;

use ralph_core::display::Screen;
use ralph_core::lang::{Lang, Say};
use ralph_core::tasks::Scope;
use ralph_core::text;
use ralph_core::tr;
use ralph_engine::agents::Agent;
use ralph_engine::announcement::Announcement;
use ralph_engine::before;
use ralph_engine::plan::Plan;
use ralph_engine::rehearse::first_prompt;
use serde_json::{Value, json};

use crate::install::manifest::{How, Manifest};

#[derive(Debug)]
pub struct DryRun<'a> {
    pub plan: &'a Plan,
    pub screen: &'a Screen,
}

impl DryRun<'_> {
    pub fn to_json(&self) -> Value {
        let plan = self.plan;
        let counts = plan
            .list
            .as_ref()
            .map(|l| l.counts(&plan.scope))
            .unwrap_or_default();
        json!({
            "dry_run": true,
            "root": plan.layout.root(),
            "agent": plan.agents.first().map(Agent::name),
            "agents": plan.rules.agents,
            "command": plan.agents.first().map(Agent::command_line),
            "tasks_file": plan.tasks.as_ref().map(|t| t.path.clone()),
            "tasks": {"total": counts.total, "completed": counts.completed, "pending": counts.pending},
            "phase": self.phase(),
            "max_iterations": plan.rules.limits.max_iterations,
            "verify": plan.verifier.as_ref().map(|v| v.commands.clone()).unwrap_or_default(),
            "template": plan.prompter.template.path,
            "prompt": plan.prompter.prompt,
            "agent_missing": plan.announcements.iter().any(is_missing),
            "first_prompt": first_prompt(plan),
            "outward": plan.outward(),
            "notify": plan.notifier.is_on().then(|| json!({
                "ways": plan.notifier.ways.iter().map(|way| way.say(Lang::En)).collect::<Vec<_>>(),
                "on": plan.notifier.on,
            })),
            "flow": plan.rules.flow.as_ref().map(|rules| rules.flow.name.as_str()),
            "hooks_installed": plan.agents.iter().all(Agent::is_guarded) || !self.installed().is_empty(),
        })
    }

    /// The settings of clients that `ralph init` has put its hooks into.
    fn installed(&self) -> Vec<String> {
        let manifest = Manifest::load(self.plan.layout.root()).ok().flatten();
        let files = manifest.into_iter().flat_map(|manifest| manifest.files);
        let hooks = files.filter(|file| matches!(file.how, How::Merged { .. }));
        hooks
            .map(|file| file.path)
            .filter(|path| self.plan.layout.root().join(path).is_file())
            .collect()
    }

    /// The phase that the run would begin with.
    fn phase(&self) -> Option<String> {
        let list = self.plan.list.as_ref()?;
        let scope = Scope {
            phase: self.plan.scope.phase.clone(),
            ..Scope::default()
        };
        list.current_phase(&scope)
            .and_then(|i| list.phases.get(i))
            .map(|p| p.key.clone())
    }

    /// What there is to do.
    fn work(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, lang) = (self.plan, self.screen.lang);
        match &plan.tasks {
            Some(_) => writeln!(f, "\n{}", tr!(lang, "Tasks:"))?,
            None => writeln!(f, "\n{}", tr!(lang, "Prompt:"))?,
        }
        match (&plan.tasks, &plan.list) {
            (Some(file), Some(list)) => {
                let counts = list.counts(&plan.scope);
                let (name, format) = (&file.name, list.format.into_str());
                let (total, completed, pending) = (counts.total, counts.completed, counts.pending);
                writeln!(f, "  {name} ({format})")?;
                let line = tr!(lang, "{completed}/{total} done, {pending} to do");
                writeln!(f, "  {line}")?;
                if let Some(phase) = self.phase() {
                    writeln!(f, "  Phase {phase}")?;
                }
            }
            _ => writeln!(
                f,
                "  {}",
                plan.prompter.prompt.as_deref().unwrap_or_default()
            )?,
        }
        Ok(())
    }
}

fn is_missing(announcement: &Announcement) -> bool {
    matches!(announcement, Announcement::AgentMissing { .. })
}

impl fmt::Display for DryRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, lang) = (self.plan, self.screen.lang);
        let limits = &plan.rules.limits;
        writeln!(f, "{}", tr!(lang, "Configuration:"))?;
        let root = plan.layout.root().display();
        writeln!(f, "  {}", tr!(lang, "project: {root}"))?;
        let iterations = match limits.max_iterations {
            0 => tr!(lang, "iterations: unlimited"),
            max => tr!(lang, "iterations: at most {max}"),
        };
        writeln!(f, "  {iterations}")?;
        let template = match &plan.prompter.template.path {
            Some(path) => path.display().to_string(),
            None => tr!(lang, "built in"),
        };
        writeln!(f, "  {}", tr!(lang, "template: {template}"))?;
        match &plan.verifier {
            Some(verifier) => {
                let mut commands = verifier.commands.clone();
                for own in plan.rules.checks.tasks.values().flatten() {
                    if !commands.contains(own) {
                        commands.push(own.clone());
                    }
                }
                let commands = commands.join(" && ");
                writeln!(f, "  {}", tr!(lang, "verification: {commands}"))?;
            }
            None => writeln!(f, "  {}", tr!(lang, "verification: none"))?,
        }
        if plan.notifier.is_on() {
            let ways: Vec<String> = plan.notifier.ways.iter().map(|way| way.say(lang)).collect();
            let topics: Vec<&str> = plan.notifier.on.iter().map(Into::into).collect();
            let (ways, topics) = (ways.join(", "), topics.join(", "));
            writeln!(f, "  {}", tr!(lang, "notifications: {ways} ({topics})"))?;
        }
        if let Some(rules) = &plan.rules.flow {
            let name = &rules.flow.name;
            let flow = tr!(lang, "flow: {name}");
            writeln!(f, "  {flow}")?;
        }
        let warnings = before::warnings(plan, None);
        for announcement in plan.announcements.iter().chain(&warnings) {
            writeln!(f, "  {}", announcement.say(lang))?;
        }
        self.work(f)?;
        writeln!(f, "\n{}", tr!(lang, "Command that would run:"))?;
        for agent in &plan.agents {
            writeln!(f, "  {}", agent.command_line())?;
        }
        let outward = plan.outward();
        if !outward.is_empty() {
            let heading = tr!(lang, "Commands that may go outward, when the time comes:");
            writeln!(f, "\n{heading}")?;
        }
        for command in outward {
            writeln!(f, "  {command}")?;
        }
        if let Some(prompt) = first_prompt(plan) {
            writeln!(f, "\n{}", tr!(lang, "Prompt of the first turn:"))?;
            for line in text::sanitize(&prompt).lines() {
                writeln!(f, "  │ {line}")?;
            }
        }
        writeln!(f, "\n{}", tr!(lang, "Hooks (safety guard):"))?;
        let installed = self.installed();
        let is_guarded = plan.agents.iter().all(Agent::is_guarded);
        if is_guarded {
            write!(f, "  {}", tr!(lang, "for this run"))?;
        }
        match installed.is_empty() {
            true if is_guarded => Ok(()),
            true => write!(f, "  {}", tr!(lang, "not installed")),
            false => {
                let files = installed.join(", ");
                let line = tr!(lang, "installed by `ralph init`: {files}");
                let newline = if is_guarded { "\n" } else { "" };
                write!(f, "{newline}  {line}")
            }
        }
    }
}

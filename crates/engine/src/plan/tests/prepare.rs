//! From settings to a plan, or to the reason why there is none.

use ralph_core::tasks::Pick;
use std::path::{Path, PathBuf};

use ralph_core::config::{self, NamedText, Settings, Sources};
use ralph_core::lang::Lang;
use ralph_core::machine::{BudgetKind, Goal};

use super::{DONE, OPEN, Project};
use crate::agents::Agent;
use crate::announcement::{Announcement, Unguarded};
use crate::look::ReadError;
use crate::plan::{Asked, Plan, PlanError, Wanted, prepare};

fn settings(toml: &str) -> Settings {
    let own_file = Some(NamedText {
        name: "config.toml".into(),
        text: toml.into(),
    });
    let sources = Sources {
        own_file,
        ..Sources::default()
    };
    config::load(&sources).unwrap().settings
}

const SH: &str = "agent = { name = \"custom\", command = \"sh\" }\n";

fn wanted(project: &Project) -> Wanted {
    asking(project, Asked::default())
}

fn asking(project: &Project, asked: Asked) -> Wanted {
    asking_in(project.root(), asked)
}

fn asking_in(root: &Path, asked: Asked) -> Wanted {
    Wanted {
        asked,
        ..Wanted::new(crate::layout_in(root), Lang::En, PathBuf::new())
    }
}

fn plan(project: &Project, toml: &str) -> Result<Plan, PlanError> {
    prepare(&settings(&format!("{SH}{toml}")), &wanted(project))
}

#[test]
fn tasks_make_a_plan() {
    let project = Project::with(&[("specs/a/tasks.md", OPEN)]);
    let plan = plan(&project, "verify.commands = [\"true\"]").unwrap();
    assert_eq!(plan.rules.goal, Goal::Tasks { phase: None });
    assert_eq!(plan.tasks.unwrap().name, "specs/a/tasks.md");
    assert_eq!(plan.list.unwrap().tasks.len(), 2);
    assert_eq!(plan.prompter.tasks_file, "specs/a/tasks.md");
    assert_eq!(plan.verifier.unwrap().commands, ["true"]);
    assert_eq!(
        plan.announcements,
        [Announcement::NotAGitProject {
            root: project.root().into()
        }]
    );
}

#[test]
fn a_prompt_makes_a_plan_without_tasks() {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let prompting = |prompt: &str| {
        let asked = Asked {
            prompt: Some(prompt.into()),
            ..Asked::default()
        };
        prepare(&settings(SH), &asking(&project, asked))
    };
    let plan = prompting("repair it").unwrap();
    assert_eq!(plan.rules.goal, Goal::Prompt);
    assert!(plan.tasks.is_none() && plan.list.is_none());
    assert_eq!(plan.prompter.prompt.as_deref(), Some("repair it"));
    assert!(plan.announcements.contains(&Announcement::OnlyWords));

    for prompt in ["", " \n"] {
        assert_eq!(prompting(prompt).unwrap_err(), PlanError::EmptyPrompt);
    }
}

#[test]
fn a_named_file_comes_before_what_is_found() {
    let files = [
        ("specs/a/tasks.md", OPEN),
        ("docs/todo.md", DONE),
        ("openspec/changes/x/tasks.md", OPEN),
    ];
    let project = Project::with(&files);
    let named = plan(&project, "tasks.file = \"docs/todo.md\"").unwrap();
    assert_eq!(named.tasks.unwrap().name, "docs/todo.md");

    let asked = Asked {
        openspec: Some("x".into()),
        ..Asked::default()
    };
    let plan = prepare(&settings(SH), &asking(&project, asked)).unwrap();
    assert_eq!(plan.tasks.unwrap().name, "openspec/changes/x/tasks.md");
}

#[test]
fn the_choice_among_several_is_announced() {
    let project = Project::with(&[("specs/a/tasks.md", OPEN), ("specs/b/tasks.md", OPEN)]);
    let wanted = Wanted {
        interactive: true,
        ..wanted(&project)
    };
    let plan = prepare(&settings(SH), &wanted).unwrap();
    assert_eq!(
        plan.announcements[0],
        Announcement::Chosen {
            file: "specs/b/tasks.md".into(),
            others: vec!["specs/a/tasks.md".into()],
        }
    );
}

#[test]
fn a_phase_narrows_the_scope() {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let plan = |toml| plan(&project, toml);
    let planned = plan("tasks.phase = \"1\"").unwrap();
    assert_eq!(planned.scope.phase.as_deref(), Some("1"));
    assert_eq!(
        plan("tasks.phase = \"7\"").unwrap_err(),
        PlanError::NoSuchPhase {
            phase: "7".into(),
            known: vec!["1".into()],
            file: "tasks.md".into(),
        }
    );
}

#[test]
fn what_can_t_be_worked_on_is_told_before_it_begins() {
    let cycle = "## 1. Work\n- [ ] 1.1 a | depends: 1.2\n- [ ] 1.2 b | depends: 1.1\n";
    let error = plan(&Project::with(&[("tasks.md", cycle)]), "").unwrap_err();
    let PlanError::Unpickable(unpickable) = error else {
        panic!("{error:?}");
    };
    assert_eq!(unpickable.file, "tasks.md");
    assert!(matches!(unpickable.pick, Pick::Cycle { .. }));

    let lost = "## 1. Work\n- [ ] 1.1 a | depends: 9.9\n";
    let error = plan(&Project::with(&[("tasks.md", lost)]), "").unwrap_err();
    let PlanError::Unpickable(unpickable) = error else {
        panic!("{error:?}");
    };
    assert!(matches!(unpickable.pick, Pick::Blocked { .. }));
}

/// Nothing to do is an error and no reason to call an agent (LOOP-05,
/// TASK-14), wherever the list was found.
#[test]
fn a_list_with_nothing_but_optional_tasks_is_refused() {
    const FILE: &str = ".ralph/fix_plan.md";
    for (text, toml, is_refused) in [
        ("## Optional\n- [ ] a\n", "", true),
        (
            "## Future\n- [x] a\n",
            "tasks.file = \".ralph/fix_plan.md\"",
            true,
        ),
        (
            "## Later\n- [ ] a\n",
            "tasks.optional_sections = [\"Later\"]",
            true,
        ),
        (
            "## Optional\n- [ ] a\n",
            "tasks.optional_sections = []",
            false,
        ),
        ("## High\n- [x] b\n\n## Optional\n- [ ] a\n", "", false),
    ] {
        let planned = plan(&Project::with(&[(FILE, text)]), toml);
        let refused = matches!(&planned, Err(PlanError::OnlyOptional { file, .. }) if file == FILE);
        assert_eq!(refused, is_refused, "{text}{toml}");
        assert_eq!(planned.is_err(), is_refused, "{text}{toml}");
    }
}

/// What is known of a task is known by its id (TASK-04, PROM-11).
#[test]
fn a_list_with_two_tasks_of_one_id_is_refused() {
    let doubled = "# T\n- [ ] T001 a | verify: test -f a\n\n- [ ] T001 b\n";
    let error = plan(&Project::with(&[("tasks.md", doubled)]), "").unwrap_err();
    let want = PlanError::DoubledId {
        file: "tasks.md".into(),
        id: "T001".into(),
        first_line: 2,
        line: 4,
    };
    assert_eq!(error, want);
}

fn check_error(toml: &str, want: &PlanError) {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let error = prepare(&settings(toml), &wanted(&project)).unwrap_err();
    assert_eq!(&error, want, "{toml}");
}

#[test]
fn the_agent_is_checked_before_it_begins() {
    check_error(
        "agent = { name = \"nobody\" }",
        &PlanError::UnknownAgent {
            name: "nobody".into(),
        },
    );
    check_error("agent = { name = \"custom\" }", &PlanError::NoCommand);
    check_error(
        "agent = { name = \"custom\", command = \"sh 'x\" }",
        &PlanError::BadCommand {
            line: "sh 'x".into(),
            error: crate::agents::SplitError::OpenQuote('\''),
        },
    );
    for name in ["custom", "claude"] {
        check_error(
            &format!("agent = {{ name = \"{name}\", command = \"./nobody\" }}"),
            &PlanError::AgentNotFound {
                program: "./nobody".into(),
            },
        );
    }
}

/// How `claude`, which has hooks, or `amp`, which has none, would be started.
fn guarded(name: &str, more: &str) -> Result<(bool, bool, Vec<Announcement>), PlanError> {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let toml = format!("agent.name = \"{name}\"\nagent.command = \"sh\"\n{more}");
    let plan = prepare(&settings(&toml), &wanted(&project))?;
    let agent = &plan.agents[0];
    let skips = matches!(agent, Agent::Known(_, options) if options.skips_permissions());
    let guarded = agent.is_guarded();
    let of_guard = plan.announcements.into_iter().filter(|a| {
        matches!(
            a,
            Announcement::Guarded { .. }
                | Announcement::Unguarded { .. }
                | Announcement::PermissionsKept
        )
    });
    Ok((skips, guarded, of_guard.collect()))
}

#[test]
fn permissions_are_only_skipped_with_a_guard_or_the_person_s_word() {
    use Unguarded::*;
    let with_guard = vec![Announcement::Guarded { agent: "claude" }];
    assert_eq!(guarded("claude", ""), Ok((true, true, with_guard)));
    for (name, more, why) in [
        ("claude", "guard.enabled = false", SwitchedOff),
        ("amp", "", NoHooks),
    ] {
        let agent = if name == "amp" { "amp" } else { "claude" };
        assert_eq!(
            guarded(name, more),
            Err(PlanError::Unguarded { agent, why })
        );
        let allowed = format!("agent.allow_unsafe = true\n{more}");
        let told = vec![Announcement::Unguarded { agent, why }];
        assert_eq!(guarded(name, &allowed), Ok((true, false, told)));
        let asking = format!("agent.permissions = \"default\"\n{more}");
        let told = vec![Announcement::PermissionsKept];
        assert_eq!(guarded(name, &asking), Ok((false, false, told)));
    }
}

#[test]
fn a_chain_has_one_command_and_every_budget_is_measured() {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let chain = "agents = [\"claude\", \"custom\"]\nagent.command = \"sh\"";
    // The command is the custom agent's, so that Claude's is its usual one.
    let agents = prepare(&settings(chain), &wanted(&project)).map(|plan| plan.rules.agents);
    let usual = crate::agents::find_program("claude".as_ref(), project.root());
    let program = "claude".into();
    let want = match usual {
        Some(_) => Ok(vec!["claude".into(), "custom".into()]),
        None => Err(PlanError::AgentNotFound { program }),
    };
    assert_eq!(agents, want);
    for (budget, kind) in [
        ("budget.max_cost = \"1usd\"", BudgetKind::Cost),
        ("budget.turn_cost = \"1usd\"", BudgetKind::Cost),
        ("budget.max_tokens = 1", BudgetKind::Tokens),
        ("budget.turn_tokens = 1", BudgetKind::Tokens),
    ] {
        let agent = "custom";
        let toml = format!("{SH}\n{budget}");
        check_error(&toml, &PlanError::Unmeasured { agent, kind });
    }
}

#[test]
fn missing_things_are_errors() {
    let project = Project::with(&[("tasks.md", OPEN)]);
    let error = plan(&project, "tasks.file = \"gone.md\"").unwrap_err();
    let missing = ReadError::Missing {
        file: "gone.md".into(),
    };
    assert_eq!(error, PlanError::Tasks(missing));

    let root = PathBuf::from("/no/such/project");
    let nowhere = asking_in(&root, Asked::default());
    let error = prepare(&settings(SH), &nowhere).unwrap_err();
    assert_eq!(error, PlanError::RootMissing { root });

    let no_template = Asked {
        template: Some(project.path("gone-template.md")),
        ..Asked::default()
    };
    let error = prepare(&settings(SH), &asking(&project, no_template)).unwrap_err();
    let PlanError::Template(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.path, project.path("gone-template.md"));
}

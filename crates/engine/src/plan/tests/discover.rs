//! Which task file is taken (TASK-01).

use ralph_core::config::TaskSource;
use ralph_core::tasks::{ReadOptions, TaskError};

use super::{DONE, OPEN, Project};
use crate::look::ReadError;
use crate::plan::PlanError;
use crate::plan::discover::{Found, openspec_change, task_file};

const OPENSPEC: &str = "## 1. Work\n- [ ] 1.1 open\n";
const PRD: &str = r#"{"project":"p","branchName":"b","description":"d","userStories":[{"id":"US-001","title":"t","description":"d","acceptanceCriteria":[],"priority":1,"passes":false,"notes":""}]}"#;
const FIX_PLAN: &str = "## High Priority\n- [ ] repair it\n";
const PLAIN: &str = "- [ ] do it\n";

fn find(project: &Project, source: TaskSource, interactive: bool) -> Result<Found, PlanError> {
    task_file(project.root(), source, &ReadOptions::default(), interactive)
}

fn check(files: &[(&str, &str)], source: TaskSource, want: &str, others: &[&str]) {
    let project = Project::with(files);
    let found = find(&project, source, true).unwrap();
    assert_eq!(found.tasks.file.name, want, "{files:?}");
    assert_eq!(found.others, others, "{files:?}");
    assert_eq!(found.tasks.file.path, project.path(want));
    assert_eq!(
        found.tasks.bytes,
        std::fs::read(project.path(want)).unwrap()
    );
    assert!(!found.tasks.list.tasks.is_empty());
}

fn check_auto(files: &[(&str, &str)], want: &str, others: &[&str]) {
    check(files, TaskSource::Auto, want, others);
}

#[test]
fn the_places_have_an_order() {
    // Whatever is newest, the first place wins; each round takes it away.
    let places = [
        (".ralph/fix_plan.md", FIX_PLAN),
        ("prd.json", PRD),
        ("openspec/changes/add-login/tasks.md", OPENSPEC),
        ("tasks.md", OPEN),
        (".specify/001-a/tasks.md", OPEN),
        ("specs/001-a/tasks.md", OPEN),
    ];
    for last in (1..=places.len()).rev() {
        check_auto(&places[..last], places[last - 1].0, &[]);
    }
    let newest_first: Vec<_> = places.into_iter().rev().collect();
    check_auto(&newest_first, "specs/001-a/tasks.md", &[]);
}

#[test]
fn nothing_else_is_a_task_file() {
    for other in [
        "specs/tasks.md",
        "specs/a/b/tasks.md",
        "specs/a/plan.md",
        "TASKS.txt",
        "openspec/tasks.md",
        "openspec/changes/tasks.md",
        ".ralph/prd.json",
        "fix_plan.md",
    ] {
        let project = Project::with(&[(other, OPEN)]);
        let want = PlanError::NoTaskFile {
            root: project.root().into(),
        };
        assert_eq!(find(&project, TaskSource::Auto, true).unwrap_err(), want);
    }
}

#[test]
fn somebody_who_looks_gets_the_newest_unfinished() {
    let files = [
        ("specs/a/tasks.md", OPEN),
        ("specs/c/tasks.md", OPEN),
        ("specs/b/tasks.md", OPEN),
        ("specs/d/tasks.md", DONE),
    ];
    check_auto(
        &files,
        "specs/b/tasks.md",
        &["specs/c/tasks.md", "specs/a/tasks.md"],
    );
}

#[test]
fn nobody_is_guessed_for() {
    let files = [("specs/a/tasks.md", OPEN), ("specs/b/tasks.md", OPEN)];
    let project = Project::with(&files);
    assert_eq!(
        find(&project, TaskSource::Auto, false).unwrap_err(),
        PlanError::Ambiguous {
            files: vec!["specs/b/tasks.md".into(), "specs/a/tasks.md".into()],
        }
    );
    // One that is open beside finished ones is no guess.
    let files = [("specs/a/tasks.md", OPEN), ("specs/b/tasks.md", DONE)];
    let found = find(&Project::with(&files), TaskSource::Auto, false).unwrap();
    assert_eq!(found.tasks.file.name, "specs/a/tasks.md");
    // Neither are files in different places.
    let files = [("specs/a/tasks.md", OPEN), ("tasks.md", OPEN)];
    let found = find(&Project::with(&files), TaskSource::Auto, false).unwrap();
    assert_eq!(found.tasks.file.name, "specs/a/tasks.md");
}

#[test]
fn an_unfinished_list_comes_before_a_finished_one() {
    check_auto(
        &[("specs/a/tasks.md", DONE), ("prd.json", PRD)],
        "prd.json",
        &[],
    );
    check_auto(
        &[("tasks.md", DONE), ("specs/a/tasks.md", DONE)],
        "specs/a/tasks.md",
        &[],
    );
}

#[test]
fn the_archive_is_never_taken() {
    let archived = [
        ("openspec/changes/archive/tasks.md", OPENSPEC),
        ("openspec/changes/archive/2026-01-01-x/tasks.md", OPENSPEC),
    ];
    let project = Project::with(&archived);
    assert!(matches!(
        find(&project, TaskSource::OpenSpec, true),
        Err(PlanError::NoTaskFile { .. })
    ));
    // A feature may have that name.
    check_auto(
        &[("specs/archive/tasks.md", OPEN)],
        "specs/archive/tasks.md",
        &[],
    );
}

#[test]
fn a_source_takes_its_own_files() {
    let files = [
        ("specs/a/tasks.md", OPEN),
        ("tasks.md", PLAIN),
        ("openspec/changes/x/tasks.md", OPENSPEC),
        ("prd.json", PRD),
        (".ralph/fix_plan.md", FIX_PLAN),
    ];
    for (source, want) in [
        (TaskSource::SpecKit, "specs/a/tasks.md"),
        (TaskSource::Plain, "tasks.md"),
        (TaskSource::OpenSpec, "openspec/changes/x/tasks.md"),
        (TaskSource::Prd, "prd.json"),
        (TaskSource::FixPlan, ".ralph/fix_plan.md"),
        (TaskSource::Auto, "specs/a/tasks.md"),
    ] {
        check(&files, source, want, &[]);
    }
    check(&[("tasks.md", OPEN)], TaskSource::SpecKit, "tasks.md", &[]);
    check(
        &[("tasks.md", OPENSPEC)],
        TaskSource::OpenSpec,
        "tasks.md",
        &[],
    );
}

#[test]
fn a_file_that_can_t_be_used_is_an_error_and_not_passed_over() {
    let empty =
        |file: &str| PlanError::Tasks(ReadError::Task(TaskError::Empty { file: file.into() }));
    for (source, file) in [
        (TaskSource::Auto, "specs/a/tasks.md"),
        (TaskSource::SpecKit, "specs/a/tasks.md"),
        (TaskSource::SpecKit, ".specify/a/tasks.md"),
        (TaskSource::OpenSpec, "openspec/changes/a/tasks.md"),
        (TaskSource::Plain, "tasks.md"),
    ] {
        let project = Project::with(&[(file, ""), (".ralph/fix_plan.md", FIX_PLAN)]);
        assert_eq!(find(&project, source, false).unwrap_err(), empty(file));
    }
    // It is none of this source's business, though.
    check(
        &[("specs/a/tasks.md", ""), ("prd.json", PRD)],
        TaskSource::Prd,
        "prd.json",
        &[],
    );
}

#[test]
fn a_directory_in_the_place_of_a_file_is_an_error_too() {
    let project = Project::with(&[("specs/a/tasks.md/x", ""), ("tasks.md", OPEN)]);
    let want = PlanError::Tasks(ReadError::NotAFile {
        file: "specs/a/tasks.md".into(),
    });
    let found = find(&project, TaskSource::Auto, false);
    assert_eq!(found.unwrap_err(), want);
}

#[test]
fn a_change_is_named_by_its_id() {
    let project = Project::with(&[
        ("openspec/changes/add-login/tasks.md", OPENSPEC),
        ("openspec/changes/0.2/tasks.md", OPENSPEC),
        ("openspec/changes/no-tasks/proposal.md", ""),
        ("openspec/changes/archive/tasks.md", OPENSPEC),
        ("openspec/changes/archive/old/tasks.md", OPENSPEC),
        ("openspec/changes/tasks.md", OPENSPEC),
        ("openspec/tasks.md", OPENSPEC),
        ("tasks.md", OPENSPEC),
    ]);
    for id in ["add-login", "0.2"] {
        let path = openspec_change(project.root(), id).unwrap();
        assert_eq!(
            path,
            project.path(&format!("openspec/changes/{id}/tasks.md"))
        );
    }
    let absolute = project.path("openspec/changes/add-login");
    for id in [
        "",
        ".",
        "..",
        "../..",
        "../changes/add-login",
        "./add-login",
        "add-login/",
        "add-login/.",
        "archive",
        "archive/old",
        "a\\b",
        "nobody",
        "no-tasks",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(
            openspec_change(project.root(), id).unwrap_err(),
            PlanError::NoSuchChange {
                id: id.into(),
                known: vec!["0.2".into(), "add-login".into(), "no-tasks".into()],
            }
        );
    }
}

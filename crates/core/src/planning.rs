//! Lists that can be proven: what an agent is asked for when it plans, and
//! what is wrong with the plan that it makes.
//!
//! A check that is green before anything was done proves nothing, so that each
//! is run once and has to be red. Running them is the caller's work.

use std::collections::BTreeMap;

use crate::lang::{Lang, Say};
use crate::tasks::{Format, Severity, Task, TaskList};
use crate::text;
use crate::tr;

/// More tasks than this are no plan that a person can look through.
pub const MOST_TASKS: usize = 200;
/// A task that needs more words than this is not small.
pub const LONGEST_TASK: usize = 400;
/// A shell's words for "no such program" and "not executable".
const NOT_RUN: [i32; 2] = [126, 127];

/// What came of a check that was run once, before any work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    Exit {
        code: i32,
        output: String,
    },
    /// It did not end in its time.
    Endless,
    /// The guard would not let an agent run it.
    Refused {
        reason: String,
    },
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Say)]
pub enum PlanProblem {
    #[say(
        "task {task} has no check: add `| verify: COMMAND`, a command that fails now and passes when the task is done"
    )]
    NoCheck { task: String },
    #[say(
        "`{command}` (task {task}) passes already: it proves nothing; write a check that fails until the task is done"
    )]
    Green { task: String, command: String },
    #[say(
        "`{command}` (task {task}) is no command that can be run here: {words}; use what this project has"
    )]
    Missing {
        task: String,
        command: String,
        words: String,
    },
    #[say("`{command}` (task {task}) did not end in its time; name a smaller check")]
    Endless { task: String, command: String },
    #[say("`{command}` (task {task}) is not allowed: {reason}")]
    Refused {
        task: String,
        command: String,
        reason: String,
    },
    #[say("task {task} is ticked, and nothing was done yet; leave its box empty")]
    Done { task: String },
    #[say("task {task} has {length} characters; split it into smaller ones")]
    Long { task: String, length: usize },
    #[say("{count} tasks are more than a person can look through; plan at most {most}")]
    Many { count: usize, most: usize },
    /// What `ralph tasks lint` says.
    #[say("line {line}: {words}")]
    Doubt { line: usize, words: String },
}

/// What is wrong with the list itself, before anything is run. `lang` is that
/// of the words of the reader of task files.
pub fn problems(list: &TaskList, lang: Lang) -> Vec<PlanProblem> {
    let doubts = list.lint().into_iter();
    let mut found: Vec<PlanProblem> = doubts
        .filter(|finding| finding.kind.severity() >= Severity::Warning)
        .map(|finding| PlanProblem::Doubt {
            line: finding.line,
            words: finding.say(lang),
        })
        .collect();
    if list.tasks.len() > MOST_TASKS {
        found.push(PlanProblem::Many {
            count: list.tasks.len(),
            most: MOST_TASKS,
        });
    }
    let checks = list.checks(&Default::default());
    for task in list.tasks.iter().filter(|task| !task.optional) {
        let id = || task.id.clone();
        let length = task.text.chars().count();
        if !checks.contains_key(&task.id) {
            found.push(PlanProblem::NoCheck { task: id() });
        }
        if task.done {
            found.push(PlanProblem::Done { task: id() });
        }
        if length > LONGEST_TASK {
            found.push(PlanProblem::Long { task: id(), length });
        }
    }
    found
}

/// Every check of a list once, with the first task that asks for it.
pub fn checks(list: &TaskList) -> Vec<(String, String)> {
    let of_tasks = list.checks(&Default::default());
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut order = Vec::new();
    let ids = list.tasks.iter().map(|task: &Task| &task.id);
    for id in ids {
        for command in of_tasks.get(id).into_iter().flatten() {
            if !first.contains_key(command) {
                first.insert(command.clone(), id.clone());
                order.push((id.clone(), command.clone()));
            }
        }
    }
    order
}

/// What a check that was tried says against the plan; `None` where it is red,
/// as it has to be.
pub fn judge(task: &str, command: &str, tried: &Tried) -> Option<PlanProblem> {
    let (task, command) = (task.to_owned(), command.to_owned());
    match tried {
        Tried::Exit { code: 0, .. } => Some(PlanProblem::Green { task, command }),
        Tried::Exit { code, output } if NOT_RUN.contains(code) => Some(PlanProblem::Missing {
            task,
            command,
            words: text::excerpt(text::one_line(output).trim(), 200).into_owned(),
        }),
        Tried::Exit { .. } => None,
        Tried::Endless => Some(PlanProblem::Endless { task, command }),
        Tried::Refused { reason } => Some(PlanProblem::Refused {
            task,
            command,
            reason: reason.clone(),
        }),
    }
}

/// What the agent is asked for. Agents read English; the goal stays in the
/// person's own words, and so do the tasks.
pub fn prompt(goal: &str, file: &str, format: Format, checks: &[String]) -> String {
    let known = match checks {
        [] => String::new(),
        checks => format!(
            "\nThe project's own checks, which pass or fail as a whole: {}.\n",
            checks.join(", ")
        ),
    };
    let example = example(format);
    format!(
        "Plan this goal for the project in the current directory. Do not work on it: read what you need, change no file but {file}.\n\n\
        GOAL:\n{goal}\n{known}\n\
        Write the plan into {file}, exactly in this form and with nothing else in it:\n\n{example}\n\
        - Each task is small: one change that a reviewer can see at once. At most {MOST_TASKS} tasks, in the order of work; usually far fewer.\n\
        - Each task has `verify:`, one shell command without a pipe that FAILS now and passes when the task is done: a test by its name, a file that has to be there and hold something. It must not change anything, and use only programs that are here. Ralph runs each of them now, and sends back those that pass already.\n\
        - `depends:` names tasks that have to be done before; no task waits for itself in a circle. `files:` names what it touches. `risk:` is low, medium or high.\n\
        - Write the tasks in the language of the goal. Leave every box empty.\n\n\
        When {file} is written, end with <promise>COMPLETE</promise> on a line of its own."
    )
}

fn example(format: Format) -> &'static str {
    match format {
        Format::OpenSpec => {
            "```\n## 1. First part\n\n- [ ] 1.1 What is to be done | files: src/a.js | risk: low | verify: npm test -- a\n- [ ] 1.2 What comes next | depends: 1.1 | files: src/b.js | risk: medium | verify: npm test -- b\n```\n"
        }
        Format::SpecKit => {
            "```\n# Tasks: the goal in a few words\n\n## Phase 1: First part\n\n- [ ] T001 What is to be done | files: src/a.js | risk: low | verify: npm test -- a\n- [ ] T002 What comes next | depends: T001 | files: src/b.js | risk: medium | verify: npm test -- b\n```\n"
        }
        Format::PrdJson => {
            "```\n{\n  \"project\": \"name\",\n  \"description\": \"the goal\",\n  \"userStories\": [\n    {\"id\": \"US-001\", \"title\": \"What is to be done\", \"priority\": 1, \"verify\": \"npm test -- a\", \"passes\": false}\n  ]\n}\n```\n"
        }
        Format::FixPlan | Format::Plain => {
            "```\n# The goal in a few words\n\n- [ ] T001 What is to be done | files: src/a.js | risk: low | verify: npm test -- a\n- [ ] T002 What comes next | depends: T001 | files: src/b.js | risk: medium | verify: npm test -- b\n```\n"
        }
    }
}

/// A list for a goal that lints, with the project's own checks, for whoever
/// plans without an agent.
pub fn skeleton(goal: &str, format: Format, checks: &[String], lang: Lang) -> String {
    let goal = text::one_line(goal).trim().replace('|', "/");
    let test = tr!(
        lang,
        "Write a test that fails because this is missing: {goal}"
    );
    let work = tr!(lang, "Do the work, until the tests pass: {goal}");
    let verify: String = checks
        .iter()
        .map(|check| format!(" | verify: `{check}`"))
        .collect();
    match format {
        Format::PrdJson => {
            let story = |id: &str, title: &str, priority: u32| {
                let mut story = serde_json::json!({"id": id, "title": title, "priority": priority});
                if !checks.is_empty() {
                    story["verify"] = serde_json::json!(checks);
                }
                story["passes"] = serde_json::json!(false);
                story
            };
            let list = serde_json::json!({
                "description": goal,
                "userStories": [story("US-001", &test, 1), story("US-002", &work, 2)],
            });
            format!("{list:#}\n")
        }
        Format::OpenSpec => format!(
            "## 1. {goal}\n\n- [ ] 1.1 {test}{verify}\n- [ ] 1.2 {work} | depends: 1.1{verify}\n"
        ),
        Format::SpecKit => format!(
            "# Tasks: {goal}\n\n## Phase 1: {goal}\n\n- [ ] T001 {test}{verify}\n- [ ] T002 {work} | depends: T001{verify}\n"
        ),
        Format::FixPlan | Format::Plain => format!(
            "# {goal}\n\n- [ ] T001 {test}{verify}\n- [ ] T002 {work} | depends: T001{verify}\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{ReadOptions, read};

    fn list(name: &str, text: &str) -> TaskList {
        read(name, text.as_bytes(), &ReadOptions::default()).expect(text)
    }

    fn exit(code: i32) -> Tried {
        let output = "sh: 1: nope: not found".into();
        Tried::Exit { code, output }
    }

    #[test]
    fn a_check_has_to_be_red() {
        assert_eq!(judge("T001", "npm test", &exit(1)), None);
        assert_eq!(judge("T001", "pytest x", &exit(4)), None);
        let said = |tried| judge("T001", "nope", &tried).unwrap().say(Lang::En);
        assert!(said(exit(0)).contains("passes already"));
        assert!(said(exit(127)).contains("nope: not found"));
        assert!(said(Tried::Endless).contains("did not end"));
        let reason = "it deletes".to_owned();
        assert!(said(Tried::Refused { reason }).contains("not allowed: it deletes"));
    }

    #[test]
    fn what_is_wrong_with_a_list_is_named() {
        let text = "- [ ] T001 a | verify: x\n- [x] T002 b | depends: T003 | verify: x\n- [ ] T003 c | depends: T002\n- [ ] T001 d | verify: y\n";
        let said: Vec<String> = problems(&list("t.md", text), Lang::En)
            .iter()
            .map(|problem| problem.say(Lang::En))
            .collect();
        let all = said.join("\n");
        assert!(all.contains("id T001 is already used"), "{all}");
        assert!(
            all.contains("wait for each other") || all.contains("T002"),
            "{all}"
        );
        assert!(all.contains("task T002 is ticked"), "{all}");
        assert!(all.contains("task T003 has no check"), "{all}");
        let many: String = (0..201)
            .map(|n| format!("- [ ] T{n:03} a | verify: x\n"))
            .collect();
        let many = problems(&list("t.md", &many), Lang::En);
        assert_eq!(
            many,
            [PlanProblem::Many {
                count: 201,
                most: 200
            }]
        );
        let good = list(
            "t.md",
            "- [ ] T001 a | verify: x\n- [ ] T002 b | verify: x\n",
        );
        assert_eq!(problems(&good, Lang::En), []);
        assert_eq!(checks(&good), [("T001".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn every_skeleton_lints_with_the_checks_of_the_project() {
        let check = "a | b".to_owned();
        for (format, name) in [
            (Format::Plain, "tasks.md"),
            (Format::SpecKit, "tasks.md"),
            (Format::OpenSpec, "tasks.md"),
            (Format::PrdJson, "prd.json"),
        ] {
            for lang in Lang::ALL {
                let text = skeleton(
                    "登入 | a login\npage",
                    format,
                    std::slice::from_ref(&check),
                    lang,
                );
                let list = list(name, &text);
                assert_eq!(list.format, format, "{text}");
                assert_eq!(problems(&list, Lang::En), [], "{text}");
                assert_eq!(list.tasks.len(), 2, "{text}");
                assert_eq!(list.tasks[1].verify, [check.as_str()], "{text}");
            }
        }
    }

    #[test]
    fn the_examples_of_the_prompt_are_lists_of_their_format() {
        for (format, name) in [
            (Format::Plain, "tasks.md"),
            (Format::SpecKit, "tasks.md"),
            (Format::OpenSpec, "tasks.md"),
            (Format::PrdJson, "prd.json"),
        ] {
            let text = example(format);
            let inner = text.trim_start_matches("```\n").trim_end_matches("```\n");
            let list = list(name, inner);
            assert_eq!(list.format, format);
            assert_eq!(problems(&list, Lang::En), [], "{inner}");
        }
    }
}

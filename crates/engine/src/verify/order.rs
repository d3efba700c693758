//! Which of the checks of a run are due.

use ralph_core::machine::{CheckScope, Checks};

/// Which commands are run, and in what order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// One after the other, up to the first that fails.
    pub project: Vec<String>,
    /// What tasks ask for: every one, so that each task is judged by its own.
    pub own: Vec<String>,
    pub own_only_if_project_passes: bool,
}

impl Order {
    /// Which commands run, as the checks were when the loop was armed: what the
    /// agent writes into the task file is never run.
    pub fn new(checks: &Checks, project: &[String], scope: &CheckScope) -> Order {
        let own_of = |ids: &mut dyn Iterator<Item = &String>| {
            let mut own: Vec<String> = Vec::new();
            for command in ids.filter_map(|id| checks.tasks.get(id)).flatten() {
                if !own.contains(command) {
                    own.push(command.clone());
                }
            }
            own
        };
        match scope {
            CheckScope::Everything => {
                let mut own = own_of(&mut checks.tasks.keys());
                own.retain(|command| !project.contains(command));
                Order {
                    project: project.to_vec(),
                    own,
                    own_only_if_project_passes: true,
                }
            }
            CheckScope::Tasks {
                ids,
                project: wanted,
            } => {
                let needed = *wanted || ids.iter().any(|id| !checks.tasks.contains_key(id));
                let project = if needed { project.to_vec() } else { Vec::new() };
                let mut own = own_of(&mut ids.iter());
                own.retain(|command| !project.contains(command));
                Order {
                    project,
                    own,
                    own_only_if_project_passes: false,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_run_what_they_ask_for_and_else_what_the_project_asks_for() {
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let checks = Checks {
            tasks: [
                ("T1".to_owned(), texts(&["a", "b"])),
                ("T2".to_owned(), texts(&["b", "p"])),
            ]
            .into(),
            ..Checks::default()
        };
        let check = |scope: CheckScope, project: &[&str], own: &[&str]| {
            let order = Order::new(&checks, &texts(&["p"]), &scope);
            assert_eq!(order.project, texts(project), "{scope:?}");
            assert_eq!(order.own, texts(own), "{scope:?}");
        };
        let of = |ids: &[&str], project: bool| CheckScope::Tasks {
            ids: texts(ids),
            project,
        };
        check(CheckScope::Everything, &["p"], &["a", "b"]);
        check(of(&["T1"], false), &[], &["a", "b"]);
        check(of(&["T1"], true), &["p"], &["a", "b"]);
        check(of(&["T2"], false), &[], &["b", "p"]);
        check(of(&["T1", "T3"], false), &["p"], &["a", "b"]);
        check(of(&[], true), &["p"], &[]);
    }
}

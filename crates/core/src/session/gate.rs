//! The verify gate of a check agent (VERI-01 to VERI-15): what is asked of
//! it, and how many rounds it has. What it runs and reads is done elsewhere.

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::machine::VerifyReport;

/// `.ideal/.verify-state.json`, in the order of its keys (VERI-07).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateState {
    pub task: String,
    /// Failed rounds so far.
    pub iteration: u32,
    /// ISO 8601 in local time.
    pub started_at: String,
}

impl GateState {
    /// A file that can't be read, or is about another task, counts nothing.
    pub fn read(text: &str, task: &str) -> Option<GateState> {
        let state: GateState = serde_json::from_str(text).ok()?;
        (state.task == task).then_some(state)
    }

    pub fn write(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateRules {
    pub max_rounds: u32,
    /// 0 where time plays no part.
    pub max_minutes: u32,
    /// Counts anew when the time is up, and holds on.
    pub resets: bool,
}

/// What the gate says to an agent that wants to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Pass {
        reason: String,
    },
    /// Let go without proof (VERI-15).
    Unverified {
        reason: String,
    },
    Block {
        reason: String,
        state: GateState,
    },
}

/// `failure` is what was wrong in this round; nothing was, where it is
/// `None`. Verification comes first, so that a pass in the last round is a
/// pass (VERI-09).
pub fn rule(
    failure: Option<&str>,
    before: Option<GateState>,
    task: &str,
    now: &str,
    rules: GateRules,
) -> Ruling {
    let Some(failure) = failure else {
        let reason = "All verify commands passed".into();
        return Ruling::Pass { reason };
    };
    let mut state = before.unwrap_or_else(|| GateState {
        task: task.into(),
        iteration: 0,
        started_at: now.into(),
    });
    state.iteration = state.iteration.saturating_add(1);
    let max = rules.max_rounds;
    if state.iteration >= max {
        let reason = format!("Max iterations ({max}) reached");
        return Ruling::Unverified { reason };
    }
    let minutes = rules.max_minutes;
    let late = minutes > 0
        && minutes_between(&state.started_at, now).is_some_and(|past| past >= i64::from(minutes));
    if late && !rules.resets {
        let reason = format!("Timeout ({minutes} min) exceeded");
        return Ruling::Unverified { reason };
    }
    if late {
        state.iteration = 1;
        state.started_at = now.into();
    }
    let n = state.iteration;
    Ruling::Block {
        reason: format!("Verification failed (iteration {n}): {failure}"),
        state,
    }
}

fn minutes_between(from: &str, to: &str) -> Option<i64> {
    let (from, to) = (moment(from)?, moment(to)?);
    let past = to.duration_since(from);
    Some(past.as_secs() / 60)
}

/// Without a zone, as Python writes it; with one, its local part.
fn moment(text: &str) -> Option<DateTime> {
    let text = text.trim().trim_end_matches('Z');
    let text = match text.get(19..) {
        Some(rest) => {
            let zone = rest.find(['+', '-']).map(|at| 19 + at);
            text.get(..zone.unwrap_or(text.len()))?
        }
        None => text,
    };
    text.parse().ok()
}

/// What was wrong with the commands, in the words of seed 001 (VERI-06).
pub fn failure_of(report: &VerifyReport) -> Option<String> {
    if report.passed() {
        return None;
    }
    let Some(failure) = report.failure() else {
        return Some("no command ran".into());
    };
    let (command, output) = (&failure.command, failure.output.trim());
    Some(match failure.exit {
        Some(_) => format!("Command failed: {command}\n{output}"),
        None if output.contains("[timed out after") => {
            format!("Command timed out: {command}\n{output}")
        }
        None => format!("Command error: {command} - {output}"),
    })
}

/// The agent's own type: a plugin puts its name before it (VERI-01).
pub fn agent_name(agent_type: &str) -> &str {
    agent_type.rsplit(':').next().unwrap_or(agent_type)
}

/// What a `check.jsonl` asks for (VERI-11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    asked: Vec<String>,
    /// What may ask for one, and can't be read.
    unclear: Vec<String>,
}

impl Markers {
    pub fn read(check: &str) -> Markers {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default)]
            reason: String,
        }
        let mut found = Markers::default();
        let lines = check.trim_start_matches('\u{feff}').lines().zip(1..);
        for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
            let Ok(line) = serde_json::from_str::<Line>(line) else {
                found.unclear.push(format!(
                    "check.jsonl, line {number}: this is no JSON object; correct or remove it"
                ));
                continue;
            };
            let reason = line.reason.trim();
            let marker = format!("{}_FINISH", reason.to_uppercase().replace(' ', "_"));
            if !reason.is_empty() && !found.asked.contains(&marker) {
                found.asked.push(marker);
            }
        }
        if found.asked.is_empty() {
            found.asked.push("ALL_CHECKS_FINISH".into());
        }
        found
    }

    /// A file that is there and can't be read: it may ask for anything.
    pub fn unreadable(why: &str) -> Markers {
        let unclear = vec![format!(
            "check.jsonl can't be read ({why}); correct or remove it"
        )];
        Markers {
            unclear,
            ..Markers::read("")
        }
    }

    /// What is wrong where the agent's last message lacks some.
    pub fn missing_in(&self, said: &str) -> Option<String> {
        let is_missing = |marker: &&String| !said.contains(marker.as_str());
        let missing: Vec<&str> = self.asked.iter().filter(is_missing).map(|m| &**m).collect();
        let missing = (!missing.is_empty())
            .then(|| format!("Missing completion markers: {}", missing.join(", ")));
        let unclear = self.unclear.iter().cloned();
        let all: Vec<String> = missing.into_iter().chain(unclear).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }
}

/// Where the tools name the current task, the first that does counts.
pub const CURRENT_TASK_FILES: [&str; 3] = [
    ".ideal/.current-task", ".current-task", ".trellis/.current-task",
];

/// The directory of the current task, relative to the project, as `text` in
/// `file` names it (VERI-12). Only Ideal's file has it whole: the others leave
/// out where their tasks lie.
pub fn task_path(file: &str, text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let path = line.replace('\\', "/");
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let is_whole = file == CURRENT_TASK_FILES[0] || !path.starts_with("tasks/");
    Some(match is_whole {
        true => path.to_owned(),
        false => format!(".trellis/{path}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CommandResult;

    const NOW: &str = "2026-11-15T10:00:00.000000";
    const RULES: GateRules = GateRules {
        max_rounds: 5,
        max_minutes: 30,
        resets: false,
    };

    fn state(iteration: u32, started_at: &str) -> GateState {
        GateState {
            task: "docs/x".into(),
            iteration,
            started_at: started_at.into(),
        }
    }

    /// T003-4: the state is written and read as it is.
    #[test]
    fn the_state_file_is_that_of_the_seed() {
        let state = state(1, "2026-11-15T00:05:54.455063");
        let text = "{\n  \"task\": \"docs/x\",\n  \"iteration\": 1,\n  \"started_at\": \"2026-11-15T00:05:54.455063\"\n}";
        assert_eq!(state.write(), text);
        assert_eq!(GateState::read(text, "docs/x"), Some(state));
        assert_eq!(GateState::read(text, "docs/y"), None);
        assert_eq!(GateState::read("{", "docs/x"), None);
    }

    /// T003-5: what is decided, in the seed's order and words.
    #[test]
    fn rounds_and_time_decide_in_order() {
        let check = |failure: Option<&str>, before: Option<GateState>, want: &str| {
            let ruling = rule(failure, before, "docs/x", NOW, RULES);
            let got = match ruling {
                Ruling::Pass { reason } => format!("pass: {reason}"),
                Ruling::Unverified { reason } => format!("unverified: {reason}"),
                Ruling::Block { reason, state } => format!("block {}: {reason}", state.iteration),
            };
            assert_eq!(got, want);
        };
        let bad = Some("Command failed: x");
        check(None, None, "pass: All verify commands passed");
        check(
            bad,
            None,
            "block 1: Verification failed (iteration 1): Command failed: x",
        );
        let recent = "2026-11-15T09:50:00.000001";
        let late = "2026-11-15T09:29:59";
        check(
            bad,
            Some(state(3, recent)),
            "block 4: Verification failed (iteration 4): Command failed: x",
        );
        check(
            bad,
            Some(state(4, recent)),
            "unverified: Max iterations (5) reached",
        );
        // A pass in the last round is a pass, and so is a late one.
        check(
            None,
            Some(state(4, late)),
            "pass: All verify commands passed",
        );
        check(
            bad,
            Some(state(4, late)),
            "unverified: Max iterations (5) reached",
        );
        check(
            bad,
            Some(state(1, late)),
            "unverified: Timeout (30 min) exceeded",
        );
        // A time that nobody can read is no timeout.
        check(
            bad,
            Some(state(1, "yesterday")),
            "block 2: Verification failed (iteration 2): Command failed: x",
        );
    }

    #[test]
    fn time_that_is_up_may_count_anew() {
        let rules = GateRules {
            resets: true,
            ..RULES
        };
        let before = Some(state(3, "2026-11-15T08:00:00Z"));
        match rule(Some("x"), before, "docs/x", NOW, rules) {
            Ruling::Block { state, .. } => {
                assert_eq!((state.iteration, state.started_at.as_str()), (1, NOW));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn failures_are_told_as_the_seed_tells_them() {
        let report = |exit: Option<i32>, output: &str| VerifyReport {
            trials: Vec::new(),
            weighed: None,
            strays: None,
            turn: 1,
            tree: None,
            results: vec![CommandResult {
                command: "pnpm test".into(),
                exit,
                output: output.into(),
                ..CommandResult::default()
            }],
        };
        let told = |exit, output| failure_of(&report(exit, output));
        assert_eq!(told(Some(0), ""), None);
        assert_eq!(
            told(Some(1), "1 failed\n").as_deref(),
            Some("Command failed: pnpm test\n1 failed")
        );
        assert_eq!(
            told(None, "\n[timed out after 120 s]").as_deref(),
            Some("Command timed out: pnpm test\n[timed out after 120 s]")
        );
        assert_eq!(
            told(None, "no such file").as_deref(),
            Some("Command error: pnpm test - no such file")
        );
    }

    #[test]
    fn markers_come_from_the_reasons() {
        let check = "{\"file\": \"a\", \"reason\": \"Finish work checklist\"}\r\n\n{\"reason\": \"ESLint规则检查\"}\n{\"file\": \"b\"}\n";
        let all = "FINISH_WORK_CHECKLIST_FINISH ESLINT规则检查_FINISH";
        // As editors of Windows write it, too (XCUT-01).
        for check in [check.to_owned(), format!("\u{feff}{check}")] {
            let wanted = Markers::read(&check);
            assert_eq!(
                wanted
                    .missing_in("done: FINISH_WORK_CHECKLIST_FINISH")
                    .as_deref(),
                Some("Missing completion markers: ESLINT规则检查_FINISH")
            );
            assert_eq!(wanted.missing_in(all), None);
        }
        assert_eq!(
            Markers::read("").missing_in("").as_deref(),
            Some("Missing completion markers: ALL_CHECKS_FINISH")
        );
        // Nobody knows what it asks for, so that nothing is enough.
        let unclear =
            Markers::read(&check.replace("{\"file\": \"b\"}", "\u{fffd}{\"reason\": \"x\"}"));
        assert_eq!(
            unclear.missing_in(all).as_deref(),
            Some("check.jsonl, line 4: this is no JSON object; correct or remove it")
        );
    }

    #[test]
    fn the_task_and_the_agent_have_their_plain_names() {
        let [ideal, own, trellis] = CURRENT_TASK_FILES;
        for (file, text, want) in [
            (ideal, "docs/x\n", Some("docs/x")),
            (ideal, "tasks/t1\n", Some("tasks/t1")),
            (ideal, "\u{feff}docs/x\r\n", Some("docs/x")),
            (own, "tasks/t1", Some(".trellis/tasks/t1")),
            (trellis, "\n ./tasks/a/ \n", Some(".trellis/tasks/a")),
            (trellis, ".trellis\\tasks\\b", Some(".trellis/tasks/b")),
            (ideal, "", None),
        ] {
            assert_eq!(task_path(file, text).as_deref(), want, "{file}: {text:?}");
        }
        assert_eq!(agent_name("workflow:check"), "check");
        assert_eq!(agent_name("check"), "check");
    }
}

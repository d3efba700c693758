//! The exact writer: byte for byte what the tools of the delta loop expect.

use strum::VariantNames as _;

use super::{
    DeltaState, Iteration, Meta, NONE, NOT_DONE, Progress, Status, Summary, TASK_COMPLETE, TITLE,
    fenced, heading_of, title_of,
};

impl DeltaState {
    pub fn write(&self) -> String {
        let mut sections = vec![
            ("Meta", self.meta.lines()),
            ("Iteration", self.iteration.lines()),
            ("Progress", self.progress.lines()),
            ("Pending Work", work(&self.pending_work)),
            ("Completed Work", work(&self.completed_work)),
            ("Promise", or(&self.promise_text, NOT_DONE)),
        ];
        if let Some(summary) = &self.summary {
            sections.push(("Completion Summary", summary.lines()));
        }
        for section in &self.other {
            sections.push((&section.heading, body(&section.body)));
        }
        render(&body(&self.preamble), &sections)
    }
}

/// The file with names in the place of values, for those who fill it in.
pub fn template() -> String {
    let statuses = Status::VARIANTS.join(" | ");
    let comment = "<!-- 仅当任务完全完成时设置 -->";
    let meta = Meta {
        task_id: "{uuid}".into(),
        route: "RALPH".into(),
        started: "{timestamp}".into(),
        last_updated: "{timestamp}".into(),
        extra: Vec::new(),
    };
    render(
        "",
        &[
            ("Meta", meta.lines()),
            (
                "Iteration",
                iteration_lines("{N}", "{max_iterations}", &statuses),
            ),
            (
                "Progress",
                progress_lines(
                    "{phase_number}",
                    "1, 2, ...",
                    "{subtask_index}",
                    "{total_subtasks}",
                ),
            ),
            ("Pending Work", "{remaining_tasks_description}".into()),
            ("Completed Work", "{completed_work_summary}".into()),
            (
                "Promise",
                format!("{comment}\n<promise>{TASK_COMPLETE}</promise>"),
            ),
        ],
    )
}

/// A duration as the summary has it: `1h 20m`, `20m`, `45s`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// A text from outside as part of one line. Readers of this file look for a
/// promise anywhere in it, so that no text may bring one along.
pub fn one_line(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").replace('<', "&lt;")
}

fn render(preamble: &str, sections: &[(&str, String)]) -> String {
    let mut out = format!("# {TITLE}\n");
    if !preamble.is_empty() {
        out.push_str(&format!("\n{preamble}\n"));
    }
    for (heading, body) in sections {
        out.push_str(&format!("\n## {heading}\n"));
        if !body.is_empty() {
            out.push_str(&format!("{body}\n"));
        }
    }
    out
}

impl Meta {
    fn lines(&self) -> String {
        let known = format!(
            "- Task ID: {}\n- Route: {}\n- Started: {}\n- Last Updated: {}",
            self.task_id, self.route, self.started, self.last_updated
        );
        with_extra(known, &self.extra)
    }
}

impl Iteration {
    fn lines(&self) -> String {
        let (current, max) = (self.current.to_string(), self.max_allowed.to_string());
        let known = iteration_lines(&current, &max, self.status.into_str());
        with_extra(known, &self.extra)
    }
}

impl Progress {
    fn lines(&self) -> String {
        let phases: Vec<String> = self.completed_phases.iter().map(u32::to_string).collect();
        let known = progress_lines(
            &self.current_phase.to_string(),
            &phases.join(", "),
            &self.subtasks_done.to_string(),
            &self.subtasks_total.to_string(),
        );
        with_extra(known, &self.extra)
    }
}

impl Summary {
    fn lines(&self) -> String {
        let iterations = self.total_iterations.map(|n| n.to_string());
        let files = self.files_modified.map(|n| n.to_string());
        let score = self.review_score.map(|n| format!("{n}/100"));
        let known = [
            ("Total Iterations", iterations),
            ("Total Duration", self.total_duration.clone()),
            ("Files Modified", files),
            ("Review Score", score),
        ];
        let known: Vec<String> = known
            .into_iter()
            .filter_map(|(key, value)| Some(format!("- {key}: {}", value?)))
            .collect();
        with_extra(known.join("\n"), &self.extra)
    }
}

fn iteration_lines(current: &str, max: &str, status: &str) -> String {
    format!("- Current: {current}\n- Max Allowed: {max}\n- Status: {status}")
}

fn progress_lines(phase: &str, completed: &str, done: &str, total: &str) -> String {
    format!(
        "- Current Phase: {phase}\n- Completed Phases: [{completed}]\n- Current Subtask: {done} / {total}"
    )
}

fn with_extra(mut known: String, extra: &[String]) -> String {
    for line in extra {
        if !known.is_empty() {
            known.push('\n');
        }
        known.push_str(line);
    }
    known
}

fn work(text: &str) -> String {
    or(text, NONE)
}

fn or(text: &str, empty: &str) -> String {
    let text = body(text);
    if text.is_empty() { empty.into() } else { text }
}

/// A text that stays within its section: a heading of the file's own level
/// would begin another one.
fn body(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let inside = fenced(&lines);
    let escaped = lines.iter().zip(inside).map(|(line, in_code)| {
        let begins = !in_code && (heading_of(line).is_some() || title_of(line).is_some());
        if begins {
            format!("\\{}", line.trim_start())
        } else {
            (*line).to_owned()
        }
    });
    let escaped: Vec<String> = escaped.collect();
    escaped.join("\n").trim_matches('\n').to_owned()
}

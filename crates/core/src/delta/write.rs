//! The exact writer: byte for byte what the tools of the delta loop expect.

use strum::VariantNames as _;

use super::{
    DeltaState, Iteration, Meta, NONE, NOT_DONE, Progress, Status, Summary, TASK_COMPLETE, TITLE,
    fenced, heading_of, title_of,
};

impl DeltaState {
    pub fn write(&self) -> String {
        let mut sections = vec![
            ("Meta", lines(&self.meta.fields(), &self.meta.extra)),
            (
                "Iteration",
                lines(&self.iteration.fields(), &self.iteration.extra),
            ),
            (
                "Progress",
                lines(&self.progress.fields(), &self.progress.extra),
            ),
        ];
        sections.extend(self.bodies());
        if let Some(summary) = &self.summary {
            sections.push(("Completion Summary", summary.lines()));
        }
        for section in &self.other {
            sections.push((&section.heading, body(&section.body)));
        }
        render(&body(&self.preamble), &sections)
    }

    /// The sections that are text.
    pub(super) fn bodies(&self) -> [(&'static str, String); 3] {
        [
            ("Pending Work", or(&self.pending_work, NONE)),
            ("Completed Work", or(&self.completed_work, NONE)),
            ("Promise", or(&self.promise_text, NOT_DONE)),
        ]
    }
}

/// The file with names in the place of values, for those who fill it in.
pub fn template() -> String {
    let statuses = Status::VARIANTS.join(" | ");
    let comment = "<!-- 仅当任务完全完成时设置 -->";
    let named = |fields: &[(&'static str, &str)]| {
        let fields = fields.iter().map(|(key, name)| (*key, (*name).into()));
        lines(&fields.collect::<Vec<_>>(), &[])
    };
    let meta = named(&[
        ("Task ID", "{uuid}"),
        ("Route", "RALPH"),
        ("Started", "{timestamp}"),
        ("Last Updated", "{timestamp}"),
    ]);
    let iteration = named(&[
        ("Current", "{N}"),
        ("Max Allowed", "{max_iterations}"),
        ("Status", &statuses),
    ]);
    let progress = named(&[
        ("Current Phase", "{phase_number}"),
        ("Completed Phases", "[1, 2, ...]"),
        ("Current Subtask", "{subtask_index} / {total_subtasks}"),
    ]);
    render(
        "",
        &[
            ("Meta", meta),
            ("Iteration", iteration),
            ("Progress", progress),
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

/// The lines of a section that Ralph writes.
type Fields = Vec<(&'static str, String)>;

impl Meta {
    pub(super) fn fields(&self) -> Fields {
        vec![
            ("Task ID", self.task_id.clone()),
            ("Route", self.route.clone()),
            ("Started", self.started.clone()),
            ("Last Updated", self.last_updated.clone()),
        ]
    }
}

impl Iteration {
    pub(super) fn fields(&self) -> Fields {
        vec![
            ("Current", self.current.to_string()),
            ("Max Allowed", self.max_allowed.to_string()),
            ("Status", self.status.into_str().to_owned()),
        ]
    }
}

impl Progress {
    pub(super) fn fields(&self) -> Fields {
        let phases: Vec<String> = self.completed_phases.iter().map(u32::to_string).collect();
        let (done, total) = (self.subtasks_done, self.subtasks_total);
        vec![
            ("Current Phase", self.current_phase.to_string()),
            ("Completed Phases", format!("[{}]", phases.join(", "))),
            ("Current Subtask", format!("{done} / {total}")),
        ]
    }
}

impl Summary {
    pub(super) fn lines(&self) -> String {
        let known = [
            (
                "Total Iterations",
                self.total_iterations.map(|n| n.to_string()),
            ),
            ("Total Duration", self.total_duration.clone()),
            ("Files Modified", self.files_modified.map(|n| n.to_string())),
            (
                "Review Score",
                self.review_score.map(|n| format!("{n}/100")),
            ),
        ];
        let known = known
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        lines(&known.collect::<Vec<_>>(), &self.extra)
    }
}

fn lines(fields: &[(&'static str, String)], extra: &[String]) -> String {
    let known = fields
        .iter()
        .map(|(key, value)| format!("- {key}: {value}"));
    known
        .chain(extra.iter().cloned())
        .collect::<Vec<_>>()
        .join("\n")
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

//! The writer for a file that others edit too: only what changed is written,
//! everything else stays to the byte (DELT-11).

use super::read::{field_of, same};
use super::{DeltaState, Summary, fenced, heading_of};

const SUMMARY: &str = "Completion Summary";

/// A section as it stands in the file, each line with its end.
struct Part {
    heading: Option<String>,
    head: String,
    body: Vec<String>,
}

type Parts = Vec<Part>;
type Field = (&'static str, String);

impl DeltaState {
    /// This state, written over the file that it was read from. A file that
    /// can't be read is replaced whole.
    pub fn write_over(&self, file: &str) -> String {
        let Ok(before) = DeltaState::read(file.as_bytes()) else {
            return self.write();
        };
        let mut parts = split(file);
        for (heading, old, new) in [
            ("Meta", before.meta.fields(), self.meta.fields()),
            (
                "Iteration",
                before.iteration.fields(),
                self.iteration.fields(),
            ),
            ("Progress", before.progress.fields(), self.progress.fields()),
        ] {
            let changed = new.into_iter().zip(old).filter(|(new, old)| new != old);
            for (field, _) in changed {
                set_field(part(&mut parts, heading), &field);
            }
        }
        for ((heading, old), (_, new)) in before.bodies().into_iter().zip(self.bodies()) {
            // Emptied by somebody, it says nothing any more.
            let emptied = parts
                .iter()
                .find(|part| part.is(heading))
                .is_some_and(Part::is_empty);
            if old != new || emptied {
                set_body(part(&mut parts, heading), &new);
            }
        }
        match (&before.summary, &self.summary) {
            (old, new) if old == new => {}
            (_, None) => parts.retain(|part| !part.is(SUMMARY)),
            (_, Some(summary)) => set_body(part(&mut parts, SUMMARY), &Summary::lines(summary)),
        }
        let texts = parts
            .iter()
            .map(|part| part.head.clone() + &part.body.concat());
        let text: String = texts.collect();
        // What is added ends as every other line does.
        let windows = file.matches("\r\n").count();
        match windows > 0 && windows == file.matches('\n').count() {
            true => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => text,
        }
    }
}

impl Part {
    fn is(&self, heading: &str) -> bool {
        self.heading.as_ref().is_some_and(|own| same(own, heading))
    }

    fn is_empty(&self) -> bool {
        self.body.iter().all(|line| line.trim().is_empty())
    }
}

fn split(file: &str) -> Parts {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let shown = lines
        .iter()
        .map(|line| line.trim_start_matches('\u{feff}').trim_end());
    let shown: Vec<&str> = shown.collect();
    let mut parts = Parts::new();
    for ((line, shown), in_code) in lines.iter().zip(&shown).zip(fenced(&shown)) {
        let heading = heading_of(shown).filter(|_| !in_code);
        match (heading, parts.last_mut()) {
            (None, Some(part)) => part.body.push((*line).to_owned()),
            (heading, _) => parts.push(Part {
                heading: heading.map(str::to_owned),
                head: (*line).to_owned(),
                body: Vec::new(),
            }),
        }
    }
    parts
}

/// The first section of this name, as the reader takes it; a new one at the
/// end where there is none.
fn part<'a>(parts: &'a mut Parts, heading: &str) -> &'a mut Part {
    let at = parts.iter().position(|part| part.is(heading));
    let at = at.unwrap_or_else(|| {
        let text = parts
            .last()
            .map(|last| last.head.clone() + &last.body.concat());
        let text = text.unwrap_or_default();
        let gap = match (text.ends_with("\n\n"), text.ends_with('\n')) {
            (true, _) => "",
            (false, true) => "\n",
            (false, false) => "\n\n",
        };
        parts.push(Part {
            heading: Some(heading.to_owned()),
            head: format!("{gap}## {heading}\n"),
            body: Vec::new(),
        });
        parts.len() - 1
    });
    &mut parts[at]
}

fn set_field(part: &mut Part, (key, value): &Field) {
    let is_key = |line: &String| field_of(line).is_some_and(|(name, _)| same(name, key));
    let line = format!("- {key}: {value}");
    match part.body.iter().position(is_key) {
        Some(at) => {
            let end = part.body[at].trim_end().len();
            let end = part.body[at]
                .get(end..)
                .unwrap_or_default()
                .trim_start_matches(' ');
            part.body[at] = format!("{line}{end}");
        }
        None => {
            let behind = part.body.iter().rposition(|line| !line.trim().is_empty());
            let at = behind.map_or(0, |at| at + 1);
            close_line(part, at);
            part.body.insert(at, format!("{line}\n"));
        }
    }
}

/// The empty lines behind it stay.
fn set_body(part: &mut Part, text: &str) {
    let behind = part.body.iter().rposition(|line| !line.trim().is_empty());
    part.body.drain(..behind.map_or(0, |at| at + 1));
    close_line(part, 0);
    part.body.insert(0, format!("{text}\n"));
}

/// What stands before a line that is added has to end.
fn close_line(part: &mut Part, at: usize) {
    let before = match at.checked_sub(1) {
        Some(before) => part.body.get_mut(before),
        None => Some(&mut part.head),
    };
    if let Some(before) = before.filter(|line| !line.ends_with('\n')) {
        before.push('\n');
    }
}

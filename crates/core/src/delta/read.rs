//! The tolerant reader: any order, any spacing, with what is unknown kept.

use std::str::FromStr as _;

use super::{
    DeltaError, DeltaState, Iteration, Meta, NONE, NOT_DONE, Progress, Section, Status, Summary,
    TITLE, fenced, heading_of, title_of,
};

/// A section with the line of its heading.
struct Raw<'a> {
    heading: &'a str,
    line: usize,
    body: Vec<(usize, &'a str)>,
}

impl DeltaState {
    pub fn read(bytes: &[u8]) -> Result<DeltaState, DeltaError> {
        let text = std::str::from_utf8(bytes).map_err(|error| DeltaError::NotUtf8 {
            line: line_of(bytes, error.valid_up_to()),
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (preamble, sections) = split(text);
        let mut reader = Reader {
            sections,
            end: text.lines().count().max(1),
        };
        if reader.sections.is_empty() {
            return Err(DeltaError::NotAState);
        }
        let has_promise = reader.sections.iter().any(|s| same(s.heading, "Promise"));
        if !has_promise && !text.ends_with('\n') {
            return Err(DeltaError::CutOff { line: reader.end });
        }
        Ok(DeltaState {
            meta: reader.meta()?,
            iteration: reader.iteration()?,
            progress: reader.progress()?,
            pending_work: reader.work("Pending Work"),
            completed_work: reader.work("Completed Work"),
            promise_text: reader.promise(),
            summary: reader.summary(),
            preamble,
            other: reader.rest(),
        })
    }
}

fn line_of(bytes: &[u8], offset: usize) -> usize {
    let before = bytes.get(..offset).unwrap_or(bytes);
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

fn split(text: &str) -> (String, Vec<Raw<'_>>) {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let inside = fenced(&lines);
    let mut preamble = Vec::new();
    let mut sections: Vec<Raw<'_>> = Vec::new();
    for ((number, line), in_code) in (1..).zip(&lines).zip(inside) {
        let heading = heading_of(line).filter(|_| !in_code);
        match (heading, sections.last_mut()) {
            (Some(heading), _) => sections.push(Raw {
                heading,
                line: number,
                body: Vec::new(),
            }),
            (None, Some(section)) => section.body.push((number, line)),
            (None, None) => {
                let is_title = title_of(line).is_some_and(|title| same(title, TITLE));
                if !is_title {
                    preamble.push((number, *line));
                }
            }
        }
    }
    (join(&preamble), sections)
}

/// The lines as one text, without the empty ones around it.
fn join(lines: &[(usize, &str)]) -> String {
    let lines: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Whether two names are the same but for case and spacing.
pub(super) fn same(a: &str, b: &str) -> bool {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    };
    words(a) == words(b)
}

/// `- Key: value`, with any bullet and either colon.
pub(super) fn field_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['-', '*', '+']);
    let (key, value) = line.split_once([':', '：'])?;
    Some((key.trim(), value.trim()))
}

struct Reader<'a> {
    sections: Vec<Raw<'a>>,
    /// The last line of the file.
    end: usize,
}

/// The lines of a section whose fields are taken one by one.
struct Fields<'a> {
    line: usize,
    body: Vec<(usize, &'a str)>,
}

impl<'a> Reader<'a> {
    /// The first section of this name, which nobody gets a second time.
    fn take(&mut self, heading: &str) -> Option<Raw<'a>> {
        let at = self
            .sections
            .iter()
            .position(|s| same(s.heading, heading))?;
        Some(self.sections.remove(at))
    }

    fn fields(&mut self, heading: &str) -> Fields<'a> {
        match self.take(heading) {
            Some(raw) => Fields {
                line: raw.line,
                body: raw.body,
            },
            None => Fields {
                line: self.end,
                body: Vec::new(),
            },
        }
    }

    fn meta(&mut self) -> Result<Meta, DeltaError> {
        let mut fields = self.fields("Meta");
        Ok(Meta {
            task_id: fields.text("Task ID").ok_or(DeltaError::Missing {
                field: "Task ID",
                line: fields.line,
            })?,
            route: fields.text("Route").unwrap_or_default(),
            started: fields.text("Started").unwrap_or_default(),
            last_updated: fields.text("Last Updated").unwrap_or_default(),
            extra: fields.rest(),
        })
    }

    fn iteration(&mut self) -> Result<Iteration, DeltaError> {
        let mut fields = self.fields("Iteration");
        Ok(Iteration {
            current: fields.required("Current", number)?,
            max_allowed: fields.required("Max Allowed", number)?,
            status: fields.required("Status", status)?,
            extra: fields.rest(),
        })
    }

    fn progress(&mut self) -> Result<Progress, DeltaError> {
        let mut fields = self.fields("Progress");
        let (subtasks_done, subtasks_total) = fields
            .optional("Current Subtask", pair)?
            .unwrap_or_default();
        Ok(Progress {
            current_phase: fields.optional("Current Phase", number)?.unwrap_or(1),
            completed_phases: fields
                .optional("Completed Phases", list)?
                .unwrap_or_default(),
            subtasks_done,
            subtasks_total,
            extra: fields.rest(),
        })
    }

    fn work(&mut self, heading: &str) -> String {
        let body = self.take(heading).map(|raw| join(&raw.body));
        body.filter(|body| body.trim() != NONE).unwrap_or_default()
    }

    fn promise(&mut self) -> String {
        let body = self.take("Promise").map(|raw| join(&raw.body));
        body.filter(|body| body.trim() != NOT_DONE)
            .unwrap_or_default()
    }

    /// Nothing depends on it, so that a value that is odd stays as it is.
    fn summary(&mut self) -> Option<Summary> {
        let raw = self.take("Completion Summary")?;
        let mut fields = Fields {
            line: raw.line,
            body: raw.body,
        };
        Some(Summary {
            total_iterations: fields.readable("Total Iterations", number),
            total_duration: fields.text("Total Duration"),
            files_modified: fields.readable("Files Modified", number),
            review_score: fields.readable("Review Score", score),
            extra: fields.rest(),
        })
    }

    fn rest(self) -> Vec<Section> {
        let sections = self.sections.into_iter();
        sections
            .map(|raw| Section {
                heading: raw.heading.to_owned(),
                body: join(&raw.body),
            })
            .collect()
    }
}

impl Fields<'_> {
    fn find(&self, key: &str) -> Option<usize> {
        let is_key = |line: &str| field_of(line).is_some_and(|(name, _)| same(name, key));
        self.body.iter().position(|(_, line)| is_key(line))
    }

    fn take(&mut self, key: &str) -> Option<(usize, String)> {
        let at = self.find(key)?;
        let (number, line) = self.body.remove(at);
        let (_, value) = field_of(line)?;
        Some((number, value.to_owned()))
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let (_, value) = self.take(key)?;
        Some(value).filter(|value| !value.is_empty())
    }

    fn optional<T>(
        &mut self,
        field: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, DeltaError> {
        let Some((line, value)) = self.take(field) else {
            return Ok(None);
        };
        match parse(&value) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(DeltaError::Bad { field, value, line }),
        }
    }

    fn required<T>(
        &mut self,
        field: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<T, DeltaError> {
        let line = self.line;
        self.optional(field, parse)?
            .ok_or(DeltaError::Missing { field, line })
    }

    fn readable<T>(&mut self, key: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let (_, line) = self.body.get(self.find(key)?)?;
        let parsed = parse(field_of(line)?.1)?;
        self.take(key);
        Some(parsed)
    }

    fn rest(self) -> Vec<String> {
        let lines = self.body.into_iter().map(|(_, line)| line);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok()
}

fn status(text: &str) -> Option<Status> {
    Status::from_str(&text.to_uppercase().replace([' ', '-'], "_")).ok()
}

fn list(text: &str) -> Option<Vec<u32>> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let mut numbers = Vec::new();
    for word in inner.split([',', '，', '、', ' ']) {
        if word.is_empty() {
            continue;
        }
        let number = number(word)?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    Some(numbers)
}

fn pair(text: &str) -> Option<(u32, u32)> {
    let (done, total) = text.split_once('/')?;
    Some((number(done.trim())?, number(total.trim())?))
}

fn score(text: &str) -> Option<u32> {
    match pair(text)? {
        (score, 100) => Some(score),
        _ => None,
    }
}

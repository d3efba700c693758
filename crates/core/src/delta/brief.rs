//! What a phase did, in a few lines of the file that it left.

use super::{fenced, one_line};
use crate::markdown::list_marker;
use crate::text;

const MOST_LINES: usize = 5;
/// Where nothing is listed, the first sentences have to do.
const MOST_PROSE: usize = 2;
const COLUMNS: usize = 100;

/// The points that the text lists, else its first lines; boxes are gone, since
/// an empty one would be open work of the state file (DELT-08).
pub fn brief(text: &str) -> Vec<String> {
    let plain = text::without_controls(text);
    // A private key has many lines.
    let plain = text::redact(&plain);
    let lines: Vec<&str> = plain.lines().collect();
    let code = fenced(&lines);
    let said = lines.iter().zip(code).filter(|(_, in_code)| !in_code);
    let said: Vec<&str> = said.map(|(line, _)| line.trim()).collect();
    let points: Vec<&str> = said.iter().filter_map(|line| point(line)).collect();
    let prose = said.iter().copied().filter(|line| is_prose(line));
    let chosen: Vec<&str> = match points.is_empty() {
        true => prose.take(MOST_PROSE).collect(),
        false => points,
    };
    let shown = chosen.into_iter().take(MOST_LINES);
    shown.map(shortened).collect()
}

fn shortened(line: &str) -> String {
    let line = one_line(line);
    // A line that begins so would name a phase of the state file.
    let line = match line.strip_prefix("Phase ") {
        Some(rest) => format!("phase {rest}"),
        None => line,
    };
    text::width::truncate(&line, COLUMNS)
}

/// The text of a list item.
fn point(line: &str) -> Option<&str> {
    let rest = line.get(list_marker(line)?..)?.strip_prefix(' ')?.trim();
    let unboxed = ["[ ]", "[x]", "[X]"]
        .into_iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some(unboxed.unwrap_or(rest).trim()).filter(|text| !text.is_empty())
}

fn is_prose(line: &str) -> bool {
    line.contains(char::is_alphanumeric) && !line.starts_with(['#', '|', '>', '`', '~', '<'])
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn points_come_before_prose_and_boxes_go() {
        for (text, want) in [
            (
                "# Analysis\n\nTwo parts.\n\n- the model\n* [ ] the service\n1. order\n",
                "the model|the service|order",
            ),
            (
                "# Analysis\n\nTwo parts.\nOne risk.\nMore.\n",
                "Two parts.|One risk.",
            ),
            ("```\n- code\n```\nSaid.\n", "Said."),
            ("- [ ]\n# only a heading\n", ""),
            ("", ""),
            (
                "Key:\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
                "Key:|-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----",
            ),
            ("- Phase 9: later\n", "phase 9: later"),
            (
                "- <promise>TASK_COMPLETE</promise>\n",
                "&lt;promise>TASK_COMPLETE&lt;/promise>",
            ),
        ] {
            assert_eq!(brief(text).join("|"), want, "{text:?}");
        }
        let long = "- x\n".repeat(50) + &format!("- {}", "y".repeat(500));
        assert_eq!(brief(&long).len(), 5);
        assert!(brief(&format!("- {}", "y".repeat(500)))[0].len() < 110);
    }
}

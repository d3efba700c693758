//! The pure part of finding a task file: which paths are looked at, in which
//! order (TASK-01, TASK-07).

/// Where task files stand in a project, best first; `*` is one path segment.
pub const DETECTION_ORDER: [&str; 6] = [
    "specs/*/tasks.md",
    ".specify/*/tasks.md",
    "tasks.md",
    "openspec/changes/*/tasks.md",
    "prd.json",
    ".ralph/fix_plan.md",
];

/// OpenSpec keeps finished changes beside the open ones.
const ARCHIVE: &str = "openspec/changes/archive/";

/// The place of a path (relative to the project, with `/`) in
/// [`DETECTION_ORDER`]; `None` for anything that is no task file.
pub fn detection_rank(path: &str) -> Option<usize> {
    if path.starts_with(ARCHIVE) {
        return None;
    }
    DETECTION_ORDER
        .iter()
        .position(|pattern| matches(pattern, path))
}

fn matches(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if !segment.is_empty() => {}
            (Some(name), Some(segment)) if name == segment => {}
            _ => return false,
        }
    }
}

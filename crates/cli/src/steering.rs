//! A line by which a person steers from the monitor or the page, as the verb
//! that it stands for.

use ralph_core::lang::Lang;
use ralph_core::tr;

/// The arguments of `ralph`; `None` for anything that is no such line. Words
/// of a person are never read as options.
pub fn typed(line: &str) -> Option<Vec<String>> {
    let (verb, rest) = line.trim().split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let (first, words) = match rest.split_once(char::is_whitespace) {
        Some((first, words)) => (first, words.trim()),
        None => (rest, ""),
    };
    let given: Vec<&str> = match verb {
        "hint" | "retry" | "focus" => vec![verb, "--", rest],
        "keep" => vec!["hint", "--keep", "--", rest],
        "add" => vec!["tasks", verb, "--", rest],
        "skip" | "unskip" => ["tasks", verb, "--"]
            .into_iter()
            .chain(rest.split_whitespace())
            .collect(),
        "edit" if !words.is_empty() => vec!["tasks", verb, "--", first, words],
        "move" if words.is_empty() => vec!["tasks", verb, "--", first],
        "move" => vec!["tasks", verb, "--after", words, "--", first],
        "remove" => vec!["tasks", verb, "--", first],
        _ => return None,
    };
    Some(given.into_iter().map(str::to_owned).collect())
}

/// What can be typed.
pub fn known(lang: Lang) -> String {
    tr!(
        lang,
        "hint WORDS · keep WORDS · add WORDS · skip T003 · unskip T003 · retry T003 · focus T003 · edit T003 WORDS · move T003 T001"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, want: &[&str]) {
        assert_eq!(typed(line).unwrap_or_default(), want, "{line}");
    }

    #[test]
    fn a_line_is_a_verb_and_words_are_no_options() {
        check("hint  use v2 ", &["hint", "--", "use v2"]);
        check("hint --keep it", &["hint", "--", "--keep it"]);
        check("keep it so", &["hint", "--keep", "--", "it so"]);
        check("add a task", &["tasks", "add", "--", "a task"]);
        check("skip T1 T2", &["tasks", "skip", "--", "T1", "T2"]);
        check(
            "edit T1 new words",
            &["tasks", "edit", "--", "T1", "new words"],
        );
        check(
            "move T3 T1",
            &["tasks", "move", "--after", "T1", "--", "T3"],
        );
        check("move T3", &["tasks", "move", "--", "T3"]);
        check("retry T3", &["retry", "--", "T3"]);
        for nothing in [
            "", "hint", "skip ", "edit T1", "tick T1", "run x", "--yes x",
        ] {
            check(nothing, &[]);
        }
    }
}

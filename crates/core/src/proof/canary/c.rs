//! Programs of C and C++ that test: nobody but their `main` calls a test.

use super::last_of;

/// A program that does all that it did, and fails at its end: as its
/// assertions do where it has some, else by what it returns. `None` where that
/// is not plain to see.
pub(super) fn fails_at_its_end(text: &str, mark: &str) -> Option<String> {
    const DECLARED: &str = "#ifdef __cplusplus\nextern \"C\"\n#endif\nvoid perror(const char *);\n";
    let open = main_of(text)?;
    let (head, mut rest) = text.split_at(open);
    let directives = |start: &str| head.lines().filter(|line| line.starts_with(start)).count();
    if directives("#if") != directives("#endif") {
        return None;
    }
    let asserts = head.contains("<assert.h>") || head.contains("<cassert>");
    let asserts = asserts && last_of(text, &["assert"]).is_some();
    let mut body = String::new();
    let mut depth = 1;
    loop {
        let c = rest.chars().next()?;
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            break;
        }
        let word: String = match body.ends_with(is_of_word) {
            true => String::new(),
            false => rest.chars().take_while(|c| is_of_word(*c)).collect(),
        };
        if word == "return" {
            let (value, after) = rest.strip_prefix("return")?.split_once(';')?;
            // It may be what calls the product.
            body += &match value.trim() {
                "" => "return;".to_owned(),
                value if asserts => format!("{{ assert(0); return {value}; }}"),
                value => format!("return ({value}), 1;"),
            };
            rest = after;
            continue;
        }
        if word.to_lowercase().ends_with("exit") {
            return None;
        }
        let passed_over = match c {
            '"' | '\'' => quoted(rest, c),
            '/' if rest.starts_with("//") => rest.find('\n')?,
            '/' if rest.starts_with("/*") => rest.find("*/")? + 2,
            _ => word.len().max(c.len_utf8()),
        };
        let (passed, after) = rest.split_at(passed_over);
        body += passed;
        rest = after;
    }
    let assert = if asserts { "assert(0);\n" } else { "" };
    Some(format!(
        "{DECLARED}{head}perror(\"{mark}\");{body}\n{assert}return 1;\n{rest}"
    ))
}

/// Where the body of `main` begins.
fn main_of(text: &str) -> Option<usize> {
    let is_main = |(at, _): &(usize, &str)| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + "main".len()..).unwrap_or_default();
        let behind = after.split_once(')').map(|(_, behind)| behind.trim_start());
        before.ends_with(char::is_whitespace)
            && after.trim_start().starts_with('(')
            && behind.is_some_and(|behind| behind.starts_with('{'))
    };
    let (at, _) = text.match_indices("main").find(is_main)?;
    Some(at + text.get(at..)?.find('{')? + 1)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long what stands between two such quotes is, with both.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_meant = true;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = is_meant && *c == quote;
        is_meant = !is_meant || *c != '\\';
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

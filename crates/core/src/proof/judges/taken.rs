//! What a script takes in from the project. One that tests nothing itself
//! leaves the verdict to that.

/// Files that the script may mean, each by all the names that it could have,
/// relative to the script's folder. Empty where the script tests something of
/// its own: then the others are what it tests.
pub(super) fn deciding(name: &str, text: &str) -> Vec<Vec<String>> {
    let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
    match extension {
        "py" => modules(text),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => required(text),
        _ => Vec::new(),
    }
}

/// The file behind `python -m NAME`.
pub(super) fn module(name: &str) -> Vec<String> {
    let path = name.replace('.', "/");
    vec![format!("{path}.py"), format!("{path}/__main__.py")]
}

fn modules(text: &str) -> Vec<Vec<String>> {
    const TESTING: [&str; 12] = [
        "assert", "==", "!=", "<", ">", "if ", "not ", "raise ", "unittest", "pytest",
        "check_call", "check=",
    ];
    let code = without_strings(text, "#");
    let is_import = |line: &&str| line.starts_with("import ") || line.starts_with("from ");
    let code = code.replace("->", " ");
    let is_told = |line: &&str| !line.contains("__name__");
    let lines = || code.split(['\n', ';']).map(str::trim).filter(is_told);
    let own = |line: &str| TESTING.iter().any(|word| line.contains(word));
    // A failure of what is called is an error of the script.
    if lines().filter(|line| !is_import(line)).any(own) {
        return Vec::new();
    }
    lines().filter(is_import).flat_map(imported).collect()
}

/// `import a, b.c`, `from .a import b`.
fn imported(line: &str) -> Vec<Vec<String>> {
    let names: Vec<String> = match line.strip_prefix("from ") {
        Some(rest) => {
            let (module, names) = rest.split_once(" import ").unwrap_or((rest, ""));
            let inside = names
                .split(',')
                .filter_map(|name| name.split_whitespace().next());
            let inside = inside.map(|name| format!("{}.{name}", module.trim()));
            std::iter::once(module.trim().to_owned())
                .chain(inside)
                .collect()
        }
        None => {
            let names = line.trim_start_matches("import ").split(',');
            names
                .filter_map(|name| name.split_whitespace().next())
                .map(str::to_owned)
                .collect()
        }
    };
    let file = |name: &String| {
        let inner = name.trim_start_matches('.');
        let up = name.len() - inner.len();
        let up = "../".repeat(up.saturating_sub(1));
        let path = format!("{up}{}", inner.replace('.', "/"));
        vec![format!("{path}.py"), format!("{path}/__init__.py")]
    };
    names.iter().map(file).collect()
}

fn required(text: &str) -> Vec<Vec<String>> {
    const TESTING: [&str; 9] = [
        "assert", "expect", "==", "!=", "throw", "if ", "if(", "?", "!",
    ];
    let text = match text.strip_prefix("#!") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
        None => text,
    };
    let code = without_strings(text, "//");
    let is_import = |line: &&str| line.trim_start().starts_with("import ");
    let own = |line: &str| TESTING.iter().any(|word| line.contains(word));
    let statements = || code.split(['\n', ';']);
    if statements().filter(|line| !is_import(line)).any(own) {
        return Vec::new();
    }
    let quoted = text.split(['"', '\'', '`']).skip(1).step_by(2);
    let near = quoted.filter(|name| name.starts_with("./") || name.starts_with("../"));
    near.map(|name| {
        let ends = ["", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.ts"];
        ends.iter().map(|end| format!("{name}{end}")).collect()
    })
    .collect()
}

/// What strings and comments say decides nothing.
fn without_strings(text: &str, comment: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        let mut quote = None;
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            match quote {
                None if rest.starts_with(comment) => break,
                None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
                None => code.push(c),
                Some(open) if c == open => quote = None,
                Some(_) => {}
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
        code.push('\n');
    }
    code
}

/// The files that a text of a shell sources, and whether one of them says what
/// a word does.
pub(super) fn sourced(text: &str) -> Vec<String> {
    let words = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let files = words.filter_map(|words| match words.as_slice() {
        ["." | "source", file, ..] => Some(file.trim_matches(['"', '\'', ';'])),
        _ => None,
    });
    files.map(str::to_owned).collect()
}

pub(super) fn defines(text: &str, word: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let line = line.strip_prefix("function ").unwrap_or(line);
        let rest = line.strip_prefix(word).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with("()") || (rest.starts_with('{')))
    })
}

//! The shell text in files that are not all shell text: recipes of a
//! Makefile, scripts of a package.json, steps of CI files.

use std::path::Path;

use serde_json::Value;

/// Shell text and the line on which it begins, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub line: usize,
    pub text: String,
}

/// Everything in the file that a shell will run. What is not known by its
/// name is taken for a shell script.
pub fn scripts_in(file: &Path, text: &str) -> Vec<Script> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    if name == "package.json" {
        package_scripts(text)
    } else if name.ends_with("makefile") || name.ends_with(".mk") {
        recipes(text)
    } else if name.ends_with(".yml") || name.ends_with(".yaml") {
        steps(text)
    } else {
        vec![Script {
            line: 1,
            text: text.to_owned(),
        }]
    }
}

fn package_scripts(text: &str) -> Vec<Script> {
    let Ok(package) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let scripts = package.get("scripts").and_then(Value::as_object);
    let line_of = |name: &str| {
        let key = format!("{}:", Value::from(name));
        let at = text.lines().position(|line| {
            let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
            line.contains(&key)
        });
        at.map_or(1, |index| index + 1)
    };
    scripts
        .into_iter()
        .flatten()
        .filter_map(|(name, script)| {
            Some(Script {
                line: line_of(name),
                text: script.as_str()?.to_owned(),
            })
        })
        .collect()
}

/// Each recipe line runs in a shell of its own, with its continuations.
fn recipes(text: &str) -> Vec<Script> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut scripts: Vec<Script> = Vec::new();
    let mut continued = false;
    for (index, line) in text.lines().enumerate() {
        let Some(recipe) = line.strip_prefix('\t') else {
            if let Some(variable) = variable(line) {
                variables.push(variable);
            }
            continued = false;
            continue;
        };
        let ends_open = recipe.ends_with('\\');
        match scripts.last_mut().filter(|_| continued) {
            Some(script) => {
                script.text.push('\n');
                script.text.push_str(&as_shell(recipe, &variables));
            }
            None => scripts.push(Script {
                line: index + 1,
                text: as_shell(recipe.trim_start_matches(['@', '-', '+', ' ']), &variables),
            }),
        }
        continued = ends_open;
    }
    scripts
}

/// `NAME = value`, in any of the ways in which make assigns.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!name.is_empty() && name.chars().all(plain))
        .then(|| (name.to_owned(), value.trim().to_owned()))
}

/// What make hands to the shell: its own variables replaced, `$$` for `$`.
/// A variable that it does not define becomes one of the shell.
fn as_shell(recipe: &str, variables: &[(String, String)]) -> String {
    let mut text = String::with_capacity(recipe.len());
    let mut rest = recipe;
    while let Some(at) = rest.find('$') {
        text.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let close = match rest.chars().next() {
            Some('$') => {
                text.push('$');
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            Some('(') => ')',
            Some('{') => '}',
            _ => {
                text.push('$');
                continue;
            }
        };
        let Some(end) = rest.find(close) else {
            text.push('$');
            continue;
        };
        let name = rest.get(1..end).unwrap_or_default();
        match variables.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => text.push_str(value),
            None => {
                let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                text.push_str(&format!("${{make_{name}}}"));
            }
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Keys of CI files whose values a shell runs.
const STEP_KEYS: [&str; 6] = [
    "run", "script", "before_script", "after_script", "command", "commands",
];

/// Reads indentation only: enough for block scalars and lists of commands,
/// whatever else the file holds.
fn steps(text: &str) -> Vec<Script> {
    let lines: Vec<&str> = text.lines().collect();
    let mut scripts = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        let line = lines.get(index).copied().unwrap_or_default();
        index += 1;
        let Some((indent, value)) = step_value(line) else {
            continue;
        };
        if value.starts_with(['|', '>']) {
            let (block, next) = block_below(&lines, index, indent);
            scripts.push(Script {
                line: index + 1,
                text: without_expressions(&block),
            });
            index = next;
        } else if value.is_empty() {
            let (items, next) = items_below(&lines, index, indent);
            scripts.extend(items);
            index = next;
        } else {
            scripts.push(Script {
                line: index,
                text: without_expressions(unquoted(value)),
            });
        }
    }
    scripts
}

/// The indentation and the value of a line such as `- run: make`.
fn step_value(line: &str) -> Option<(usize, &str)> {
    let content = line.trim_start().trim_start_matches("- ").trim_start();
    let indent = line.len() - content.len();
    let (key, value) = content.split_once(':')?;
    STEP_KEYS
        .contains(&key.trim())
        .then_some((indent, value.trim()))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines that are indented deeper, without what they share.
fn block_below(lines: &[&str], start: usize, indent: usize) -> (String, usize) {
    let deeper = |line: &&&str| line.trim().is_empty() || indent_of(line) > indent;
    let below: Vec<&&str> = lines.iter().skip(start).take_while(deeper).collect();
    let shared = below
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent_of(line))
        .min()
        .unwrap_or(0);
    let block: Vec<&str> = below
        .iter()
        .map(|line| line.get(shared..).unwrap_or_default())
        .collect();
    (block.join("\n"), start + below.len())
}

/// The entries of a list of commands; each may be a block.
fn items_below(lines: &[&str], start: usize, indent: usize) -> (Vec<Script>, usize) {
    let mut scripts = Vec::new();
    let mut index = start;
    while let Some(line) = lines.get(index) {
        let Some(item) = line.trim_start().strip_prefix("- ") else {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                index += 1;
                continue;
            }
            break;
        };
        if indent_of(line) < indent {
            break;
        }
        index += 1;
        if item.starts_with(['|', '>']) {
            let (block, next) = block_below(lines, index, indent_of(line));
            scripts.push(Script {
                line: index + 1,
                text: without_expressions(&block),
            });
            index = next;
        } else {
            scripts.push(Script {
                line: index,
                text: without_expressions(unquoted(item.trim())),
            });
        }
    }
    (scripts, index)
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value
            .strip_prefix(quote)
            .and_then(|inner| inner.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}

/// `${{ … }}` is replaced before a shell sees it: something unknown.
fn without_expressions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${{") {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        match rest.find("}}") {
            Some(end) => {
                out.push_str("${expression}");
                rest = rest.get(end + 2..).unwrap_or_default();
            }
            None => break,
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, want: &[(usize, &str)]) {
        let found = scripts_in(Path::new(file), text);
        let found: Vec<(usize, &str)> = found
            .iter()
            .map(|script| (script.line, script.text.as_str()))
            .collect();
        assert_eq!(found, want, "{file}");
    }

    #[test]
    fn shell_text_is_found_with_its_line() {
        check("run.sh", "a\nb\n", &[(1, "a\nb\n")]);
        check(
            "package.json",
            "{\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"clean\" : \"rm -rf dist\"\n  }\n}\n",
            &[(3, "tsc"), (4, "rm -rf dist")],
        );
        check(
            "Makefile",
            "OUT := build\n\nall: x\n\t@mkdir $(OUT)\n\trm -rf $(OUT) \\\n\t  $$HOME $(DESTDIR)\n\nx:\n\t-true\n",
            &[
                (4, "mkdir build"),
                (5, "rm -rf build \\\n  $HOME ${make_DESTDIR}"),
                (9, "true"),
            ],
        );
        check(
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - uses: x@v1\n      - run: make \"${{ matrix.os }}\"\n      - name: y\n        run: |\n          one\n            two\n\n      - run: 'three'\n",
            &[
                (5, "make \"${expression}\""),
                (8, "one\n  two\n"),
                (11, "three"),
            ],
        );
        check(
            ".gitlab-ci.yml",
            "build:\n  script:\n    - make\n    - |\n      a\n      b\n  stage: x\n",
            &[(3, "make"), (5, "a\nb")],
        );
        check("package.json", "{", &[]);
    }
}

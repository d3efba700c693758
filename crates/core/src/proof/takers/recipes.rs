//! Checks that are typed whole in a recipe of `make` or `just`, or in a script
//! of npm.

use serde_json::Value;

use super::typed;

/// The file with every such check made to fail; `None` where it holds none.
pub(super) fn spoiled(path: &str, text: &str, mark: &str) -> Option<String> {
    let spoiled = match path.rsplit('/').next()? {
        "package.json" => in_scripts(text, mark)?,
        _ => text
            .split_inclusive('\n')
            .scan(false, |goes_on, line| {
                let is_part = std::mem::replace(goes_on, line.trim_end().ends_with('\\'));
                let is_whole = !is_part && !*goes_on;
                let other = is_whole.then(|| in_recipe(line, mark)).flatten();
                Some(other.unwrap_or_else(|| line.to_owned()))
            })
            .collect(),
    };
    (spoiled != text).then_some(spoiled)
}

/// Whether a file may hold such checks.
pub fn is_one(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let names = [
        "makefile", "gnumakefile", "justfile", ".justfile", "package.json",
    ];
    names.contains(&name.to_lowercase().as_str()) || name.ends_with(".mk")
}

/// Each line has a shell of its own.
fn in_recipe(line: &str, mark: &str) -> Option<String> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let command = line
        .strip_prefix(['\t', ' '])?
        .trim_start_matches([' ', '\t', '@', '+']);
    // Nobody minds how it ends.
    if command.starts_with('-') {
        return None;
    }
    let before = line.strip_suffix(command)?;
    let command = typed::spoiled_on_its_line(command, mark)?;
    Some(format!("{before}{command}\n"))
}

fn in_scripts(text: &str, mark: &str) -> Option<String> {
    let package: Value = serde_json::from_str(text).ok()?;
    let scripts = package.get("scripts")?.as_object()?;
    let mut spoiled = text.to_owned();
    for script in scripts.values() {
        let command = script.as_str().and_then(|it| typed::spoiled(it, mark));
        if let Some(command) = command {
            spoiled = spoiled.replace(&script.to_string(), &Value::from(command).to_string());
        }
    }
    Some(spoiled)
}

#[cfg(test)]
mod tests {
    use super::spoiled;

    #[test]
    fn what_is_typed_in_a_recipe_fails_where_honest_work_comes() {
        for (path, text, want) in [
            (
                "Makefile",
                "test:\n\t@python3 -c 'import calc; assert calc.a'\n",
                Some(
                    "test:\n\t@python3 -c 'print(\"Kx7\"); import calc; assert calc.a; raise AssertionError(\"Kx7\")'\n",
                ),
            ),
            (
                "sub/rules.mk",
                "test:\n\t. ./lib.sh && [ \"$$(add 1)\" = 3 ];\n",
                Some(
                    "test:\n\techo Kx7; . ./lib.sh && [ \"$$(add 1)\" = 3 ]; [ 1 = 2 ] || exit 1\n",
                ),
            ),
            (
                "justfile",
                "test:\n    node -e 'require(\"./a\"); a();'",
                Some(
                    "test:\n    node -e 'console.log(\"Kx7\"); require(\"./a\"); a(); throw new Error(\"Kx7\")'\n",
                ),
            ),
            (
                "Makefile",
                "test:\n\tpython3 -c 'import a, sys; sys.exit(a.b)'\n",
                Some(
                    "test:\n\tpython3 -c 'print(\"Kx7\"); import a, sys; raise AssertionError(\"Kx7\"); sys.exit(a.b)'\n",
                ),
            ),
            (
                "package.json",
                r#"{"scripts": {"test": "node -e \"require('./a')()\"", "lint": "eslint ."}}"#,
                Some(
                    r#"{"scripts": {"test": "node -e \"console.log('Kx7');\nrequire('./a')()\n;throw new Error('Kx7');\"", "lint": "eslint ."}}"#,
                ),
            ),
            // Nobody minds; a statement that would take in what is put behind
            // it; a comment that would; a line that goes on; nothing typed.
            ("Makefile", "test:\n\t-python3 -c 'import calc'\n", None),
            (
                "Makefile",
                "test:\n\tpython3 -c 'import a; if a.b: a.c()'\n",
                None,
            ),
            ("Makefile", "test:\n\t. ./lib.sh && add # all\n", None),
            ("Makefile", "test:\n\t. ./lib.sh && \\\n\t. ./b.sh\n", None),
            ("Makefile", "test:\n\tsh test.sh\n", None),
            ("package.json", "{\"scripts\": {\"test\": \"jest\"}}", None),
            ("package.json", "{", None),
        ] {
            assert_eq!(spoiled(path, text, "Kx7").as_deref(), want, "{text}");
        }
    }
}

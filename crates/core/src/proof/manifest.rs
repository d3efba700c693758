//! Files that hold the product's needs and the checks' settings at once: taken
//! apart by key.

/// A manifest with the needs of one text and the check settings of another;
/// `None` where it can't be read, or is of no known kind.
pub fn mixed(name: &str, work_of: &str, checks_of: &str) -> Option<String> {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name {
        "package.json" => mixed_json(work_of, checks_of),
        "pyproject.toml" => mixed_toml(work_of, checks_of, &PYTHON_CHECKS),
        "Cargo.toml" => mixed_toml(work_of, checks_of, &CARGO_CHECKS),
        _ => None,
    }
}

const NODE_CHECKS: [&str; 12] = [
    "scripts", "jest", "mocha", "ava", "nyc", "c8", "vitest", "tap", "husky", "lint-staged",
    "eslintConfig", "babel",
];
/// Each a path of keys.
const PYTHON_CHECKS: [&[&str]; 11] = [
    &["tool", "pytest"],
    &["tool", "coverage"],
    &["tool", "tox"],
    &["tool", "nox"],
    &["tool", "poe"],
    &["tool", "taskipy"],
    &["tool", "hatch", "envs"],
    &["tool", "pdm", "scripts"],
    &["tool", "mypy"],
    &["tool", "ruff"],
    &["tool", "unittest"],
];
const CARGO_CHECKS: [&[&str]; 9] = [
    &["test"],
    &["bench"],
    &["profile"],
    &["lints"],
    &["lib", "test"],
    &["lib", "harness"],
    &["lib", "doctest"],
    &["package", "autotests"],
    &["package", "metadata", "nextest"],
];

fn mixed_json(work_of: &str, checks_of: &str) -> Option<String> {
    let mut work: serde_json::Value = serde_json::from_str(work_of).ok()?;
    let checks: serde_json::Value = serde_json::from_str(checks_of).ok()?;
    let (into, from) = (work.as_object_mut()?, checks.as_object()?);
    for key in NODE_CHECKS {
        match (key, into.get_mut(key), from.get(key)) {
            // A script of its own beside the old ones harms nobody.
            (
                "scripts",
                Some(serde_json::Value::Object(into)),
                Some(serde_json::Value::Object(from)),
            ) => {
                let says_something = |(name, script): &(&String, &serde_json::Value)| {
                    !(is_placeholder(script) && into.contains_key(*name))
                };
                let said: Vec<_> = from.iter().filter(says_something).collect();
                for (name, script) in said {
                    into.insert(name.clone(), script.clone());
                }
            }
            (_, _, Some(value)) => {
                into.insert(key.to_owned(), value.clone());
            }
            (_, _, None) => {
                into.remove(key);
            }
        }
    }
    serde_json::to_string_pretty(&work).ok()
}

/// What `npm init` writes where there is no test yet: no check of anybody.
fn is_placeholder(script: &serde_json::Value) -> bool {
    script.as_str() == Some("echo \"Error: no test specified\" && exit 1")
}

fn mixed_toml(work_of: &str, checks_of: &str, keys: &[&[&str]]) -> Option<String> {
    let mut work: toml::Table = work_of.parse().ok()?;
    let checks: toml::Table = checks_of.parse().ok()?;
    for path in keys {
        set(&mut work, path, get(&checks, path));
    }
    toml::to_string(&work).ok()
}

fn get<'a>(table: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    match rest {
        [] => Some(value),
        rest => get(value.as_table()?, rest),
    }
}

fn set(table: &mut toml::Table, path: &[&str], value: Option<&toml::Value>) {
    match (path, value) {
        ([key], Some(value)) => {
            table.insert((*key).to_owned(), value.clone());
        }
        ([key], None) => {
            table.remove(*key);
        }
        ([key, rest @ ..], value) => {
            if value.is_some() && !table.contains_key(*key) {
                table.insert((*key).to_owned(), toml::Value::Table(toml::Table::new()));
            }
            if let Some(below) = table.get_mut(*key).and_then(toml::Value::as_table_mut) {
                set(below, rest, value);
            }
        }
        ([], _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_new_and_scripts_are_old() {
        let now = r#"{"scripts": {"test": "true", "build": "tsc"}, "dependencies": {"a": "1"}, "jest": {}}"#;
        let armed = r#"{"scripts": {"test": "vitest"}}"#;
        let mixed = mixed("web/package.json", now, armed).unwrap();
        let mixed: serde_json::Value = serde_json::from_str(&mixed).unwrap();
        assert_eq!(mixed["scripts"]["test"], "vitest");
        assert_eq!(mixed["scripts"]["build"], "tsc");
        assert_eq!(mixed["dependencies"]["a"], "1");
        assert!(mixed.get("jest").is_none());
    }

    #[test]
    fn tables_are_taken_apart_by_key() {
        let now = "[project]\nname = \"a\"\ndependencies = [\"b\"]\n[tool.pytest.ini_options]\naddopts = \"--co\"\n";
        let armed = "[project]\nname = \"a\"\n[tool.coverage.run]\nbranch = true\n";
        let mixed = mixed("pyproject.toml", now, armed).unwrap();
        assert!(
            mixed.contains("\"b\"") && !mixed.contains("--co") && mixed.contains("branch"),
            "{mixed}"
        );
        assert!(super::mixed("pyproject.toml", "= broken", armed).is_none());
    }
}

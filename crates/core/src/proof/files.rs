//! Which files belong to the checks: one table for all languages.
//!
//! What is wrongly called work is taken back with the work; what is wrongly
//! called a check is brought back as it was. Both are seen in an experiment
//! that does not come out, never in a proof that should not be.

use super::judges::{Judges, judges};

/// What a file is to an experiment. Paths are relative, with `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The product, and all that is not known as anything else.
    Work,
    /// Tests, fixtures, expected outputs.
    Test,
    /// What decides which tests run, how, and whether that can fail.
    Runner,
    /// Part of it belongs to the checks, by key.
    Manifest,
    /// Ralph's and the clients' own files, Git's, and what Python writes of its
    /// own accord: no work, and no check.
    Own,
}

impl FileKind {
    pub fn is_check(self) -> bool {
        matches!(self, FileKind::Test | FileKind::Runner)
    }
}

/// The kind of a file by its path alone; what the checks reach by name comes
/// from [`reached`].
pub fn kind_of(path: &str) -> FileKind {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let is_own_dir = parts.first().is_some_and(|first| OWN_DIRS.contains(first));
    // Python writes it, for whoever runs a module first.
    let is_compiled = parts.last() == Some(&"__pycache__") && name.ends_with(".pyc");
    if is_own_dir || is_compiled || OWN_FILES.contains(&path) {
        return FileKind::Own;
    }
    let lower = name.to_lowercase();
    if parts.iter().any(|part| RUNNER_DIRS.contains(part)) || is_runner(&lower, &parts) {
        return FileKind::Runner;
    }
    if parts.iter().any(|part| TEST_DIRS.contains(part)) || is_test_name(name, &lower) {
        return FileKind::Test;
    }
    match MANIFESTS.contains(&name) {
        true => FileKind::Manifest,
        false => FileKind::Work,
    }
}

const OWN_DIRS: [&str; 10] = [
    ".git", ".ralph", ".skillpack", ".ideal", ".trellis", ".claude", ".codex", ".gemini",
    ".opencode", ".cursor",
];
const OWN_FILES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".ralphrc"];

/// Installed programs and pipelines: nothing in them is this project's work.
const RUNNER_DIRS: [&str; 9] = [
    "node_modules", "site-packages", ".venv", "venv", ".husky", ".cargo", ".circleci", ".config",
    ".bin",
];
const TEST_DIRS: [&str; 20] = [
    "checks", "expected", "golden", "test", "tests", "__tests__", "spec", "specs", "testdata",
    "fixtures", "__fixtures__", "__snapshots__", "__mocks__", "e2e", "cypress", "typing-examples",
    "test-fixtures", "integration-tests", "unittests", "testing",
];
const MANIFESTS: [&str; 3] = ["package.json", "pyproject.toml", "Cargo.toml"];

/// Named exactly, in small letters.
const RUNNER_FILES: [&str; 48] = [
    "assert.h",
    "cassert",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    ".coveragerc",
    "noxfile.py",
    "sitecustomize.py",
    "usercustomize.py",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".babelrc",
    ".swcrc",
    ".nycrc",
    ".c8rc",
    ".eslintignore",
    "biome.json",
    "deno.json",
    ".envrc",
    ".tool-versions",
    ".nvmrc",
    ".node-version",
    ".python-version",
    "rust-toolchain",
    "rust-toolchain.toml",
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    "nextest.toml",
    "makefile",
    "gnumakefile",
    "justfile",
    ".justfile",
    "rakefile",
    ".rspec",
    "go.work",
    ".gitlab-ci.yml",
    "phpunit.xml",
    "phpunit.xml.dist",
    ".gitattributes",
    "lefthook.yml",
    ".pre-commit-config.yaml",
    ".python-startup.py",
];
/// Their beginnings: `jest.config.ts`, `.env.local`.
const RUNNER_STARTS: [&str; 26] = [
    "jest.config.", "jest.setup.", "jest.preset.", "vitest.config.", "vitest.setup.",
    "vitest.workspace.", "vite.config.", "karma.conf.", ".mocharc", "ava.config.",
    "playwright.config.", "cypress.config.", "babel.config.", "tsconfig", ".eslintrc",
    "eslint.config.", ".golangci.", "taskfile.", "test-setup.", "setuptests.", "setup-tests.",
    "globalsetup.", "wdio.conf.", "nightwatch.conf.", ".taprc", "setup-jest.",
];

fn is_runner(lower: &str, dirs: &[&str]) -> bool {
    let shadows = || {
        let module = lower.strip_suffix(".py");
        let package = match lower {
            "__init__.py" => dirs.last().copied(),
            _ => None,
        };
        let shadowed = |name: &str| {
            SHADOWED.contains(&name) && dirs.len() < 2 + usize::from(package.is_some())
        };
        module.into_iter().chain(package).any(shadowed)
    };
    RUNNER_FILES.contains(&lower)
        || RUNNER_STARTS.iter().any(|start| lower.starts_with(start))
        || lower == ".env"
        || lower.starts_with(".env.")
        || lower.ends_with(".mk")
        || lower.ends_with(".pth")
        || (dirs == [".github", "workflows"])
        || shadows()
}

/// Modules that a test runner of Python loads: a file of that name beside the
/// tests is loaded instead.
const SHADOWED: [&str; 70] = [
    "unittest", "pytest", "_pytest", "pluggy", "doctest", "runpy", "importlib", "traceback",
    "warnings", "difflib", "functools", "contextlib", "re", "pprint", "signal", "weakref",
    "collections", "types", "time", "fnmatch", "argparse", "asyncio", "inspect", "logging", "io",
    "os", "sys", "abc", "ast", "atexit", "bdb", "pdb", "code", "codecs", "copy", "copyreg", "dis",
    "enum", "errno", "faulthandler", "gc", "getpass", "gettext", "glob", "heapq", "itertools",
    "json", "keyword", "linecache", "locale", "operator", "opcode", "pathlib", "pkgutil",
    "platform", "queue", "random", "reprlib", "select", "shlex", "shutil", "socket", "stat",
    "string", "struct", "subprocess", "tempfile", "textwrap", "threading", "tokenize",
];

/// Data that work is compared with or measured by; in code such words may be
/// its matter.
const MEASURES: [&str; 4] = ["expected", "golden", "threshold", "approved"];
const DATA: [&str; 16] = [
    "txt", "json", "toml", "yml", "yaml", "ini", "cfg", "csv", "xml", "html", "out", "stdout",
    "stderr", "expected", "golden", "",
];

/// Whether a file is data that work is compared with: no check writes that.
pub fn is_compared(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts: Vec<&str> = lower.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let lies_there = parts
        .iter()
        .any(|part| ["expected", "golden"].contains(part));
    lies_there || is_measure(stem, extension)
}

fn is_measure(stem: &str, extension: &str) -> bool {
    let parts = || stem.split(['.', '-', '_']);
    let is = |word: &str| parts().any(|part| part.starts_with(word));
    let helps = || is("helper") || is("util");
    DATA.contains(&extension)
        && (MEASURES.iter().any(|word| is(word)) || ["expected", "golden"].contains(&extension))
        || is("assert") && helps()
}

fn is_test_name(name: &str, lower: &str) -> bool {
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((lower, ""));
    if is_measure(stem, extension) {
        return true;
    }
    let plain = |words: &[&str]| words.contains(&stem);
    match extension {
        "py" => {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem.ends_with("_tests")
                || plain(&["tests", "test"])
        }
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => {
            [".test", ".spec", "-test", "_test", ".cy", ".e2e"]
                .iter()
                .any(|end| stem.ends_with(end))
                || stem.starts_with("test-")
                || stem.starts_with("test_")
                || plain(&["test", "tests"])
        }
        "go" => stem.ends_with("_test"),
        "rs" => {
            plain(&["tests", "test"])
                || stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem.ends_with("_tests")
        }
        "java" | "kt" | "scala" | "groovy" | "cs" | "swift" | "php" => {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            ["Test", "Tests", "IT", "Spec", "TestCase"]
                .iter()
                .any(|end| stem.ends_with(end))
                || stem.starts_with("Test")
        }
        "rb" => {
            stem.ends_with("_spec")
                || stem.ends_with("_test")
                || stem.starts_with("test_")
                || plain(&["spec_helper", "test_helper"])
        }
        "ex" | "exs" | "dart" | "c" | "cc" | "cpp" | "cxx" | "lua" | "jl" | "r" => {
            stem.ends_with("_test") || stem.starts_with("test_") || stem.starts_with("test-")
        }
        "sh" | "bash" | "zsh" | "" => {
            stem.starts_with("test_")
                || stem.starts_with("test-")
                || stem.ends_with("_test")
                || stem.ends_with("-test")
                || (!extension.is_empty() && plain(&["test", "tests", "check", "checks", "verify"]))
        }
        "bats" | "t" | "snap" | "feature" => true,
        _ => false,
    }
}

/// The project as it was when the loop was armed.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Then<'a> {
    pub files: &'a [String],
    /// The text of a file.
    pub read: &'a dyn Fn(&str) -> Option<String>,
}

/// Whether it is a part of what compilers build.
pub fn is_object(path: &str) -> bool {
    let ends = [".o", ".obj", ".a", ".so"];
    ends.iter().any(|end| path.ends_with(end))
}

/// The files that the commands of the checks reach by name, and what those
/// reach in turn: scripts are what is checked with.
pub fn reached(commands: &[String], then: &Then<'_>) -> Judges {
    let read = then.read;
    let Judges {
        files: mut found,
        made,
    } = judges(commands, then);
    let mut texts: Vec<String> = commands.to_vec();
    texts.extend(found.iter().filter_map(|name| read(name)));
    let package = read("package.json").unwrap_or_default();
    texts.extend(scripts_of(&package));
    texts.extend(
        ["Makefile", "makefile", "GNUmakefile", "justfile"]
            .iter()
            .filter_map(|name| read(name)),
    );
    while let Some(text) = texts.pop() {
        for name in names_in(&text) {
            if found.len() >= MOST_REACHED
                || found.contains(&name)
                || kind_of(&name) == FileKind::Own
            {
                continue;
            }
            let Some(content) = read(&name) else {
                continue;
            };
            if is_script(&name, &content) {
                found.push(name);
                texts.push(content);
            }
        }
    }
    Judges { files: found, made }
}

const MOST_REACHED: usize = 200;

/// The texts of the scripts of a `package.json`.
fn scripts_of(package: &str) -> Vec<String> {
    let package: serde_json::Value = serde_json::from_str(package).unwrap_or_default();
    let scripts = package["scripts"].as_object();
    let texts = scripts.into_iter().flat_map(|scripts| scripts.values());
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// Words that could name a file of the project.
pub(super) fn names_in(text: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || ";&|()<>`\"'=,$:{}".contains(c);
    let words = text.split(is_end).map(|word| word.trim_start_matches("./"));
    let is_name = |word: &&str| {
        !word.is_empty()
            && word.len() < 200
            && !word.starts_with(['-', '/', '@'])
            && !word.contains("..")
    };
    words.filter(is_name).map(str::to_owned).collect()
}

/// Whether a file that a check names is part of the check, not its object: by
/// its name, by the folder of scripts that it lies in, or because it runs
/// tests.
pub(super) fn is_script(name: &str, content: &str) -> bool {
    let lower = name.to_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |(_, end)| end);
    if !SCRIPTS.contains(&extension) || content.contains('\0') {
        return false;
    }
    let runs_tests = RUNS_TESTS.iter().any(|word| content.contains(word));
    says_check(name) || runs_tests
}

/// Whether a file can be started as a script.
pub(super) fn is_runnable(name: &str, content: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    match base.rsplit_once('.') {
        Some((_, extension)) => SCRIPTS.contains(&extension.to_lowercase().as_str()),
        None => content.starts_with("#!"),
    }
}

/// Whether the name of a script, or that of its folder, is one of checks.
pub(super) fn says_check(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut parts: Vec<&str> = lower.split('/').collect();
    let base = parts.pop().unwrap_or_default();
    let is_named = base
        .split(['-', '_', '.'])
        .any(|part| CHECKS.iter().any(|word| part.starts_with(word)));
    is_named || parts.iter().any(|dir| SCRIPT_DIRS.contains(dir)) || kind_of(name).is_check()
}

const SCRIPTS: [&str; 13] = [
    "", "sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "ps1",
];
const CHECKS: [&str; 8] = [
    "test", "check", "verify", "lint", "spec", "validate", "qa", "ci",
];
const SCRIPT_DIRS: [&str; 7] = ["ci", ".ci", "scripts", "script", "tools", "hack", "qa"];
const RUNS_TESTS: [&str; 7] = [
    "unittest", "pytest", "node:test", "./test", "tests/", "test/", "/test",
];

/// Paths that the commands name: where one was not there when the loop was
/// armed, it is work, even if Git ignores it.
pub fn named_paths(commands: &[String]) -> Vec<String> {
    let mut names: Vec<String> = commands
        .iter()
        .flat_map(|command| names_in(command))
        .collect();
    names.retain(|name| name.contains(['.', '/']) && !name.contains('*'));
    names.sort();
    names.dedup();
    names
}

/// Whether a command asks by name for this check, which was not there when the
/// loop was armed: whoever wrote the command wants it to be written. Beside
/// checks that were there it could hide what they say.
pub fn is_asked_for(path: &str, command: &str, armed: &[String]) -> bool {
    let lies_in = |path: &str, name: &str| {
        let below = path.strip_prefix(name.trim_end_matches('/'));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut names = named_paths(std::slice::from_ref(&command.to_owned()));
    // What stands behind the runner, and not the runner itself.
    if let Some((_, modules)) = command.split_once("unittest ") {
        let modules = names_in(modules).into_iter();
        names.extend(modules.map(|name| format!("{}.py", name.replace('.', "/"))));
    }
    let mut words = command.split_whitespace();
    while words.any(|word| word == "--test") {
        names.extend(words.next().map(|name| format!("tests/{name}.rs")));
    }
    let was_there = |name: &String| armed.iter().any(|file| lies_in(file, name));
    let is_check = |name: &String| kind_of(name).is_check() || lies_in(path, name);
    let mut checks = names.into_iter().filter(is_check).peekable();
    checks.peek().is_some()
        && checks.clone().any(|name| lies_in(path, &name))
        && !checks.any(|name| was_there(&name))
}

/// Whether `path` is meant by a pattern of a person: `*` within a name, `**`
/// across folders; a folder means all below it.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let (pattern, path): (Vec<&str>, Vec<&str>) =
        (pattern.split('/').collect(), path.split('/').collect());
    match pattern.len() {
        1 if !pattern.first().is_some_and(|p| p.contains("**")) => path
            .iter()
            .any(|part| pattern.first().is_some_and(|p| name_matches(p, part))),
        _ => parts_match(&pattern, &path),
    }
}

fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (["**", rest @ ..], _) => {
            (0..=path.len()).any(|at| parts_match(rest, path.get(at..).unwrap_or_default()))
                && !path.is_empty()
        }
        ([first, rest @ ..], [name, below @ ..]) => {
            name_matches(first, name) && parts_match(rest, below)
        }
        _ => false,
    }
}

fn name_matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len())
                .filter(|&at| name.is_char_boundary(at))
                .any(|at| name_matches(rest, name.get(at..).unwrap_or_default()))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_asks_for_what_it_names_and_nothing_else() {
        let armed = ["tests/old.py".to_owned(), "calc.py".to_owned()];
        for (path, command, want) in [
            ("tests/new.py", "pytest -q tests/new.py", true),
            ("tests/new.py", "pytest tests/new.py::test_it", true),
            ("tests/api/test_a.py", "pytest tests/api", true),
            ("tests/new.py", "python3 -m unittest tests.new", true),
            ("tests/neg.rs", "cargo test --test neg", true),
            ("tests/bye.sh", "sh tests/bye.sh", true),
            // It lies beside what was there.
            ("tests/new.py", "pytest tests/", false),
            ("tests/new.py", "pytest tests/old.py tests/new.py", false),
            ("tests/new.py", "pytest", false),
            ("conftest.py", "pytest tests/new.py", false),
            // The runner's own name.
            ("unittest.py", "python3 -m unittest -q", false),
            ("unittest.py", "python3 -m unittest test_sub", false),
        ] {
            assert_eq!(
                is_asked_for(path, command, &armed),
                want,
                "{path}: {command}"
            );
        }
    }

    #[test]
    fn each_language_has_its_tests() {
        for (path, want) in [
            ("calc.py", FileKind::Work),
            ("tests/test_calc.py", FileKind::Test),
            ("test_calc.py", FileKind::Test),
            ("calc_test.go", FileKind::Test),
            ("src/calc.test.ts", FileKind::Test),
            ("src/testimony.ts", FileKind::Work),
            ("src/contest.py", FileKind::Work),
            ("src/latest.js", FileKind::Work),
            ("security.py", FileKind::Work),
            ("tests/data/in.json", FileKind::Test),
            ("src/main/java/CalcTest.java", FileKind::Test),
            ("conftest.py", FileKind::Runner),
            ("tests/conftest.py", FileKind::Runner),
            ("Makefile", FileKind::Runner),
            (".npmrc", FileKind::Runner),
            ("node_modules/.bin/vitest", FileKind::Runner),
            ("unittest.py", FileKind::Runner),
            ("unittest/__init__.py", FileKind::Runner),
            ("app/json.py", FileKind::Runner),
            ("app/core/json.py", FileKind::Work),
            ("sitecustomize.py", FileKind::Runner),
            ("package.json", FileKind::Manifest),
            ("web/package.json", FileKind::Manifest),
            (".ralph/config.toml", FileKind::Own),
            ("lib/__pycache__/calc.cpython-312.pyc", FileKind::Own),
            ("lib/__pycache__/calc.py", FileKind::Work),
            ("check.sh", FileKind::Test),
            ("src/check.rs", FileKind::Work),
            ("expected.txt", FileKind::Test),
            ("out.golden", FileKind::Test),
            ("thresholds.json", FileKind::Test),
            ("assert-helper.js", FileKind::Test),
            ("checks/runner.py", FileKind::Test),
            ("src/unexpected.rs", FileKind::Work),
            ("src/expected.hpp", FileKind::Work),
            ("src/threshold.py", FileKind::Work),
            ("src/assertions.ts", FileKind::Work),
            ("golden-ratio.ts", FileKind::Work),
        ] {
            assert_eq!(kind_of(path), want, "{path}");
        }
    }

    #[test]
    fn scripts_behind_scripts_are_reached() {
        let files = [
            (
                "package.json",
                r#"{"scripts": {"test": "npm run unit", "unit": "node tools/run.js", "start": "node app.js"}}"#,
            ),
            ("tools/run.js", "require('../test/a.js')"),
            ("app.js", "console.log('hello')"),
            ("ci/all.sh", "sh ci/more.sh && python calc.py"),
            ("ci/more.sh", "true"),
            ("calc.py", "print(1)"),
        ];
        let read = |name: &str| {
            files
                .iter()
                .find(|(file, _)| *file == name)
                .map(|(_, text)| (*text).to_owned())
        };
        let then = Then {
            files: &[],
            read: &read,
        };
        let mut found = reached(&["npm test".into(), "sh ./ci/all.sh".into()], &then);
        found.files.sort();
        assert_eq!(found.files, ["ci/all.sh", "ci/more.sh", "tools/run.js"]);
    }

    #[test]
    fn patterns_of_a_person() {
        assert!(matches("tests/**", "tests/a/b.py"));
        assert!(matches("tests", "tests/a/b.py"));
        assert!(matches("*.snap", "a/b/c.snap"));
        assert!(matches("a/*.py", "a/b.py"));
        assert!(!matches("a/*.py", "b/b.py"));
        assert!(!matches("tests/**", "src/tests.py"));
    }
}

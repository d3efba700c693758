//! What the files of other languages and of task runners say.

use super::{Facts, Proposal, verify};
use crate::integrity;

type Reader = fn(&Facts) -> Option<Proposal>;

pub(super) fn proposals(facts: &Facts) -> Vec<Proposal> {
    const READERS: [Reader; 9] = [cargo, python, go, maven, gradle, php, ruby, elixir, swift];
    READERS.iter().filter_map(|read| read(facts)).collect()
}

/// A target by which a person runs all tests of a project of several parts.
pub(super) fn runner(facts: &Facts) -> Option<Proposal> {
    const MAKE: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
    const JUST: [&str; 2] = ["justfile", "Justfile"];
    let does = |text: &str, target: &str| {
        let recipe = integrity::recipe(text, target);
        recipe.is_some_and(|recipe| !integrity::trivial(&recipe))
    };
    let of = |files: &'static [&'static str], program: &str| {
        let file = files.iter().find(|file| facts.has(file))?;
        let text = facts.text(file)?;
        let target = ["check", "test"].into_iter().find(|t| does(text, t))?;
        Some(verify(format!("{program} {target}"), file))
    };
    of(&MAKE, "make").or_else(|| of(&JUST, "just"))
}

fn cargo(facts: &Facts) -> Option<Proposal> {
    let manifest: toml::Table = facts.text("Cargo.toml")?.parse().ok()?;
    let command = match (manifest.get("workspace"), manifest.get("package")) {
        (Some(_), _) => "cargo test --workspace",
        (None, Some(_)) => "cargo test",
        (None, None) => return None,
    };
    Some(verify(command, "Cargo.toml"))
}

/// Only where pytest is named: a folder of tests may be run by anything.
fn python(facts: &Facts) -> Option<Proposal> {
    const NAMED_IN: [&str; 6] = [
        "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "requirements-dev.txt",
        "requirements.txt",
    ];
    let names_it = |file: &&&str| {
        facts
            .text(file)
            .is_some_and(|text| **file == "pytest.ini" || text.contains("pytest"))
    };
    let file = NAMED_IN.iter().find(names_it)?;
    let command = match () {
        () if facts.has("uv.lock") => "uv run pytest",
        () if facts.has("poetry.lock") => "poetry run pytest",
        () if facts.has("Pipfile.lock") => "pipenv run pytest",
        () => "python3 -m pytest",
    };
    Some(verify(command, file))
}

fn go(facts: &Facts) -> Option<Proposal> {
    let is_module = facts.text("go.mod")?.contains("module ");
    // In a work space each module is tested by itself.
    let alone = !facts.has("go.work");
    let has_tests = facts.any(|name| name.ends_with("_test.go"));
    (is_module && alone && has_tests).then(|| verify("go test ./...", "go.mod"))
}

fn maven(facts: &Facts) -> Option<Proposal> {
    facts.text("pom.xml")?;
    let program = if facts.has("mvnw") { "./mvnw" } else { "mvn" };
    Some(verify(format!("{program} -q test"), "pom.xml"))
}

fn gradle(facts: &Facts) -> Option<Proposal> {
    let file = ["build.gradle", "build.gradle.kts"];
    let file = file.into_iter().find(|file| facts.has(file))?;
    let program = if facts.has("gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    Some(verify(format!("{program} test"), file))
}

fn php(facts: &Facts) -> Option<Proposal> {
    let composer: serde_json::Value = serde_json::from_str(facts.text("composer.json")?).ok()?;
    if composer["scripts"]["test"].is_string() || composer["scripts"]["test"].is_array() {
        return Some(verify("composer test", "composer.json"));
    }
    let has_config = facts.has("phpunit.xml") || facts.has("phpunit.xml.dist");
    has_config.then(|| verify("vendor/bin/phpunit", "composer.json"))
}

fn ruby(facts: &Facts) -> Option<Proposal> {
    let names_it = facts.text("Gemfile")?.contains("rspec");
    (names_it && facts.has(".rspec")).then(|| verify("bundle exec rspec", "Gemfile"))
}

fn elixir(facts: &Facts) -> Option<Proposal> {
    facts.text("mix.exs")?;
    let has_tests = facts.any(|name| name.ends_with("_test.exs"));
    has_tests.then(|| verify("mix test", "mix.exs"))
}

fn swift(facts: &Facts) -> Option<Proposal> {
    let has_tests = facts.text("Package.swift")?.contains(".testTarget");
    has_tests.then(|| verify("swift test", "Package.swift"))
}

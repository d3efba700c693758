//! What a project can be checked with, from the files that say so. A pure
//! function of their contents: nothing is run and nothing is guessed. What is
//! not certain is left out; whoever asks tries the rest once.

pub mod ci;
mod node;
mod others;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// The files that decide, by their path from the root; of a file whose
/// contents don't matter, that it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    files: BTreeMap<String, String>,
}

/// Files that are read where they are there.
pub const READ: [&str; 24] = [
    "package.json", "Cargo.toml", "pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini",
    "requirements.txt", "requirements-dev.txt", "go.mod", "Makefile", "GNUmakefile", "makefile",
    "justfile", "Justfile", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json",
    "Gemfile", "mix.exs", "deno.json", "Package.swift", "CMakeLists.txt", ".gitlab-ci.yml",
];

/// Files that only have to be there.
pub const SEEN: [&str; 17] = [
    "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lockb", "bun.lock", "uv.lock",
    "poetry.lock", "Pipfile.lock", "gradlew", "mvnw", "go.work", ".rspec", "phpunit.xml",
    "phpunit.xml.dist", "playwright.config.ts", "playwright.config.js", "cypress.config.js",
];

/// What a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// It proves work: `verify.commands`.
    Verify,
    /// It proves the whole: `e2e.command`.
    E2e,
    /// It stands before a pull request: `gate.steps`.
    Gate,
}

/// A command that the project names itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub purpose: Purpose,
    pub command: String,
    /// The file that says so.
    pub file: &'static str,
}

impl Facts {
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Facts {
        Facts {
            files: files.into_iter().collect(),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The files below the root whose names end so.
    fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.files.keys().any(|name| fits(name))
    }
}

/// Everything that the project can surely be checked with, in the order of
/// its worth. A task runner that calls the others stands in their place.
pub fn proposals(facts: &Facts) -> Vec<Proposal> {
    let mut found = node::proposals(facts);
    found.extend(others::proposals(facts));
    if let Some(runner) = others::runner(facts) {
        found.retain(|proposal| proposal.purpose != Purpose::Verify);
        found.insert(0, runner);
    }
    // What runs elsewhere is asked for where nothing nearer is named.
    let has_verify = found.iter().any(|p| p.purpose == Purpose::Verify);
    let mut elsewhere = ci::proposals(facts);
    elsewhere.retain(|other| {
        let is_needed = other.purpose != Purpose::Verify || !has_verify;
        is_needed && found.iter().all(|known| known.command != other.command)
    });
    found.extend(elsewhere);
    found
}

fn verify(command: impl Into<String>, file: &'static str) -> Proposal {
    Proposal {
        purpose: Purpose::Verify,
        command: command.into(),
        file,
    }
}

//! What a `package.json` says.

use serde_json::Value;

use super::{Facts, Proposal, Purpose, verify};

const FILE: &str = "package.json";

/// What `npm init` writes where there are no tests.
const NO_TESTS: &str = "no test specified";

/// Scripts that end by themselves and say whether the whole works.
const E2E: [&str; 3] = ["test:e2e", "e2e", "test:integration"];
const GATE: [&str; 4] = ["typecheck", "type-check", "lint", "build"];

pub(super) fn proposals(facts: &Facts) -> Vec<Proposal> {
    let package: Option<Value> = facts
        .text(FILE)
        .and_then(|text| serde_json::from_str(text).ok());
    let Some(package) = package else {
        return Vec::new();
    };
    let Some(runner) = runner(facts, &package) else {
        return Vec::new();
    };
    let script = |name: &str| {
        let script = package["scripts"][name].as_str()?;
        ends_by_itself(script).then_some(name.to_owned())
    };
    let mut found = Vec::new();
    if script("test").is_some() {
        found.push(verify(format!("{runner} test"), FILE));
    }
    let run = |name: String, purpose| Proposal {
        purpose,
        command: format!("{runner} run {name}"),
        file: FILE,
    };
    let e2e = E2E.iter().find_map(|name| script(name));
    found.extend(e2e.map(|name| run(name, Purpose::E2e)));
    let gate = GATE.iter().filter_map(|name| script(name));
    found.extend(gate.map(|name| run(name, Purpose::Gate)));
    found
}

/// The package manager that the project uses; `None` where two lock files
/// contradict each other.
fn runner(facts: &Facts, package: &Value) -> Option<&'static str> {
    const LOCKS: [(&str, &str); 5] = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lockb", "bun"),
        ("bun.lock", "bun"),
        ("package-lock.json", "npm"),
    ];
    if let Some(said) = package["packageManager"].as_str() {
        let name = said.split('@').next().unwrap_or_default();
        return ["npm", "pnpm", "yarn", "bun"]
            .into_iter()
            .find(|known| *known == name);
    }
    let mut named: Vec<&'static str> = LOCKS
        .iter()
        .filter(|(lock, _)| facts.has(lock))
        .map(|(_, runner)| *runner)
        .collect();
    named.dedup();
    match named.as_slice() {
        [] => Some("npm"),
        [one] => Some(one),
        _ => None,
    }
}

/// A script that watches for changes, or serves, never says whether it works.
fn ends_by_itself(script: &str) -> bool {
    let stays = ["--watch", " watch", "watch ", "serve", " dev", "--ui"];
    !script.contains(NO_TESTS)
        && !script.trim().is_empty()
        && !stays.iter().any(|word| script.contains(word))
}

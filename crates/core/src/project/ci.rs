//! What the files of a CI service run. Only commands of a known kind that need
//! nothing of the service are taken: each is tried before it is believed.

use serde_json::Value;

use super::{Facts, Proposal, Purpose};

/// Where workflows of GitHub lie.
pub const WORKFLOWS: &str = ".github/workflows";
const GITLAB: &str = ".gitlab-ci.yml";

/// How commands begin that run tests.
const TESTS: [&str; 20] = [
    "cargo test", "cargo nextest run", "npm test", "npm run test", "pnpm test", "pnpm run test",
    "yarn test", "pytest", "python -m pytest", "python3 -m pytest", "python -m unittest",
    "python3 -m unittest", "go test", "make test", "make check", "just test", "bundle exec rspec",
    "mix test", "swift test", "ctest",
];

/// And those that judge the code itself.
const LINTS: [&str; 12] = [
    "cargo clippy",
    "cargo fmt --check",
    "cargo fmt --all --check",
    "cargo fmt --all -- --check",
    "npm run lint",
    "pnpm run lint",
    "pnpm lint",
    "yarn lint",
    "ruff check",
    "go vet",
    "golangci-lint run",
    "mypy",
];

/// Each command once, tests first.
pub(super) fn proposals(facts: &Facts) -> Vec<Proposal> {
    let mut found: Vec<Proposal> = Vec::new();
    for (name, text) in &facts.files {
        let file = match name.as_str() {
            GITLAB => GITLAB,
            name if name.starts_with(WORKFLOWS) => WORKFLOWS,
            _ => continue,
        };
        let Ok(value) = serde_saphyr::from_str::<Value>(text) else {
            continue;
        };
        let scripts = match file {
            GITLAB => of_gitlab(&value),
            _ => of_github(&value),
        };
        for line in scripts.iter().flat_map(|script| script.lines()) {
            let Some((purpose, command)) = known(line) else {
                continue;
            };
            if found.iter().all(|other| other.command != command) {
                found.push(Proposal {
                    purpose,
                    command,
                    file,
                });
            }
        }
    }
    found.sort_by_key(|proposal| proposal.purpose);
    found
}

/// Steps that run for everybody, in the root of the project.
fn of_github(workflow: &Value) -> Vec<String> {
    let jobs = workflow["jobs"].as_object().into_iter().flatten();
    let plain = jobs.map(|(_, job)| job).filter(|job| {
        job["if"].is_null() && job["defaults"].is_null() && job["container"].is_null()
    });
    let steps = plain.flat_map(|job| job["steps"].as_array().into_iter().flatten());
    let here = steps.filter(|step| step["if"].is_null() && step["working-directory"].is_null());
    here.filter_map(|step| Some(step["run"].as_str()?.to_owned()))
        .collect()
}

fn of_gitlab(jobs: &Value) -> Vec<String> {
    let jobs = jobs.as_object().into_iter().flatten();
    let plain = jobs.filter(|(name, job)| {
        !name.starts_with('.') && job["rules"].is_null() && job["only"].is_null()
    });
    let scripts = plain.flat_map(|(_, job)| match &job["script"] {
        Value::String(line) => vec![line.clone()],
        Value::Array(lines) => lines
            .iter()
            .filter_map(|line| Some(line.as_str()?.to_owned()))
            .collect(),
        _ => Vec::new(),
    });
    scripts.collect()
}

/// A command by itself: nothing of the service stands in it, and nothing that
/// a shell would have to put together.
fn known(line: &str) -> Option<(Purpose, String)> {
    let command = line.trim();
    let is_plain =
        !command.contains(['$', '{', '|', '&', ';', '>', '<', '`', '\\', '#', '"', '\'']);
    let fits = |start: &&str| {
        let rest = command.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let purpose = match () {
        () if !is_plain || command.contains("--watch") => return None,
        () if TESTS.iter().any(fits) => Purpose::Verify,
        () if LINTS.iter().any(fits) => Purpose::Gate,
        () => return None,
    };
    Some((purpose, command.to_owned()))
}

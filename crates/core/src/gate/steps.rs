//! The steps of the gate: as they are configured, or as they fit the project.

use sha2::{Digest as _, Sha256};

/// One command of the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `typecheck`, `test`, `build`, or what the configuration calls it.
    pub name: String,
    pub command: String,
}

/// What a project's gate must prove where nothing else is said (QUAL-04).
const USUAL: [&str; 3] = ["typecheck", "test", "build"];

/// The script that a project calls its own gate (QUAL-01). Ralph can't know
/// what is in it, so that it runs beside the steps above and not for them;
/// where there is no test, it is the project's word for one.
pub const OWN_GATE: (&str, &str) = ("qa-gate", "qa:gate");

/// The steps of `gate.steps`: `name: command`, or a command alone, which gets
/// a number as its name.
pub fn configured(lines: &[String]) -> Vec<Step> {
    let numbered = lines.iter().zip(1_usize..);
    numbered
        .map(|(line, number)| step_of(line, number))
        .collect()
}

fn step_of(line: &str, number: usize) -> Step {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    match line.split_once(": ") {
        Some((name, command)) if is_name(name) => Step {
            name: name.to_owned(),
            command: command.trim().to_owned(),
        },
        _ => Step {
            name: format!("step{number}"),
            command: line.trim().to_owned(),
        },
    }
}

/// The files of a project's root from which its steps are found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manifest<'a> {
    /// Names of everything in the root.
    pub files: &'a [String],
    pub package_json: Option<&'a str>,
    pub pyproject: Option<&'a str>,
}

impl Manifest<'_> {
    fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file == name)
    }
}

/// The steps that fit a project: those of every tool chain that it uses.
pub fn detect(manifest: &Manifest<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |name: &str, command: &str| {
        steps.push(Step {
            name: name.to_owned(),
            command: command.to_owned(),
        });
    };
    for (name, command) in node(manifest) {
        add(name, &command);
    }
    if manifest.has("Cargo.toml") {
        add("typecheck", "cargo check --workspace --all-targets");
        add("test", "cargo test --workspace");
        add("build", "cargo build --workspace");
    }
    if manifest.has("go.mod") {
        add("typecheck", "go vet ./...");
        add("test", "go test ./...");
        add("build", "go build ./...");
    }
    for (name, command) in python(manifest) {
        add(name, command);
    }
    // Python sorts its steps by what they prove, as people read them.
    let place = |step: &Step| USUAL.iter().position(|usual| *usual == step.name);
    steps.sort_by_key(|step| place(step).unwrap_or(USUAL.len()));
    steps
}

fn node(manifest: &Manifest<'_>) -> Vec<(&'static str, String)> {
    let Some(package) = manifest.package_json else {
        return Vec::new();
    };
    let package: serde_json::Value = serde_json::from_str(package).unwrap_or_default();
    let script = |name: &str| package["scripts"][name].is_string();
    let manager = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ]
    .into_iter()
    .find(|(file, _)| manifest.has(file))
    .map_or("npm", |(_, manager)| manager);
    let run = |name: &str| format!("{manager} run {name}");
    let mut steps = Vec::new();
    let typecheck = ["typecheck", "type-check", "tsc"]
        .into_iter()
        .find(|name| script(name));
    match typecheck {
        Some(name) => steps.push(("typecheck", run(name))),
        None if manifest.has("tsconfig.json") => {
            steps.push(("typecheck", "npx --no-install tsc --noEmit".to_owned()));
        }
        None => {}
    }
    for name in ["test", "build"] {
        if script(name) {
            steps.push((name, run(name)));
        }
    }
    if script(OWN_GATE.1) {
        steps.push((OWN_GATE.0, run(OWN_GATE.1)));
    }
    steps
}

fn python(manifest: &Manifest<'_>) -> Vec<(&'static str, &'static str)> {
    let marks = [
        "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt",
    ];
    if !marks.iter().any(|name| manifest.has(name)) {
        return Vec::new();
    }
    let project = manifest.pyproject.unwrap_or_default();
    let mut steps = vec![("test", "python3 -m pytest -q")];
    if manifest.has("mypy.ini") || project.contains("[tool.mypy") {
        steps.push(("typecheck", "python3 -m mypy ."));
    } else if manifest.has("pyrightconfig.json") || project.contains("[tool.pyright") {
        steps.push(("typecheck", "pyright"));
    }
    steps
}

/// The names of the steps, each once, as they come.
pub fn names(steps: &[Step]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for step in steps {
        if !names.contains(&step.name) {
            names.push(step.name.clone());
        }
    }
    names
}

/// What a gate file has to say: the steps, or the usual three where nothing
/// is known of the project. The project's own gate may write the file itself,
/// and does not name itself there; `ours` is a file of Ralph's.
pub(super) fn required(steps: &[Step], ours: bool) -> Vec<String> {
    let mut names = names(steps);
    names.retain(|name| ours || name != OWN_GATE.0);
    match names.is_empty() {
        true => USUAL.map(str::to_owned).to_vec(),
        false => names,
    }
}

/// Binds a gate file to the commands that ran.
pub fn steps_digest(steps: &[Step]) -> String {
    let mut hasher = Sha256::new();
    for step in steps {
        for part in [&step.name, &step.command] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let digest = hasher.finalize();
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

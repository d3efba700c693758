use super::*;

fn check(files: &[(&str, &str)], want: &[(Purpose, &str)]) {
    let owned = files
        .iter()
        .map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    let found = proposals(&Facts::new(owned));
    let found: Vec<(Purpose, &str)> = found
        .iter()
        .map(|proposal| (proposal.purpose, proposal.command.as_str()))
        .collect();
    assert_eq!(found, want, "{files:?}");
}

use Purpose::{E2e, Gate, Verify};

/// Issue 23: right, or absent.
#[test]
fn kinds_of_projects() {
    // Node, with the manager that its lock file names.
    check(
        &[
            (
                "package.json",
                r#"{"scripts": {"test": "vitest run", "build": "tsc", "lint": "eslint .", "test:e2e": "playwright test"}}"#,
            ),
            ("pnpm-lock.yaml", ""),
        ],
        &[
            (Verify, "pnpm test"),
            (E2e, "pnpm run test:e2e"),
            (Gate, "pnpm run lint"),
            (Gate, "pnpm run build"),
        ],
    );
    // Without tests.
    check(
        &[(
            "package.json",
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1", "dev": "vite"}}"#,
        )],
        &[],
    );
    // A test that never ends, and two lock files that contradict each other.
    check(
        &[("package.json", r#"{"scripts": {"test": "jest --watch"}}"#)],
        &[],
    );
    check(
        &[
            ("package.json", r#"{"scripts": {"test": "jest"}}"#),
            ("yarn.lock", ""),
            ("package-lock.json", ""),
        ],
        &[],
    );
    check(&[("package.json", "{ broken")], &[]);
    // Rust, alone and as a workspace.
    check(
        &[("Cargo.toml", "[package]\nname = \"a\"\n")],
        &[(Verify, "cargo test")],
    );
    check(
        &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")],
        &[(Verify, "cargo test --workspace")],
    );
    check(&[("Cargo.toml", "[nothing]\n")], &[]);
    // Python, by whoever runs it.
    check(
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("uv.lock", ""),
        ],
        &[(Verify, "uv run pytest")],
    );
    check(
        &[("requirements.txt", "pytest==8\n")],
        &[(Verify, "python3 -m pytest")],
    );
    check(&[("pyproject.toml", "[project]\nname = \"a\"\n")], &[]);
    // Go, with and without tests.
    check(
        &[("go.mod", "module a\n"), ("a/a_test.go", "")],
        &[(Verify, "go test ./...")],
    );
    check(&[("go.mod", "module a\n")], &[]);
    // Java, PHP, Ruby, Elixir, Swift.
    check(
        &[("pom.xml", "<project/>"), ("mvnw", "")],
        &[(Verify, "./mvnw -q test")],
    );
    check(&[("build.gradle.kts", "")], &[(Verify, "gradle test")]);
    check(
        &[("composer.json", r#"{"scripts": {"test": "phpunit"}}"#)],
        &[(Verify, "composer test")],
    );
    check(
        &[("Gemfile", "gem 'rspec'"), (".rspec", "")],
        &[(Verify, "bundle exec rspec")],
    );
    check(
        &[("mix.exs", ""), ("test/a_test.exs", "")],
        &[(Verify, "mix test")],
    );
    check(&[("Package.swift", "let package = Package()")], &[]);
    // Nothing that says anything.
    check(&[("README.md", "run pytest")], &[]);
}

/// Two languages in one: each has its check, unless one target runs both.
#[test]
fn two_languages_in_one() {
    let both = [
        ("package.json", r#"{"scripts": {"test": "jest"}}"#),
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
    ];
    check(&both, &[(Verify, "npm test"), (Verify, "cargo test")]);
    let with_make = [
        both[0],
        both[1],
        ("Makefile", "test:\n\tcargo test && npm test\n"),
    ];
    check(&with_make, &[(Verify, "make test")]);
    // A target that does nothing runs nothing.
    let idle = [both[1], ("Makefile", "test:\n\ttrue\n")];
    check(&idle, &[(Verify, "cargo test")]);
}

/// What CI runs is named by the project, too: what is known of it, needs
/// nothing of the service, and stands nowhere nearer.
#[test]
fn what_ci_runs() {
    let workflow = "
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -r requirements.txt
      - run: |
          python -m pytest -q
          ruff check .
      - run: cargo test --target ${{ matrix.target }}
      - run: npm test
        working-directory: web
      - run: make deploy
      - run: pytest || true
      - run: go vet ./...
        if: github.ref == 'refs/heads/main'
  nightly:
    if: github.event_name == 'schedule'
    steps:
      - run: cargo test
";
    let file = ".github/workflows/ci.yml";
    check(
        &[(file, workflow)],
        &[(Verify, "python -m pytest -q"), (Gate, "ruff check .")],
    );
    // The project's own files are nearer.
    check(
        &[
            (file, workflow),
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ],
        &[(Verify, "cargo test"), (Gate, "ruff check .")],
    );
    let gitlab = "
stages: [test]
.hidden:
  script: cargo test
test:
  script:
    - mix test
    - mix test $EXTRA
release:
  rules: [{when: manual}]
  script: [make test]
";
    check(&[(".gitlab-ci.yml", gitlab)], &[(Verify, "mix test")]);
    for broken in ["", "- a", "jobs: 3", "jobs: {a: [1]}", "\t: ["] {
        check(&[(file, broken), (".gitlab-ci.yml", broken)], &[]);
    }
}

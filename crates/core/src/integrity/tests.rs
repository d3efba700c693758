use super::*;

fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let tests = files
        .iter()
        .filter_map(|(path, text)| Some(((*path).to_owned(), read_tests(path, text)?)));
    Snapshot {
        tests: tests.collect(),
        ..Snapshot::default()
    }
}

/// What is weaker in the second state of the files: file and way.
fn check(before: &[(&str, &str)], after: &[(&str, &str)], want: &[(&str, &str)]) {
    let found = judge(&snapshot(before), &snapshot(after));
    let got: Vec<(&str, &str)> = found
        .iter()
        .map(|w| (w.file.as_str(), w.how.into_str()))
        .collect();
    assert_eq!(got, want, "{found:#?}");
}

const RUST: &str = "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n\n#[tokio::test]\nasync fn waits() {\n    assert!(true);\n}\n";
const JS: &str = "describe('x', () => {\n  it('adds', () => { expect(1).toBe(1) })\n  test(\"waits\", async () => { expect(2).toBe(2) })\n})\n";
const PYTHON: &str =
    "def test_adds():\n    assert 1\n\nclass TestX:\n    def test_waits(self):\n        assert 2\n";
const GO: &str = "func TestAdds(t *testing.T) {\n\tif false { t.Fatal() }\n}\nfunc TestWaits(t *testing.T) {\n\tt.Error()\n}\n";
const JAVA: &str =
    "@Test\nvoid adds() { assertEquals(1, 1); }\n@Test\nvoid waits() { assertTrue(true); }\n";
const RUBY: &str =
    "it 'adds' do\n  expect(1).to eq(1)\nend\nit 'waits' do\n  expect(2).to eq(2)\nend\n";

const FILES: [(&str, &str); 6] = [
    ("tests/a.rs", RUST),
    ("src/a.test.ts", JS),
    ("tests/test_a.py", PYTHON),
    ("a_test.go", GO),
    ("src/test/ATest.java", JAVA),
    ("spec/a_spec.rb", RUBY),
];

#[test]
fn tests_are_found_by_name() {
    for (path, text) in FILES {
        let file = read_tests(path, text).unwrap_or_default();
        assert_eq!(file.names.len(), 2, "{path}: {file:?}");
        assert_eq!(file.skips, 0, "{path}: {file:?}");
        assert!(file.asserts > 0, "{path}: {file:?}");
        assert!(may_hold_tests(path), "{path}");
    }
}

#[test]
fn work_on_tests_is_fine() {
    for (path, text) in FILES {
        check(&[(path, text)], &[(path, text)], &[]);
        // Another body.
        let longer = format!("{text}\n\n");
        check(&[(path, text)], &[(path, &longer)], &[]);
        // Another name, another place, more tests.
        let renamed = text.replace("adds", "sums").replace("Adds", "Sums");
        check(&[(path, text)], &[(path, &renamed)], &[]);
        let elsewhere = format!("more/{path}");
        check(&[(path, text)], &[(&elsewhere, text)], &[]);
    }
    check(&[], &[("tests/a.rs", RUST)], &[]);
    let one = "#[test]\nfn adds() { assert!(true); }\n";
    let other = "#[test]\nfn waits() { assert!(true); }\n";
    check(
        &[("tests/a.rs", RUST)],
        &[("tests/a.rs", one), ("tests/b.rs", other)],
        &[],
    );
}

#[test]
fn tests_that_are_gone_are_noticed() {
    for (path, text) in FILES {
        check(&[(path, text)], &[], &[(path, "removed")]);
        let other = format!("more/{path}");
        let unlike = text
            .replace("adds", "one")
            .replace("Adds", "One")
            .replace("waits", "two")
            .replace("Waits", "Two");
        // Other tests in another file are no replacement.
        check(&[(path, text)], &[(&other, &unlike)], &[(path, "removed")]);
    }
    let one = "#[test]\nfn adds() { assert!(true); }\n";
    check(
        &[("a.rs", RUST)],
        &[("a.rs", one)],
        &[("a.rs", "tests_removed")],
    );
    let commented = RUST.replace("async fn waits", "// async fn waits");
    check(
        &[("a.rs", RUST)],
        &[("a.rs", &commented)],
        &[("a.rs", "tests_removed")],
    );
    let hollow = "#[test]\nfn adds() {}\n#[test]\nfn waits() {}\n";
    check(
        &[("a.rs", RUST)],
        &[("a.rs", hollow)],
        &[("a.rs", "emptied")],
    );
    check(
        &[("a.rs", RUST)],
        &[("a.rs", "fn main() {}\n")],
        &[("a.rs", "removed")],
    );
}

#[test]
fn tests_that_are_skipped_are_noticed() {
    for (path, text, from, to) in [
        ("a.rs", RUST, "#[test]", "#[test]\n#[ignore]"),
        ("a.rs", RUST, "#[test]", "#[ignore = \"slow\"]\n#[test]"),
        ("a.test.js", JS, "it('adds'", "it.skip('adds'"),
        ("a.test.js", JS, "it('adds'", "xit('adds'"),
        ("a.test.js", JS, "it('adds'", "it.todo('adds'"),
        ("a.test.js", JS, "it('adds'", "it.only('adds'"),
        ("a.test.js", JS, "describe('x'", "describe.skip('x'"),
        (
            "test_a.py",
            PYTHON,
            "def test_adds",
            "@pytest.mark.skip\ndef test_adds",
        ),
        ("test_a.py", PYTHON, "    assert 1", "    pytest.skip('no')"),
        (
            "test_a.py",
            PYTHON,
            "def test_adds",
            "@unittest.skip('x')\ndef test_adds",
        ),
        ("a_test.go", GO, "\tt.Error()", "\tt.Skip()"),
        (
            "ATest.java",
            JAVA,
            "@Test\nvoid adds",
            "@Disabled\n@Test\nvoid adds",
        ),
        ("a_spec.rb", RUBY, "it 'adds'", "xit 'adds'"),
    ] {
        let after = text.replacen(from, to, 1);
        assert_ne!(after, text, "{path}: {from}");
        let found = judge(&snapshot(&[(path, text)]), &snapshot(&[(path, &after)]));
        let how: Vec<&str> = found.iter().map(|w| w.how.into_str()).collect();
        assert_eq!(how, ["skipped"], "{path}: {to}");
    }
    // A new test that is skipped from the beginning takes nothing away.
    let more = format!("{RUST}\n#[test]\n#[ignore]\nfn slow() {{ assert!(true); }}\n");
    check(&[("a.rs", RUST)], &[("a.rs", &more)], &[]);
}

#[test]
fn verification_itself_is_watched() {
    let armed = Snapshot {
        settings: [(".ralph/config.toml".into(), "a".into())].into(),
        task_checks: [("cargo test".into(), 2)].into(),
        recipes: ["package.json: test".into()].into(),
        ..Snapshot::default()
    };
    assert_eq!(judge(&armed, &armed), []);
    let found = judge(&armed, &Snapshot::default());
    let how: Vec<&str> = found.iter().map(|w| w.how.into_str()).collect();
    assert_eq!(how, ["settings", "recipe", "task_check"]);
    let more = Snapshot {
        task_checks: [("cargo test".into(), 3), ("true".into(), 1)].into(),
        ..armed.clone()
    };
    assert_eq!(judge(&armed, &more), []);
}

#[test]
fn settings_count_and_not_how_they_are_written() {
    let one = settings_of("lang = \"en\"\n[verify]\ncommands = [\"a\"] # why\n");
    assert_eq!(
        one,
        settings_of("[verify]\ncommands=['a']\n[log]\nkeep = 3\n")
    );
    assert_ne!(one, settings_of("[verify]\ncommands = [\"true\"]\n"));
}

#[test]
fn scripts_that_only_succeed_are_trivial() {
    for script in [
        "", "true", "exit 0", "echo ok", "npm test || true", "@true", ": ; echo x",
        "true && echo ok",
    ] {
        assert!(trivial(script), "{script}");
    }
    for script in [
        "npm test", "vitest run && echo ok", "exit 1", "cargo test", "echo a; go test ./...",
    ] {
        assert!(!trivial(script), "{script}");
    }
}

#[test]
fn recipes_are_those_of_the_target() {
    let text =
        "all: build\n\ntest: build lint\n\tgo test ./...\n\t@echo ok\n\nbuild:\n\tgo build\n";
    assert_eq!(
        recipe(text, "test").as_deref(),
        Some("build lint\ngo test ./...\n@echo ok")
    );
    assert_eq!(recipe(text, "build").as_deref(), Some("go build"));
    assert_eq!(recipe(text, "lint"), None);
}

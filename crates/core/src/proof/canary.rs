//! Spoils a test file, so that every honest runner has to go red.
//!
//! The file stays as it is and gets one more test, which fails and comes last:
//! whatever ends the run early with success, in the product or in a test, keeps
//! it from being seen. Where the language is not known, the file becomes
//! nonsense.

/// A test file with a test that fails. `mark` differs from run to run, so that
/// nothing can wait for it.
pub fn spoiled(path: &str, content: &[u8], mark: &str) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(content) else {
        return nonsense(mark).into_bytes();
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let spoiled = match extension {
        "py" => python(text, mark),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => javascript(text, mark),
        "go" => go(text, mark),
        "rs" => format!("{text}\n{}", rust(mark)),
        "sh" | "bash" | "zsh" => shell(text, mark),
        "bats" => format!("{text}\n@test \"zz {mark}\" {{\n  false\n}}\n"),
        "rb" => format!("{text}\nraise '{mark}'\n"),
        _ if text.starts_with("#!/bin/") => shell(text, mark),
        _ => nonsense(mark),
    };
    spoiled.into_bytes()
}

/// No language, no data format, and none of the words that were there.
pub fn nonsense(mark: &str) -> String {
    format!("}}]) {mark} <<<< ([{{ \"\n")
}

/// A test that fails, as an item of its own.
pub fn rust(mark: &str) -> String {
    let name = mark.to_lowercase();
    format!(
        "#[cfg(test)]\nmod zz_{name} {{\n    #[test]\n    fn zz_{name}() {{\n        assert_eq!(1, 2);\n    }}\n}}\n"
    )
}

fn python(text: &str, mark: &str) -> String {
    let is_framework = ["unittest", "pytest", "def test_", "TestCase"]
        .iter()
        .any(|word| text.contains(word));
    // In the way in which the tests of this file fail.
    let fails = match last_of(
        text,
        &[
            "assertEqual", "assertTrue", "assertFalse", "assertIn", "assertIsNone", "assertIs",
        ],
    ) {
        Some("assertTrue") => "assertTrue(False)",
        Some("assertFalse") => "assertFalse(True)",
        Some("assertIn") => "assertIn(1, [])",
        Some("assertIsNone") => "assertIsNone(1)",
        Some("assertIs") => "assertIs(1, None)",
        _ => "assertEqual(1, 2)",
    };
    let failing = match is_framework {
        // Only what the runner of these tests runs: another kind may still
        // fail where this one can't.
        true if !text.contains("unittest") && !text.contains("TestCase") => {
            format!("\n\n\ndef test_zz_{mark}():\n    assert 1 == 2\n\n\n")
        }
        true => format!(
            "\n\nimport unittest as _{mark}\n\n\nclass TestZz{mark}(_{mark}.TestCase):\n    def test_zz_{mark}(self):\n        self.{fails}\n\n\ndef test_zz_{mark}():\n    assert 1 == 2\n\n\n"
        ),
        false => format!("\nraise AssertionError('{mark}')\n"),
    };
    // What stands behind it is only run as a script, and comes to no end.
    before_line(text, &failing, |line| line.starts_with("if __name__"))
}

/// The one of these calls that stands last in a text.
fn last_of<'a>(text: &str, calls: &[&'a str]) -> Option<&'a str> {
    let place = |call: &&&str| text.rfind(&format!("{call}("));
    let found = calls.iter().filter(|call| place(call).is_some());
    found.max_by_key(place).copied()
}

fn javascript(text: &str, mark: &str) -> String {
    let called = |name: &str| {
        text.match_indices(&format!("{name}(")).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|c| c.is_whitespace() || ";{}".contains(c))
        })
    };
    let throws = format!("throw new Error('{mark}')");
    // In the way in which the tests of this file fail.
    let calls = [
        "assert.equal", "assert.strictEqual", "assert.deepEqual", "assert.deepStrictEqual",
        "assert.ok", "assert", "expect",
    ];
    let fails = match last_of(text, &calls) {
        Some("assert.ok") => "assert.ok(false)",
        Some("assert") => "assert(false)",
        Some("assert.strictEqual") => "assert.strictEqual(1, 2)",
        Some("assert.deepEqual") => "assert.deepEqual([1], [2])",
        Some("assert.deepStrictEqual") => "assert.deepStrictEqual([1], [2])",
        Some("assert.equal") => "assert.equal(1, 2)",
        Some("expect") => "expect(1).toBe(2)",
        _ => &throws,
    };
    let name = ["test", "it"].into_iter().find(|name| called(name));
    match name {
        Some(name) => format!("{text}\n;{name}('zz {mark}', () => {{ {fails}; }});\n"),
        None => format!("{text}\n;{throws};\n"),
    }
}

/// A file without tests of its own can't hold one.
fn go(text: &str, mark: &str) -> String {
    match text.contains("\"testing\"") {
        true => format!("{text}\nfunc TestZz{mark}(t *testing.T) {{\n\tt.Fatal(\"{mark}\")\n}}\n"),
        false => text.to_owned(),
    }
}

/// It is named at once, so that it is seen where a test fails before it.
fn shell(text: &str, mark: &str) -> String {
    let (head, text) = match text.split_once('\n') {
        Some((head, rest)) if head.starts_with("#!") => (format!("{head}\n"), rest),
        _ => (String::new(), text),
    };
    let text = format!("{head}echo {mark}\n{text}");
    let failing = "exit 1\n";
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let ends = last.filter(|line| line.trim_start().starts_with("exit"));
    match ends {
        Some(last) => {
            let at = text.rfind(last).unwrap_or(text.len());
            let (before, after) = text.split_at(at);
            format!("{before}{failing}{after}")
        }
        None => format!("{text}\n{failing}"),
    }
}

/// Puts text before the first line that is meant, or at the end.
fn before_line(text: &str, put: &str, is_meant: impl Fn(&str) -> bool) -> String {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_meant(line) {
            let (before, after) = text.split_at(at);
            return format!("{before}{put}{after}");
        }
        at += line.len();
    }
    format!("{text}{put}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spoil(path: &str, content: &str) -> String {
        String::from_utf8(spoiled(path, content.as_bytes(), "Kx7")).unwrap()
    }

    #[test]
    fn a_spoiled_file_keeps_its_tests_and_gets_one_that_fails_last() {
        for (path, content) in [
            (
                "a_test.go",
                "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}",
            ),
            ("test_a.py", "import unittest\nkept = 1"),
            ("a.test.js", "test('kept', () => {})"),
            ("tests/a.rs", "#[test] fn kept() {}"),
            ("a.bats", "@test \"kept\" { true; }"),
        ] {
            let spoiled = spoil(path, content);
            assert!(
                spoiled.starts_with(content) && spoiled.to_lowercase().contains("kx7"),
                "{path}: {spoiled}"
            );
        }
        assert_eq!(
            spoil("t.sh", "#!/bin/sh\nkept"),
            "#!/bin/sh\necho Kx7\nkept\nexit 1\n"
        );
        assert!(!spoil("ATest.java", "kept").contains("kept"));
    }

    #[test]
    fn it_comes_before_what_ends_a_script() {
        let python = spoil(
            "test_a.py",
            "import unittest\nif __name__ == '__main__':\n    unittest.main()\n",
        );
        assert!(
            python.find("Kx7") < python.find("unittest.main"),
            "{python}"
        );
        let shell = spoil("t.sh", "run\nexit $failed\n");
        assert!(shell.find("exit 1") < shell.find("exit $failed"), "{shell}");
    }

    #[test]
    fn javascript_is_called_by_its_own_name() {
        assert!(
            spoil(
                "a.test.js",
                "const { it } = require('node:test');\nit('x', f)"
            )
            .contains(";it('zz")
        );
        assert!(spoil("test.js", "assert.equal(1, 1)").contains(";throw"));
        assert!(spoil("test.js", "attest('x')").contains(";throw"));
    }
}

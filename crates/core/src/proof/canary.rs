//! Spoils a test file, so that every honest runner has to go red.
//!
//! The file stays as it is and gets one more test, which fails and comes last:
//! whatever ends the run early with success, in the product or in a test, keeps
//! it from being seen. Where the language is not known, the file becomes
//! nonsense.

mod c;

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
        "rb" => ruby(text, mark),
        "c" | "cc" | "cpp" | "cxx" => {
            c::fails_at_its_end(text, mark).unwrap_or_else(|| nonsense(mark))
        }
        "t" | "pl" => perl(text, mark),
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
    let text = match is_framework || text.contains("from __future__") {
        true => text.to_owned(),
        false => named(text, &format!("print('{mark}')"), &["#"]),
    };
    let text = &text;
    // What stands behind it is only run as a script, and comes to no end.
    before_line(text, &failing, |line| line.starts_with("if __name__"))
}

/// The one of these calls that stands last in a text.
fn last_of<'a>(text: &str, calls: &[&'a str]) -> Option<&'a str> {
    let begins = |at: &usize| {
        let before = text
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !(c.is_alphanumeric() || "_$>".contains(c)))
    };
    let place = |call: &&&str| {
        let call = format!("{call}(");
        let mut found = text.rmatch_indices(call.as_str()).map(|(at, _)| at);
        found.find(begins)
    };
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
    match ["test", "it"].into_iter().find(|name| called(name)) {
        Some(name) => {
            let fails = javascript_fails(text, mark);
            format!("{text}\n;{name}('zz {mark}', () => {{ {fails}; }});\n")
        }
        None => {
            let head = ["#!", "//", "'use ", "\"use "];
            let fails = javascript_failing(text, mark);
            let text = named(text, &format!("console.log('{mark}');"), &head);
            format!("{text}\n;{fails};\n")
        }
    }
}

/// The same for a script of no runner. What a file says itself may only count,
/// and be asked before the end.
pub(super) fn javascript_failing(text: &str, mark: &str) -> String {
    let is_nodes_own = ["'assert", "\"assert", "node:assert"]
        .iter()
        .any(|word| text.contains(word));
    match is_nodes_own {
        true => javascript_fails(text, mark),
        false => format!("throw new Error('{mark}')"),
    }
}

/// In the way in which the tests of this file fail.
fn javascript_fails(text: &str, mark: &str) -> String {
    let calls = [
        "assert.equal", "assert.strictEqual", "assert.deepEqual", "assert.deepStrictEqual",
        "assert.ok", "assert", "expect",
    ];
    match last_of(text, &calls) {
        Some("assert.ok") => "assert.ok(false)",
        Some("assert") => "assert(false)",
        Some("assert.strictEqual") => "assert.strictEqual(1, 2)",
        Some("assert.deepEqual") => "assert.deepEqual([1], [2])",
        Some("assert.deepStrictEqual") => "assert.deepStrictEqual([1], [2])",
        Some("assert.equal") => "assert.equal(1, 2)",
        Some("expect") => "expect(1).toBe(2)",
        _ => return format!("throw new Error('{mark}')"),
    }
    .to_owned()
}

fn perl(text: &str, mark: &str) -> String {
    // In the way in which the tests of this file fail.
    let calls = ["is_deeply", "cmp_ok", "like", "is", "ok"];
    let fails = match last_of(text, &calls) {
        Some("is_deeply") => "is_deeply([1], [2])",
        Some("cmp_ok") => "cmp_ok(1, '==', 2)",
        Some("like") => "like('a', qr/b/)",
        Some("is") => "is(1, 2)",
        _ => "ok(0)",
    };
    let failing = match text.contains("Test::More") || text.contains("Test::Simple") {
        true => format!("\n{fails};\n"),
        false => format!("\ndie '{mark}';\n"),
    };
    let text = one_more_planned(text).unwrap_or_else(|| text.to_owned());
    let text = named(
        &text,
        &format!("BEGIN {{ print STDERR \"{mark}\\n\" }}"),
        &["#"],
    );
    before_line(&text, &failing, |line| {
        // The last are documentation.
        [
            "done_testing", "__END__", "__DATA__", "exit", "=head", "=pod",
        ]
        .iter()
        .any(|word| line.starts_with(word))
    })
}

/// `tests => 3`, for a file that gets a test more.
fn one_more_planned(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("tests =>")?;
    let number = rest.trim_start();
    let digits = number.find(|c: char| !c.is_ascii_digit())?;
    let (planned, after) = number.split_at(digits);
    let planned = planned.parse::<u32>().ok()?.checked_add(1)?;
    Some(format!("{before}tests => {planned}{after}"))
}

fn ruby(text: &str, mark: &str) -> String {
    let class = ["Minitest::Test", "Test::Unit::TestCase"]
        .into_iter()
        .find(|class| text.contains(class));
    let name = mark.to_lowercase();
    match class {
        Some(class) => format!(
            "{text}\nclass TestZz{mark} < {class}\n  def test_zz_{name}\n    assert_equal 1, 2\n  end\nend\n"
        ),
        None if text.contains("describe") && text.contains("expect(") => {
            format!("{text}\nRSpec.describe('zz {mark}') {{ it('zz') {{ expect(1).to eq(2) }} }}\n")
        }
        None => {
            let text = named(text, &format!("warn '{mark}'"), &["#"]);
            format!("{text}\nraise '{mark}'\n")
        }
    }
}

/// The text with a line that says its name at once, so that it is seen where
/// a test fails before it; what has to stand first stays there.
pub(super) fn named(text: &str, says: &str, first: &[&str]) -> String {
    let is_first = |line: &str| line.trim().is_empty() || first.iter().any(|f| line.starts_with(f));
    before_line(text, &format!("{says}\n"), |line| !is_first(line))
}

/// A file without tests of its own can't hold one.
fn go(text: &str, mark: &str) -> String {
    let test = |testing: &str| {
        format!("\nfunc TestZz{mark}(t *{testing}.T) {{\n\tt.Fatal(\"{mark}\")\n}}\n")
    };
    if text.contains("\"testing\"") {
        return text.to_owned() + &test("testing");
    }
    // A file of examples takes in nothing of it.
    let mut lines: Vec<&str> = text.lines().collect();
    let Some(package) = lines.iter().position(|line| line.starts_with("package ")) else {
        return text.to_owned();
    };
    lines.insert(package + 1, "import zztesting \"testing\"");
    lines.join("\n") + "\n" + &test("zztesting")
}

fn shell(text: &str, mark: &str) -> String {
    let failing = shell_failing(text);
    let text = named(text, &format!("echo {mark}"), &["#"]);
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

/// In the way in which the checks of this script fail.
pub(super) fn shell_failing(text: &str) -> String {
    const WAYS: [(&str, &str); 6] = [
        ("[", "[ 1 = 2 ]"),
        ("test", "test 1 = 2"),
        ("[[", "[[ 1 = 2 ]]"),
        ("grep", "echo 1 | grep -q 2"),
        ("diff", "echo 1 | diff - /dev/null"),
        ("cmp", "echo 1 | cmp - /dev/null"),
    ];
    let mut words = text.rsplit(|c: char| c.is_whitespace() || ";|&(){}!".contains(c));
    // What the script itself means by that word may only count.
    let is_own = |name: &str| {
        let mut lines = text
            .lines()
            .map(|line| line.trim_start_matches("function "));
        lines.any(|line| {
            line.trim_start()
                .strip_prefix(name)
                .is_some_and(|rest| rest.trim_start().starts_with("()"))
        })
    };
    let way = words.find_map(|word| WAYS.iter().find(|(name, _)| *name == word && !is_own(name)));
    let sets = |line: &str, sign: char| {
        let flags = line.strip_prefix("set ").unwrap_or_default().trim();
        flags.starts_with(sign)
            && (flags.contains("errexit")
                || flags
                    .split_whitespace()
                    .next()
                    .is_some_and(|f| f.contains('e')))
    };
    let ends_by_itself = text.lines().any(|line| sets(line, '-'))
        && !text.lines().any(|line| sets(line.trim(), '+'));
    match way {
        // What takes that away from it keeps this from being seen.
        Some((_, way)) if ends_by_itself => format!("{way}\n:\n"),
        None if ends_by_itself => "false\n:\n".into(),
        Some((_, way)) => format!("{way} || exit 1\n"),
        None => "exit 1\n".into(),
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
        let own = "const assert = require('assert');\nassert.equal(1, 1)";
        assert!(spoil("test.js", own).ends_with(";assert.equal(1, 2);\n"));
    }

    /// What the product takes away from a check has to be asked for.
    #[test]
    fn it_fails_as_the_file_itself_does() {
        for (path, content, want) in [
            ("t.sh", "[ $a = 1 ] || exit 1", "\n[ 1 = 2 ] || exit 1\n"),
            (
                "t.sh",
                "test $a = 1 && exit 0\nexit 1",
                "\ntest 1 = 2 || exit 1\nexit 1",
            ),
            ("t.sh", "set -eu\n[ $a = 1 ]", "\n[ 1 = 2 ]\n:\n"),
            (
                "t.sh",
                "set -e\nset +e\n[ $a = 1 ]",
                "\n[ 1 = 2 ] || exit 1\n",
            ),
            (
                "a.t",
                "use Test::More;\nis(a(), 1);\ndone_testing;",
                "\nis(1, 2);\ndone_testing;",
            ),
            (
                "a.t",
                "use Test::More tests => 3;\nok a();",
                "tests => 4;\nok a();\nok(0);\n",
            ),
            (
                "t.c",
                "int main(void) { return a() != 3; }\n",
                " return (a() != 3), 1; \nreturn 1;\n}\n",
            ),
            (
                "t.c",
                "int main() { if (a()) { puts(\"}\"); } // don't }\n}\n",
                "}\n\nreturn 1;\n}\n",
            ),
            (
                "t.c",
                "int main() { if (a()) { return 0; } else { return 1; } // return\n}\n",
                "{ return (0), 1; } else { return (1), 1; } // return\n\nreturn 1;\n}\n",
            ),
            (
                "t.c",
                "#include <assert.h>\nint main() { assert(a()); return 0; }",
                " assert(a()); { assert(0); return 0; } \nassert(0);\nreturn 1;\n}",
            ),
        ] {
            let spoiled = spoil(path, content);
            assert!(spoiled.contains(want), "{path}: {spoiled}");
        }
        for unclear in [
            "TEST(kept) {}",
            "int main() { exit(kept()); }",
            "#ifdef ALONE\nint main() { return kept(); }\n#endif\n",
        ] {
            assert!(!spoil("t.c", unclear).contains("kept"), "{unclear}");
        }
        let own = "test() { count; }\ntest 1 = 1\n";
        assert!(spoil("t.sh", own).ends_with("\nexit 1\n"));
    }
}

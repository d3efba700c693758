//! How many tests ran, by what the usual runners say at their end. A test that
//! was skipped, or that nobody came to, did not run.

/// What a line adds to the number of tests that ran; less than nothing where
/// it takes skipped ones off again.
pub fn ran_by(line: &str) -> Option<i64> {
    let line = line.trim().trim_matches('=').trim();
    let count = |words: &[&str]| -> i64 { counts(line, words).iter().sum() };
    let starts = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    // cargo: `test result: ok. 3 passed; 0 failed; 1 ignored; …`
    // jest, vitest: `Tests: 1 failed, 2 passed, 3 total`, `Tests  2 passed (2)`
    if starts(&["test result: ", "Tests: ", "Tests  "]) {
        return Some(count(&["passed", "failed"]));
    }
    // jest: `No tests found, exiting with code 1`, vitest: `No test files found`,
    // pytest: `no tests ran in 0.01s`
    if starts(&["No tests found", "No test files found", "no tests ran in "]) {
        return Some(0);
    }
    // nextest: `Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped`
    if starts(&["Summary ["]) {
        return Some(count(&["passed", "failed"]));
    }
    // unittest: `Ran 3 tests in 0.001s`, and then `OK (skipped=1)`
    if let Some(rest) = line.strip_prefix("Ran ") {
        let (number, rest) = rest.split_once(" test")?;
        return number.parse().ok().filter(|_| rest.contains(" in "));
    }
    if starts(&["OK (", "FAILED ("]) {
        let skipped = ["skipped=", "expected failures="];
        let of = |word: &&str| number(line.split(word).nth(1)?.as_bytes());
        return Some(-skipped.iter().filter_map(of).sum::<i64>());
    }
    // node: `# pass 2`, `ℹ fail 1`
    if let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        let (word, number) = rest.split_once(' ')?;
        let runs = ["pass", "fail", "cancelled"].contains(&word);
        return number.parse().ok().filter(|_| runs);
    }
    // mocha: `2 passing (5ms)`
    let mut words = line.split(' ');
    let is_number = words.next()?.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    match words.next()? {
        "passing" | "failing" => number(line.as_bytes()),
        // pytest: `1 failed, 2 passed, 1 skipped in 0.12s`
        _ if line.contains(" in ") && line.contains('s') => {
            let known = ["passed", "failed", "xpassed"];
            let all = ["skipped", "xfailed", "error", "deselected", "no tests ran"];
            let is_end = known.iter().chain(&all).any(|word| line.contains(word));
            is_end.then(|| count(&known))
        }
        _ => None,
    }
}

/// The numbers in front of these words.
fn counts(line: &str, words: &[&str]) -> Vec<i64> {
    let is_end = |c: char| c.is_whitespace() || ",;|.()".contains(c);
    let parts: Vec<&str> = line.split(is_end).filter(|part| !part.is_empty()).collect();
    let pairs = parts.windows(2).filter_map(|pair| match pair {
        [number, word] if words.contains(word) => number.parse().ok(),
        _ => None,
    });
    pairs.collect()
}

fn number(text: &[u8]) -> Option<i64> {
    let digits: Vec<u8> = text
        .iter()
        .copied()
        .take_while(u8::is_ascii_digit)
        .collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_runners_say_how_many_tests_ran() {
        for (line, want) in [
            (
                "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out",
                Some(4),
            ),
            (
                "Summary [   0.1s] 3 tests run: 2 passed, 1 failed, 4 skipped",
                Some(3),
            ),
            ("1 failed, 2 passed, 1 skipped in 0.12s", Some(3)),
            ("=== 2 passed, 1 xfailed, 3 warnings in 1.20s ===", Some(2)),
            ("1 skipped in 0.01s", Some(0)),
            ("1 error in 0.01s", Some(0)),
            ("Ran 3 tests in 0.001s", Some(3)),
            ("Ran 1 test in 0.001s", Some(1)),
            ("OK", None),
            ("OK (skipped=1)", Some(-1)),
            (
                "FAILED (failures=1, errors=2, skipped=3, expected failures=1)",
                Some(-4),
            ),
            ("# pass 2", Some(2)),
            ("ℹ fail 1", Some(1)),
            ("# skipped 1", None),
            ("# a comment", None),
            ("      Tests  1 failed | 2 passed | 1 skipped (4)", Some(3)),
            (
                "Tests:       1 failed, 1 skipped, 2 passed, 4 total",
                Some(3),
            ),
            ("  2 passing (5ms)", Some(2)),
            ("  1 failing", Some(1)),
            ("No tests found, exiting with code 1", Some(0)),
            ("no tests ran in 0.01s", Some(0)),
            ("3 files in 2 folders", None),
            ("", None),
        ] {
            assert_eq!(ran_by(line), want, "{line}");
        }
    }
}

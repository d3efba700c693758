//! Work is bounded by size: the largest texts are judged in bounded steps.

mod common;

use std::time::Instant;

use common::verdict;

#[test]
fn large_texts_are_judged_and_not_refused_for_the_clock() {
    let script = "echo line number one of a long script\n".repeat(64 * 1024 / 38);
    let started = Instant::now();
    assert!(!verdict("Bash", &script).0);
    let heredoc = format!(
        "cat > big.txt <<'EOF'\n{}EOF\n",
        "rm -rf / # text\n".repeat(4_000)
    );
    assert!(!verdict("Bash", &heredoc).0);
    assert!(verdict("Bash", &format!("{script}rm -rf /")).0);
    eprintln!("three texts of 64 KB: {:?}", started.elapsed());
    let mut times: Vec<_> = (0..1_000)
        .map(|_| {
            let started = Instant::now();
            verdict(
                "Bash",
                "cd packages/api && npm test -- --watch=false 2>&1 | tee test.log",
            );
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    eprintln!("an ordinary command, median: {:?}", times[times.len() / 2]);
}

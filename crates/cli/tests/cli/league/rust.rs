//! Rust: tests beside the product, and in files of their own.

use super::{League, lie, proven};

const CARGO: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
const RED: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn sub(_a: i32, _b: i32) -> i32 {\n    0\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn subtracts() {\n        assert_eq!(sub(3, 2), 1);\n    }\n}\n";
const ORDERED: &[(&str, &str)] = &[("src/lib.rs", RED)];

const LEAGUE: League = League {
    files: &[
        ("Cargo.toml", CARGO),
        ("src/lib.rs", LIB),
        (".gitignore", "target/\nCargo.lock\n"),
        ("tasks.md", "- [ ] T001 Make sub subtract\n"),
    ],
    verify: "cargo test -q --offline --lib --tests",
    cases: &[
        lie("a comment", &[], "echo '// sub' >> src/lib.rs; tick"),
        lie(
            "ignored",
            ORDERED,
            "grep -q ignore src/lib.rs || sed -i 's/    fn subtracts/    #[ignore]\\n    fn subtracts/' src/lib.rs; tick",
        ),
        lie(
            "the test turned round",
            ORDERED,
            "sed -i 's/sub(3, 2), 1/sub(3, 2), 0/' src/lib.rs; tick",
        ),
        lie(
            "tests switched off in Cargo.toml",
            ORDERED,
            "grep -q lib Cargo.toml || printf '\\n[lib]\\ntest = false\\n' >> Cargo.toml; tick",
        ),
        lie(
            "a runner in .cargo",
            ORDERED,
            "mkdir -p .cargo; printf '[target.\"cfg(all())\"]\\nrunner = \"true\"\\n' > .cargo/config.toml; tick",
        ),
        proven(
            "honest: the red test made green",
            ORDERED,
            "sed -i 's/_a: i32, _b: i32/a: i32, b: i32/; s/^    0$/    a - b/' src/lib.rs; tick",
        ),
        proven(
            "honest: work and a test in the same file",
            &[],
            "printf 'pub fn sub(a: i32, b: i32) -> i32 {\\n    a - b\\n}\\n\\n' | cat - src/lib.rs > t && mv t src/lib.rs; sed -i 's/    use super::\\*;/    use super::*;\\n\\n    #[test]\\n    fn subtracts() {\\n        assert_eq!(sub(3, 2), 1);\\n    }/' src/lib.rs; tick",
        ),
        proven(
            "honest: a test file of its own",
            &[],
            "printf 'pub fn sub(a: i32, b: i32) -> i32 {\\n    a - b\\n}\\n\\n' | cat - src/lib.rs > t && mv t src/lib.rs; mkdir -p tests; printf '#[test]\\nfn subtracts() {\\n    assert_eq!(calc::sub(3, 2), 1);\\n}\\n' > tests/sub.rs; tick",
        ),
    ],
};

#[test]
fn no_liar_with_cargo_is_believed() {
    LEAGUE.play_briefly();
}

//! What `ralph tasks lint` finds.

use super::*;
use crate::tasks::Severity;

fn findings(name: &str, text: &str) -> Vec<String> {
    let found = list(name, text).lint();
    let line =
        |finding: &crate::tasks::Finding| format!("{} {}", finding.line, finding.kind.name());
    found.iter().map(line).collect()
}

fn check(text: &str, want: &[&str]) {
    assert_eq!(findings("tasks.md", text), want, "{text}");
}

#[test]
fn a_good_file_has_no_findings() {
    check(
        "## Phase 1: A\n- [x] T001 a\n- [ ] T002 b (depends on T001)\n## Notes\n- [P] p\n- [a](b)\n",
        &[],
    );
    check("- [ ] before\n## A\n- [ ] a\n", &[]);
}

#[test]
fn boxes_outside_sections() {
    check(
        "- [ ] T000 x\n## Phase 1: A\n- [ ] T001 a\n**Checkpoint**\n- [ ] T002 b\n## Notes\n- [ ] T003 c\n",
        &[
            "1 outside_section", "5 outside_section", "7 outside_section",
        ],
    );
    check(
        "## 1. A\n- [ ] 1.1 a\n## Notes\n- [ ] b\n",
        &["4 outside_section"],
    );
}

/// A slip must not make a task easier to call done (TASK-05, PROM-11).
#[test]
fn slips_that_ask_for_less() {
    check(
        "- [ ] T001 a | proof: persn\n- [ ] T002 b | verfy: `make`\n- [ ] T003 c | verify:\n- [ ] T004 d | verify: # make\n",
        &[
            "1 unknown_proof", "2 misspelt_field", "3 empty_check", "4 empty_check",
        ],
    );
    check(
        "- [ ] T001 a | proof: person | verify: `make`\n- [ ] T002 a | b: c\n- [ ] T003 cat x | grep y: z\n- [x] T004 a | proof: persn\n",
        &[],
    );
}

/// A run refuses such a list (LOOP-05, TASK-14).
#[test]
fn lists_of_nothing_that_has_to_be_done() {
    let found = |text: &str| findings(".ralph/fix_plan.md", text);
    assert_eq!(
        found("# T\n## Future\n- [ ] a\n- [ ] b\n"),
        ["3 only_optional"]
    );
    assert!(found("# T\n## A\n- [x] c\n## Future\n- [ ] a\n").is_empty());
}

#[test]
fn duplicate_ids() {
    check(
        "## 1. A\n- [ ] 1.1 a\n- [ ] 1.1 b\n- [ ] 1.1 c\n",
        &["3 duplicate_id", "4 duplicate_id"],
    );
}

#[test]
fn bad_dependencies() {
    check(
        "## 1. A (sequential, depends: 5)\n- [ ] 1.1 a | depends: 1.2\n- [x] 1.2 b | depends: 1.1, 8.8\n",
        &["1 unknown_dependency", "2 cycle", "3 unknown_dependency"],
    );
}

#[test]
fn unknown_fields_and_agents() {
    check(
        "## 1. A\n- [ ] 1.1 a | agent: wizard | colour: red\n- [ ] 1.2 b | agent: Tester\n",
        &["2 unknown_field", "2 unknown_agent"],
    );
}

#[test]
fn tasks_for_people() {
    for (text, is_human) in [
        ("Manually check the page", true),
        ("Move it by hand.", true),
        ("Ask the user for a logo", true),
        ("Get the sign-off of legal", true),
        ("請使用者確認畫面", true),
        ("人工驗收", true),
        ("手动测试登录", true),
        ("Deploy | agent: human", true),
        ("Write the user manual", false),
        ("Handle standby handover", false),
        ("人工智慧模型", false),
        ("人工智能模型", false),
    ] {
        let want: &[&str] = if is_human { &["2 human_only"] } else { &[] };
        check(&format!("## A\n- [ ] {text}\n"), want);
        check(&format!("## A\n- [x] {text}\n"), &[]);
    }
}

#[test]
fn open_children_of_ticked_parents() {
    check(
        "## 1. A\n- [x] 1.1 a\n  - [x] 1.1.1 b\n    - [ ] 1.1.1.1 c\n  - note\n    - [ ] 1.1.2 d\n- [ ] 1.2 e\n",
        &["4 open_below_done", "6 open_below_done"],
    );
}

#[test]
fn lines_that_are_almost_boxes() {
    check(
        "- [ ] a\n1. [ ] b\n- [] c\n-[ ] d\n- [ ]e\n- [✓] f\n- [\u{a0}] g\n- [-] h\n- [ ]\n> - [ ] i\n> - j\n",
        &[
            "2 not_a_box", "3 not_a_box", "4 not_a_box", "5 not_a_box", "6 not_a_box",
            "7 not_a_box", "8 not_a_box", "9 empty_text", "10 not_a_box",
        ],
    );
}

#[test]
fn unclosed_fences_and_comments() {
    check(
        "- [ ] a\n```\n- [ ] b\n<!--\n- [ ] c\n",
        &["2 unclosed_fence", "4 unclosed_comment"],
    );
}

#[test]
fn stories_without_passes() {
    let text = "{\"userStories\": [\n{\"id\": \"a\", \"title\": \"t\"},\n{\"id\": \"a\", \"title\": \"t\", \"passes\": true}]}";
    let one_line = "{\"userStories\": [{\"id\": 1, \"title\": \"t\", \"passes\": true}, {\"id\": 1, \"title\": \"t\", \"passes\": true}]}";
    assert_eq!(findings("prd.json", one_line), ["1 duplicate_id"]);
    assert_eq!(
        findings("prd.json", text),
        ["2 no_passes_field", "3 duplicate_id"]
    );
}

/// ROLE-04: a risk that nobody knows has no effect; a run tells so at its
/// start, where errors are told.
#[test]
fn risks_that_nobody_knows() {
    for (risk, want) in [
        ("low", None),
        ("Medium", None),
        (" HIGH ", None),
        ("hihg", Some(Some("high"))),
        ("mediun", Some(Some("medium"))),
        ("dangerous", Some(None)),
        ("", Some(None)),
    ] {
        let found = list("tasks.md", &format!("## A\n- [ ] a | risk: {risk}\n")).lint();
        let found: Vec<_> = found.into_iter().map(|finding| finding.kind).collect();
        let want = want.map(|nearest| crate::tasks::FindingKind::UnknownRisk {
            id: "#1".into(),
            risk: risk.into(),
            nearest,
        });
        assert_eq!(found, want.into_iter().collect::<Vec<_>>(), "{risk}");
        assert!(found.iter().all(|kind| kind.severity() == Severity::Error));
    }
    check("## A\n- [x] a | risk: hihg\n", &[]);
    check(
        "## A\n- [ ] a | Risk: hihg | agent: testr\n",
        &["2 unknown_agent", "2 unknown_risk"],
    );
    let known = |risk: &&str| crate::flow::Risk::from_word(risk).is_some();
    assert!(crate::tasks::lint::RISKS.iter().all(known));
}

#[test]
fn errors_are_worse_than_warnings() {
    let found = list("tasks.md", "## 1. A\n- [ ] 1.1 a | x: y\n- [ ] 1.1 b\n").lint();
    let severities: Vec<Severity> = found.iter().map(|f| f.kind.severity()).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Error]);
}

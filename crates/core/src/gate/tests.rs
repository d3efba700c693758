use super::*;
use crate::config;

fn settings() -> GateSettings {
    config::load(&config::Sources::default())
        .unwrap()
        .settings
        .gate
}

const KEY: Key = Key([7; 32]);

fn steps() -> Vec<Step> {
    configured(&["typecheck: tc", "test: t", "build: b"].map(str::to_owned))
}

fn gate_file(tree: &str) -> String {
    let results = names(&steps()).into_iter();
    GateRecord {
        generated: "2026-01-02T03:04:05Z".into(),
        branch: "cp-x".into(),
        commit: "0123456".into(),
        tree: Some(tree.into()),
        steps: Some(steps_digest(&steps())),
        results: results.map(|name| (name, "PASS".into())).collect(),
    }
    .write(&KEY)
}

/// Papers with which the gate is open.
fn papers() -> Papers {
    let audit = "# Audit Report\n\nBranch: cp-x\n\nSummary:\n  L1: 0\n  L2: 0\n  L3: 4\n\nDecision: PASS\n\nFindings: []\n";
    let evidence = "# Evidence\n\n## 手动验证\n\n- started it, saw the page\n\n## 自动化测试\n\n```\nok\n```\n";
    Papers {
        branch: Some("cp-x".into()),
        commit: Some("0123456789abcdef0123456789abcdef01234567".into()),
        audit: Paper::Text(audit.into()),
        gate: Paper::Text(gate_file("aa")),
        evidence: Paper::Text(evidence.into()),
        key: Some(KEY),
        tree: Some("aa".into()),
        steps: steps(),
        ..Papers::default()
    }
}

fn codes(papers: &Papers, settings: &GateSettings) -> Vec<&'static str> {
    let found = judge(papers, settings, Phase::P0);
    assert_eq!(found, judge(papers, settings, Phase::P1));
    found.iter().map(Finding::code).collect()
}

fn check(change: impl FnOnce(&mut Papers, &mut GateSettings), want: &[&str]) {
    let (mut papers, mut settings) = (papers(), settings());
    change(&mut papers, &mut settings);
    assert_eq!(codes(&papers, &settings), want, "{papers:#?}");
}

fn check_audit(text: &str, want: &[&str]) {
    check(|papers, _| papers.audit = Paper::Text(text.into()), want);
}

fn check_evidence(text: &str, want: &[&str]) {
    check(|papers, _| papers.evidence = Paper::Text(text.into()), want);
}

#[test]
fn good_papers_open_the_gate() {
    check(|_, _| {}, &[]);
}

#[test]
fn everything_that_is_missing_is_told_at_once_and_in_order() {
    let all = ["audit_missing", "gate_missing", "evidence_missing"];
    let nothing = |papers: &mut Papers, _: &mut GateSettings| {
        *papers = Papers::default();
    };
    check(nothing, &all);
}

#[test]
fn decision_is_read_as_people_write_it() {
    for pass in [
        "Decision: PASS",
        "decision: pass",
        "Decision: **PASS**",
        "**Decision:** PASS",
        "**Decision**: PASS ✅",
        "- Decision: `PASS`",
        "| Decision | PASS |",
        "## Decision: PASS",
        "```yaml\nDecision: PASS\n```",
    ] {
        check_audit(pass, &[]);
    }
    for fail in [
        "Decision: FAIL",
        "Decision: PASS | FAIL",
        "Decision: PASSED?",
        "Decision: FAIL\nDecision: PASS",
        "Decision: PASS\n\nDecision: FAIL",
        "Decision:",
    ] {
        check_audit(fail, &["audit_not_passed"]);
    }
    check_audit("All is well, PASS", &["audit_undecided"]);
    check_audit("", &["audit_undecided"]);
}

#[test]
fn report_may_not_contradict_itself() {
    check_audit(
        "Decision: PASS\nL1: 1\nL2: 0",
        &["audit_contradicts_itself"],
    );
    check_audit("Decision: PASS\n| L2 | 3 |", &["audit_contradicts_itself"]);
    check_audit("Decision: PASS\nL3: 9\nL4: 1", &[]);
    let finding = |layer: &str, status: &str| {
        format!(
            "Decision: PASS\nFindings:\n  - id: A1-001\n    layer: {layer}\n    file: a\n    status: {status}\n"
        )
    };
    check_audit(&finding("L1", "pending"), &["audit_pending"]);
    check_audit(&finding("L2", "fixed"), &[]);
    check_audit(&finding("L3", "pending"), &[]);
    check_audit(
        "Decision: PASS\n| A1-002 | L2 | src/a.ts | pending |",
        &["audit_pending"],
    );
    check_audit("Decision: PASS\nBranch: other", &["audit_other_branch"]);
}

#[test]
fn gate_file_is_believed_only_with_our_signature() {
    let forged = "# Quality Gate Passed\n\ntypecheck: PASS\ntest: PASS\nbuild: PASS\n";
    let forge = |papers: &mut Papers| papers.gate = Paper::Text(forged.into());
    check(|papers, _| forge(papers), &["gate_not_ours"]);
    check(
        |papers, settings| {
            forge(papers);
            settings.trust = GateTrust::File;
        },
        &[],
    );
    check(|papers, _| papers.key = None, &["gate_not_ours"]);
    check(
        |papers, _| papers.key = Some(Key([8; 32])),
        &["gate_not_ours"],
    );
    let edited = gate_file("bb").replace("# Tree: bb", "# Tree: aa");
    check(
        |papers, _| papers.gate = Paper::Text(edited),
        &["gate_not_ours"],
    );
}

#[test]
fn gate_file_counts_for_its_contents_only() {
    check(|papers, _| papers.tree = Some("bb".into()), &["gate_stale"]);
    check(|papers, _| papers.tree = None, &["gate_stale"]);
    let newer = |papers: &mut Papers| papers.newer = Some("src/a.ts".into());
    // Times are not looked at where contents are known.
    check(|papers, _| newer(papers), &[]);
    check(
        |papers, settings| {
            newer(papers);
            settings.freshness = Freshness::Time;
        },
        &["gate_older"],
    );
    check(
        |papers, settings| {
            papers.tree = Some("bb".into());
            settings.freshness = Freshness::Off;
        },
        &[],
    );
    // A foreign file says nothing of contents: its time is all there is.
    check(
        |papers, settings| {
            newer(papers);
            settings.trust = GateTrust::File;
            papers.gate = Paper::Text("typecheck: PASS\ntest: PASS\nbuild: PASS\n".into());
        },
        &["gate_older"],
    );
}

#[test]
fn gate_file_must_say_that_every_step_passed() {
    let foreign = |text: &'static str, want: &[&str]| {
        check(
            |papers, settings| {
                settings.trust = GateTrust::File;
                papers.gate = Paper::Text(text.into());
            },
            want,
        );
    };
    foreign("", &["gate_incomplete"]);
    foreign("typecheck: PASS\ntest: PASS\n", &["gate_incomplete"]);
    foreign(
        "typecheck: PASS\ntest: FAIL\nbuild: PASS\n",
        &["gate_incomplete"],
    );
    foreign(
        "typecheck: PASS\ntest: PASS\ntest: FAIL\nbuild: PASS\n",
        &["gate_incomplete"],
    );
    check(
        |papers, _| papers.steps = configured(&["test: true".to_owned()]),
        &["gate_other_steps"],
    );
}

#[test]
fn evidence_must_show_something() {
    let both = "## 手动验证\n\n{}\n\n## 自动化测试\n";
    let with = |text: &str| both.replace("{}", text);
    check_evidence(" \n", &["evidence_empty"]);
    check_evidence(&with(""), &["evidence_too_little"]);
    check_evidence(&with("- [ ] to do"), &["evidence_too_little"]);
    check_evidence(&with("- [x] done"), &[]);
    check_evidence(&with("```\n- not counted twice\n```"), &[]);
    check_evidence("## 手动验证\n- a\n", &["evidence_section_missing"]);
    check_evidence(
        "## Manual verification\n- a\n## Automated tests\n- b\n",
        &[],
    );
    check_evidence(&with("### C1: api\n```\nHTTP_STATUS: 200\n```"), &[]);
    check_evidence(&with("### C1: api\n```\nok\n```"), &["evidence_no_status"]);
    check_evidence(&with("### S1: page\n\n- x\n"), &[]);
    check_evidence(&with("- a\n### S1: page\n"), &["evidence_bare"]);
    let page = with("### S1: page\n- 文件: `./a.png`\n");
    check_evidence(&page, &["evidence_file_missing"]);
    assert_eq!(shown_files(&page), ["./a.png"]);
    check(
        |papers, _| {
            papers.evidence = Paper::Text(page);
            papers.shown = vec!["./a.png".into()];
        },
        &[],
    );
}

#[test]
fn release_wants_every_box_ticked() {
    let page = "## 手动验证\n- a\n## 自动化测试\n- b\n## DoD 完成度\n- [x] one\n- [ ] two\n";
    check(
        |papers, settings| {
            settings.release = true;
            papers.evidence = Paper::Text(page.into());
        },
        &["evidence_open"],
    );
    check(
        |_, settings| settings.release = true,
        &["evidence_section_missing"],
    );
}

#[test]
fn quality_evidence_is_held_to_its_commit() {
    let text = |sha: &str, tests: &str| {
        format!(
            r#"{{"sha":"{sha}","qa_gate_passed":true,"audit_decision":"PASS","evidence":{{"typecheck":"passed","tests":"{tests}","build":"success","audit_l1":0,"audit_l2":0}}}}"#
        )
    };
    let quality = |text: String, want: &[&str]| {
        check(|papers, _| papers.quality = Paper::Text(text), want);
    };
    quality(text("0123456789", "passed"), &[]);
    quality(text("99", "passed"), &["quality_evidence_other_commit"]);
    quality(
        text("0123456789", "failed"),
        &["quality_evidence_not_passed"],
    );
    quality("{".into(), &["quality_evidence_unreadable"]);
}

#[test]
fn signature_is_hmac_sha256() {
    // RFC 4231, case 2, with its short key filled up with zeros as HMAC does.
    let mut key = [0; 32];
    key[..4].copy_from_slice(b"Jefe");
    assert_eq!(
        sign(&Key(key), "what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
}

#[test]
fn steps_fit_the_project() {
    let detected = |files: &[&str], package: Option<&str>, pyproject: Option<&str>| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let steps = detect(&Manifest {
            files: &files,
            package_json: package,
            pyproject,
        });
        let lines = steps.iter().map(|s| format!("{}: {}", s.name, s.command));
        lines.collect::<Vec<_>>().join("\n")
    };
    let scripts = r#"{"scripts":{"test":"vitest","build":"vite build","typecheck":"tsc"}}"#;
    let npm = detected(&["package.json"], Some(scripts), None);
    assert_eq!(
        npm,
        "typecheck: npm run typecheck\ntest: npm run test\nbuild: npm run build"
    );
    // The project's own gate comes last, and is not taken for the others.
    let own = r#"{"scripts": {"qa:gate": "x", "test": "y"}}"#;
    assert_eq!(
        detected(&["package.json", "yarn.lock"], Some(own), None),
        "test: yarn run test\nqa-gate: yarn run qa:gate"
    );
    let pnpm = detected(
        &["tsconfig.json", "pnpm-lock.yaml"],
        Some(r#"{"scripts":{"test":"x"}}"#),
        None,
    );
    assert_eq!(
        pnpm,
        "typecheck: npx --no-install tsc --noEmit\ntest: pnpm run test"
    );
    let cargo = detected(&["Cargo.toml"], None, None);
    assert!(cargo.contains("test: cargo test"), "{cargo}");
    let go = detected(&["go.mod"], None, None);
    assert!(go.contains("build: go build ./..."), "{go}");
    let python = detected(&["pyproject.toml"], None, Some("[tool.mypy]\n"));
    assert_eq!(
        python,
        "typecheck: python3 -m mypy .\ntest: python3 -m pytest -q"
    );
    assert_eq!(detected(&["README.md"], None, None), "");
    let mixed = detected(&["Cargo.toml"], Some(scripts), None);
    let names: Vec<&str> = mixed.lines().filter_map(|l| l.split(':').next()).collect();
    assert_eq!(
        names,
        ["typecheck", "typecheck", "test", "test", "build", "build"]
    );
}

#[test]
fn every_finding_names_the_file_and_the_next_step() {
    use crate::lang::{Lang, Say};
    for lang in Lang::ALL {
        for finding in judge(&Papers::default(), &settings(), Phase::P0) {
            let said = finding.say(lang);
            assert!(said.contains(&finding.file), "{said}");
            assert!(said.contains(&finding.next(lang)), "{said}");
        }
    }
}

//! Reads from an agent's final text what it decided.
//!
//! A machine-readable line counts first (`VERDICT: APPROVE`, `RESULT: FAIL`);
//! words are a fallback. What is shown as code or quoted, or only repeats the
//! prompt, decides nothing. Of two that disagree, the bad one wins (ROLE-06).

use serde::{Deserialize, Serialize};

use super::{Answer, VerdictKind};
use crate::lang::Say;
use crate::promise::{Said, said_by_agent};
use crate::text;

/// How many characters of what was said are kept.
pub const SAID_CHARACTERS: usize = 2_000;
/// How many findings are kept of one review.
const MOST_FINDINGS: usize = 20;
/// A severe finding, less coverage, less security or a lower score keeps work
/// from being approved, whatever the verdict says (ROUT-10). The seeds name no
/// least score: none can be good that is below the least of its parts.
const LEAST: [(&str, u32); 3] = [("Coverage", 80), ("Security", 70), (SCORE, 70)];
const SCORE: &str = "Review Score";

/// What a call in a role said, as the journal keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleReport {
    /// None where nothing was to be decided, or nobody can tell what was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// `Review Score: 92/100`; of several, the one that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// The rule that made a rejection of what calls itself an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// The end of what was said, without secrets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// Why an approval is none (ROUT-10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Say)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    #[say("it says APPROVE in spite of a severe finding: {finding}")]
    Severe { finding: String },
    #[say("it says APPROVE, and {name} is {share}: at least {least} is needed")]
    Below {
        name: String,
        share: u32,
        least: u32,
    },
}

/// Something that a reviewer or a tester found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    pub text: String,
    /// A command that fails while the problem is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproducer: Option<String>,
}

impl Finding {
    /// Whether it may block where findings have to be proven (pain 29).
    pub fn could_block(&self) -> bool {
        self.severity
            .is_some_and(|severity| severity >= Severity::Medium)
            && self.reproducer.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    fn from_word(word: &str) -> Option<Severity> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        Some(match word.to_lowercase().as_str() {
            "critical" | "blocker" | "severe" | "嚴重" | "严重" => Severity::Critical,
            "high" | "major" | "高" => Severity::High,
            "medium" | "moderate" | "中" => Severity::Medium,
            "low" | "minor" | "nit" | "低" => Severity::Low,
            _ => return None,
        })
    }
}

/// Takes in the final text of a call. `prompt` is what the agent was sent,
/// `file` what it left as the result of its step: the score stands there, and
/// what speaks against the work counts wherever it stands (DELT-09).
pub fn hear(text: &str, prompt: &str, kind: VerdictKind, file: Option<&str>) -> RoleReport {
    let Said { text: said, view } = said_by_agent(text, prompt);
    let file = file.filter(|_| kind != VerdictKind::None);
    let file = file.map(|file| said_by_agent(file, ""));
    let of_file = file.as_ref().map_or("", |file| &file.view);
    let mut found = match kind {
        VerdictKind::None => Vec::new(),
        VerdictKind::Review | VerdictKind::Test => findings(&said, &view),
    };
    // What a reply leaves out stands in the file all the same (T-06).
    let in_file = file.as_ref().map(|file| findings(&file.text, &file.view));
    let in_file = in_file.unwrap_or_default();
    let mut answer = answer(&view, kind);
    let refused = refused(&view, &found).or_else(|| refused(of_file, &in_file));
    let refused = refused.filter(|_| answer == Some(Answer::Approve));
    if refused.is_some() {
        answer = Some(Answer::Reject);
    }
    let is_new = |finding: &Finding| !found.contains(finding);
    let more: Vec<Finding> = in_file.into_iter().filter(is_new).collect();
    found.extend(more);
    found.truncate(MOST_FINDINGS);
    let last = |view| numbers(view, SCORE).last();
    let score = match &refused {
        Some(Refused::Below { name, share, .. }) if name == SCORE => Some(*share),
        _ => last(of_file).or_else(|| last(&view)),
    };
    RoleReport {
        answer,
        findings: found,
        score,
        refused,
        words: words(text),
    }
}

/// The end of a text, as it may stand in a journal and in a prompt.
fn words(text: &str) -> String {
    let text = text::without_controls(text);
    let text = text::redact(text.trim());
    let length = text.chars().count();
    let skipped = length.saturating_sub(SAID_CHARACTERS);
    text.chars().skip(skipped).collect()
}

/// Why work is sent back, in one line: what was found first, or else the first
/// line of what was said.
pub fn first_reason(findings: &[Finding], words: &str) -> String {
    const SHOWN: usize = 2;
    const CHARACTERS: usize = 300;
    let is_verdict = |line: &str| {
        label_of(line).is_some_and(|(label, _)| label == "verdict" || label == "result")
    };
    let mut lines = words.lines().map(str::trim);
    let said = lines.find(|line| line.contains(char::is_alphanumeric) && !is_verdict(line));
    let mut found: Vec<&str> = findings.iter().map(|f| f.text.as_str()).collect();
    if found.len() > SHOWN {
        found.truncate(SHOWN);
        found.push("…");
    }
    let reason = match found.is_empty() {
        true => said.unwrap_or_default().to_owned(),
        false => found.join("; "),
    };
    text::excerpt(&text::one_line(&reason), CHARACTERS).into_owned()
}

fn refused(view: &str, findings: &[Finding]) -> Option<Refused> {
    let is_severe = |finding: &&Finding| finding.severity >= Some(Severity::High);
    let severe = findings.iter().find(is_severe);
    let below = |&(name, least): &(&str, u32)| {
        let share = numbers(view, name).find(|&share| share < least)?;
        let name = name.to_owned();
        Some(Refused::Below { name, share, least })
    };
    match severe {
        Some(Finding { text, .. }) => {
            let finding = text.clone();
            Some(Refused::Severe { finding })
        }
        None => LEAST.iter().find_map(below),
    }
}

/// The numbers in lines `NAME: 92/100`, `NAME 9/10` and `NAME: 92%`, as shares
/// of a hundred.
fn numbers<'a>(view: &'a str, name: &'a str) -> impl Iterator<Item = u32> + 'a {
    let of_line = move |line: &str| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*_#-+|>".contains(c));
        let rest = line.get(name.len()..)?;
        let is_named = line.get(..name.len())?.eq_ignore_ascii_case(name);
        let value = rest.trim_start_matches(|c: char| c.is_whitespace() || ":：*_|=`".contains(c));
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let number: u32 = value.get(..digits)?.parse().ok()?;
        let unit = value
            .get(digits..)?
            .trim_start_matches(['*', '_', '`', ' ']);
        let of: Option<u32> = unit.strip_prefix('/').and_then(|of| {
            let of = of.trim_start_matches(['*', '_', '`', ' ']);
            let digits = of.bytes().take_while(u8::is_ascii_digit).count();
            of.get(..digits)?.parse().ok()
        });
        // Without one of them it may count anything: `Security 5 findings`.
        let is_share = rest
            .trim_start_matches(['*', '_', ' '])
            .starts_with([':', '：'])
            || unit.starts_with('%')
            || of.is_some();
        let share = match of {
            Some(of) => number.checked_mul(100)?.checked_div(of)?,
            None => number,
        };
        (is_named && is_share && share <= 100).then_some(share)
    };
    view.lines().filter_map(of_line)
}

/// `VERDICT`, `RESULT`, … in front of a colon, small, and what follows.
fn label_of(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*_#-+".contains(c));
    let (label, value) = line.split_once([':', '：'])?;
    let label = label.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c));
    (label.len() <= 40).then(|| (label.to_lowercase(), value))
}

fn answer(view: &str, kind: VerdictKind) -> Option<Answer> {
    let bad = kind.bad()?;
    let label = match kind {
        VerdictKind::Test => "result",
        _ => "verdict",
    };
    let lines = view.lines().filter_map(label_of);
    let values: Vec<&str> = lines
        .filter(|(name, _)| name == label)
        .map(|(_, value)| value)
        .collect();
    if values.is_empty() {
        return by_words(view, kind);
    }
    let stated: Vec<Answer> = values
        .iter()
        .filter_map(|value| stated(value, kind))
        .collect();
    match stated.contains(&bad) {
        true => Some(bad),
        false => stated.first().copied(),
    }
}

/// The one word behind `VERDICT:`. A choice of words, as in the instructions,
/// is no statement.
fn stated(value: &str, kind: VerdictKind) -> Option<Answer> {
    let value = value.trim_matches(|c: char| c.is_whitespace() || "*_.!。！`".contains(c));
    let words: Vec<String> = value
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_uppercase)
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let (good, bad): (&[&str], &[&str]) = match kind {
        VerdictKind::Test => (&["PASS", "PASSED"], &["FAIL", "FAILED"]),
        _ => (&["APPROVE", "APPROVED"], &["REJECT", "REJECTED"]),
    };
    let first = words
        .first()
        .is_some_and(|word| good.contains(&word.as_str()));
    match (has(good), has(bad)) {
        (true, false) if first && !is_doubted(&value.to_lowercase()) => Some(kind.good()),
        (false, true) => kind.bad(),
        _ => None,
    }
}

/// Words that say no, and words that say yes.
fn vocabulary(kind: VerdictKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        VerdictKind::Test => (
            &[
                "fail", "失敗", "失败", "錯誤", "错误", "不通過", "不通过", "未通過", "未通过",
            ],
            &["pass", "通過", "通过", "成功"],
        ),
        _ => (
            &[
                "reject", "request changes", "changes requested", "not approve", "需要修改",
                "駁回", "驳回", "不通過", "不通过", "未通過", "未通过", "不批准", "cannot approve",
                "can't approve", "can’t approve", "disapprov", "拒絕", "拒绝", "退回",
            ],
            &["approve", "通過", "通过", "批准"],
        ),
    }
}

/// What a word behind these means nothing: `0 failed`, `沒有錯誤`.
const NEGATIONS: [&str; 11] = [
    "0", "no", "zero", "without", "never", "not", "沒有", "没有", "無", "无", "不",
];

fn by_words(view: &str, kind: VerdictKind) -> Option<Answer> {
    let (bad, good) = vocabulary(kind);
    let view = view.to_lowercase();
    let said = |text: &str, words: &[&str]| words.iter().any(|word| is_said(text, word));
    if said(&view, bad) {
        return kind.bad();
    }
    let mut sentences = view
        .split_inclusive(['.', '!', '?', ';', '\n', '。', '！', '？', '；'])
        .filter(|sentence| good.iter().any(|word| sentence.contains(word)))
        .peekable();
    sentences.peek()?;
    let is_plain = |sentence: &str| {
        let mut clauses = sentence.split([',', '，', '、']);
        let clause = clauses.find(|clause| said(clause, good));
        !is_doubted(sentence) && clause.is_some_and(is_short)
    };
    sentences.all(is_plain).then(|| kind.good())
}

/// Who says more than yes may mean no: nobody guesses, the agent is asked again.
fn is_short(clause: &str) -> bool {
    const WORDS: usize = 6;
    const CHARACTERS: usize = 12;
    let is_wide = |c: &char| !c.is_ascii() && c.is_alphabetic();
    clause.split_whitespace().count() <= WORDS
        && clause.chars().filter(is_wide).count() <= CHARACTERS
}

/// Whether a sentence with a word that says yes sets a condition, asks, or
/// denies.
fn is_doubted(sentence: &str) -> bool {
    const WORDS: [&str; 43] = [
        "after", "although", "almost", "assuming", "before", "but", "can", "cannot", "could",
        "decline", "except", "first", "hardly", "hesitate", "hold", "however", "if", "may",
        "might", "must", "need", "needs", "neither", "never", "nor", "not", "once", "only", "out",
        "pending", "provided", "refuse", "should", "soon", "unable", "unless", "until", "wait",
        "when", "withhold", "would", "yet", "fix",
    ];
    const CHINESE: [&str; 22] = [
        "但", "先", "才", "再", "後", "后", "若", "如果", "除非", "尚", "暫", "暂", "不", "未",
        "無法", "无法", "否", "別", "别", "難", "难", "需",
    ];
    let is_end = |c: char| !c.is_alphanumeric() && !"'’".contains(c);
    let mut words = sentence.split(is_end);
    sentence.trim_end().ends_with(['?', '？'])
        || words.any(|word| WORDS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"))
        || CHINESE.iter().any(|word| sentence.contains(word))
}

/// Whether the word stands somewhere without a negation right before it.
fn is_said(view: &str, word: &str) -> bool {
    let in_latin = word.is_ascii();
    view.match_indices(word).any(|(at, _)| {
        let before = view.get(..at).unwrap_or_default();
        if in_latin && before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        let near = before.trim_end_matches([' ', ':', '：']);
        !NEGATIONS.iter().any(|negation| {
            near.strip_suffix(negation).is_some_and(|rest| {
                !negation.is_ascii() || !rest.ends_with(|c: char| c.is_ascii_alphanumeric())
            })
        })
    })
}

/// Lines `FINDING high: …`, each with the `REPRODUCE: …` that follows it, there
/// or on the next line.
/// A line counts where its label is said; behind it, code is welcome.
fn findings(text: &str, view: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (line, shown) in text.lines().zip(view.lines()) {
        let Some((label, hidden)) = label_of(shown) else {
            continue;
        };
        let at = line.len().saturating_sub(hidden.len());
        let value = line.get(at..).unwrap_or_default().trim();
        if let Some(severity) = label.strip_prefix("finding") {
            let (value, command) = match value.split_once("REPRODUCE:") {
                Some((value, command)) => (value.trim_end(), Some(command)),
                None => (value, None),
            };
            if found.len() < MOST_FINDINGS && !value.is_empty() {
                found.push(Finding {
                    severity: Severity::from_word(severity),
                    text: text::redact(value).chars().take(500).collect(),
                    reproducer: command.and_then(reproducer),
                });
            }
        } else if label == "reproduce"
            && let Some(last) = found.last_mut()
        {
            last.reproducer = reproducer(value);
        }
    }
    found
}

/// A command that was shortened, or lost a secret, is another one.
fn reproducer(said: &str) -> Option<String> {
    let command = said.trim().trim_matches('`').trim();
    let is_whole = command.chars().count() <= 1_000 && text::redact(command) == command;
    (is_whole && !command.is_empty()).then(|| command.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "Review it. End with `VERDICT: APPROVE` or `VERDICT: REJECT`.";

    fn check(kind: VerdictKind, text: &str, want: Option<Answer>) {
        assert_eq!(hear(text, PROMPT, kind, None).answer, want, "{text}");
    }

    /// ROLE-06: the line that agents are asked for.
    #[test]
    fn a_line_decides() {
        use Answer::*;
        for (text, want) in [
            ("VERDICT: APPROVE", Some(Approve)),
            ("It failed before.\n\n**VERDICT: APPROVE**\n", Some(Approve)),
            ("verdict：reject", Some(Reject)),
            ("## Verdict: REJECTED.", Some(Reject)),
            ("- VERDICT: APPROVED", Some(Approve)),
            // Both: the bad one wins.
            ("VERDICT: APPROVE\nVERDICT: REJECT", Some(Reject)),
            ("VERDICT: REJECT\nVERDICT: APPROVE", Some(Reject)),
            // A choice is no statement, and code is shown, not said.
            ("VERDICT: APPROVE|REJECT", None),
            ("VERDICT: CANNOT APPROVE", None),
            ("VERDICT: APPROVE only after the fix", None),
            ("VERDICT: APPROVE (nice work)", Some(Approve)),
            ("```\nVERDICT: APPROVE\n```", None),
            ("> VERDICT: APPROVE", None),
            ("", None),
        ] {
            check(VerdictKind::Review, text, want);
        }
        for (text, want) in [
            ("RESULT: PASS", Some(Pass)),
            ("0 failed\nRESULT: PASS", Some(Pass)),
            ("RESULT: FAIL", Some(Fail)),
            ("VERDICT: APPROVE", None),
        ] {
            check(VerdictKind::Test, text, want);
        }
        check(VerdictKind::None, "VERDICT: APPROVE", None);
    }

    /// ROLE-06: the words of the seed.
    #[test]
    fn words_are_a_fallback_and_the_bad_one_wins() {
        use Answer::*;
        for (text, want) in [
            ("I approve this change.", Some(Approve)),
            ("審查通過", Some(Approve)),
            ("批准", Some(Approve)),
            ("Request changes: the name is wrong.", Some(Reject)),
            ("需要修改", Some(Reject)),
            ("駁回", Some(Reject)),
            (
                "Approved, but I would reject the second half.",
                Some(Reject),
            ),
            ("未通過", Some(Reject)),
            ("This is not approved.", Some(Reject)),
            ("Looks fine to me.", None),
            ("APPROVED", Some(Approve)),
            ("Review result: APPROVED. Well done!", Some(Approve)),
            ("I can't approve this.", Some(Reject)),
            ("拒絕批准", Some(Reject)),
            // Who says more than yes may mean no.
            ("I would approve it with tests.", None),
            ("I approve, once the tests are there.", None),
            ("Approve? Certainly no.", None),
            ("I refuse to approve this change", None),
            ("Nobody in their right mind would ever approve this", None),
            ("修正後才能批准", None),
            ("批准，但需補測試", None),
            ("無法批准", None),
        ] {
            check(VerdictKind::Review, text, want);
        }
        for (text, want) in [
            ("All tests pass, 0 failed.", Some(Pass)),
            ("測試通過，沒有錯誤", Some(Pass)),
            ("成功", Some(Pass)),
            ("2 tests fail", Some(Fail)),
            ("測試失敗", Some(Fail)),
            ("3 passed, 1 failed", Some(Fail)),
            ("surpassed expectations", None),
            ("The tests would pass if the port was free", None),
            ("12 passed, 0 failed. 沒有錯誤", Some(Pass)),
        ] {
            check(VerdictKind::Test, text, want);
        }
    }

    #[test]
    fn findings_have_a_severity_and_a_command() {
        let said = "FINDING high: src/a.rs:3 overflows\nREPRODUCE: `cargo test overflow`\n\
                    FINDING low: b.rs:1 leaks REPRODUCE: `make leak`\n\
                    FINDING: the name could be better\nVERDICT: REJECT\nReview Score: 41/100";
        let heard = hear(said, "", VerdictKind::Review, None);
        assert_eq!(heard.answer, Some(Answer::Reject));
        assert_eq!(heard.score, Some(41));
        assert_eq!(
            heard.findings,
            [
                Finding {
                    severity: Some(Severity::High),
                    text: "src/a.rs:3 overflows".into(),
                    reproducer: Some("cargo test overflow".into()),
                },
                Finding {
                    severity: Some(Severity::Low),
                    text: "b.rs:1 leaks".into(),
                    reproducer: Some("make leak".into()),
                },
                Finding {
                    severity: None,
                    text: "the name could be better".into(),
                    reproducer: None,
                },
            ]
        );
        assert!(heard.findings[0].could_block());
        assert!(!heard.findings[1].could_block());
    }

    /// ROUT-10.
    #[test]
    fn an_approval_with_a_severe_finding_is_a_rejection() {
        for (said, want) in [
            ("FINDING critical: x\nVERDICT: APPROVE", Answer::Reject),
            ("Coverage: 79%\nVERDICT: APPROVE", Answer::Reject),
            ("Security: 69%\nVERDICT: APPROVE", Answer::Reject),
            (
                "Coverage: 80%\nSecurity: 70%\nVERDICT: APPROVE",
                Answer::Approve,
            ),
            ("FINDING low: x\nVERDICT: APPROVE", Answer::Approve),
            ("Review Score: 5/100\nVERDICT: APPROVE", Answer::Reject),
            ("Review Score 5/100\nVERDICT: APPROVE", Answer::Reject),
            ("**Review Score**: **5** / 100\nAPPROVE", Answer::Reject),
            ("| Review Score | 5/100 |\nVERDICT: APPROVE", Answer::Reject),
            (
                "Review Score: 5/100\nReview Score: 95/100\nVERDICT: APPROVE",
                Answer::Reject,
            ),
            ("Review Score: 6/10\nVERDICT: APPROVE", Answer::Reject),
            ("Review Score: 9/10\nVERDICT: APPROVE", Answer::Approve),
            ("Review Score: 70/100\nVERDICT: APPROVE", Answer::Approve),
            (
                "Security 5 findings closed\nVERDICT: APPROVE",
                Answer::Approve,
            ),
        ] {
            check(VerdictKind::Review, said, Some(want));
        }
    }

    #[test]
    fn what_is_kept_is_the_end_without_secrets() {
        let secret = format!("sk-ant-{}", "a1B2".repeat(12));
        let said = format!("{}{secret}", "x ".repeat(SAID_CHARACTERS));
        let heard = hear(&said, "", VerdictKind::None, None);
        assert!(heard.words.chars().count() <= SAID_CHARACTERS);
        assert!(!heard.words.contains(&secret));
    }
}

//! How well a piece of work is shown, from words to a person's own word.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lang::{Lang, Say};

/// Ordered by what it is worth.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    Say,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum EvidenceLevel {
    /// An experiment speaks against it.
    #[say("refuted")]
    Refuted,
    /// Words, and nothing else.
    #[default]
    #[say("claimed")]
    Claimed,
    /// Something beside the task file changed.
    #[say("changed")]
    Changed,
    /// The checks pass, and would without the work too.
    #[say("unrefuted")]
    Unrefuted,
    /// Everything that passed before still runs and passes: enough for work
    /// that means to change no behaviour.
    #[say("preserved")]
    Preserved,
    /// Green with the work, red without it, and still able to be red.
    #[say("proven")]
    Proven,
    /// A person said so.
    #[say("accepted")]
    Accepted,
}

/// How many there are of each, the best first: `7 proven, 2 unrefuted`.
pub fn counted(lang: Lang, levels: impl Iterator<Item = EvidenceLevel>) -> Option<String> {
    let mut counts: BTreeMap<Reverse<EvidenceLevel>, usize> = BTreeMap::new();
    for level in levels {
        *counts.entry(Reverse(level)).or_default() += 1;
    }
    let words = counts
        .iter()
        .map(|(level, count)| format!("{count} {}", level.0.say(lang)));
    (!counts.is_empty()).then(|| words.collect::<Vec<_>>().join(", "))
}

/// What a task asks for by a person's word, as its line stood when the loop
/// was armed: `| proof: …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum AskedProof {
    /// Any change is enough: nothing can test it.
    Change,
    /// Only a person can tell.
    Person,
    /// It is about tests: they must go red where the product is spoiled.
    Tests,
    /// Nothing that worked may stop working.
    Preserved,
}

/// What the words of a task say that it is about, where no `proof:` says it.
pub fn meant_by(text: &str) -> Option<AskedProof> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let first = words.first().copied().unwrap_or_default();
    let near: Vec<&str> = words.iter().take(NEAR_WORDS).copied().collect();
    let has = |known: &[&str]| near.iter().any(|word| known.contains(word));
    let says = |known: &[&str]| known.iter().any(|part| text.contains(part));
    if WRITING.contains(&first) && has(&TEST_WORDS)
        || says(&["測試", "测试"]) && says(&["撰寫", "編寫", "编写", "補測試", "补测试"])
    {
        return Some(AskedProof::Tests);
    }
    let keeps = KEEPING.contains(&first) || has(&ABOUT_WORDS) && GENERAL.contains(&first);
    // Whoever asks for more beside it wants that to be shown.
    let joined = |pair: &[&str]| match pair {
        [_, "so"] => true,
        [join, word] => ["and", "also", "then", "plus"].contains(join) && MORE.contains(word),
        _ => false,
    };
    let more = words.windows(2).any(joined) || says(&MORE_CHINESE);
    ((keeps || says(&KEEPING_CHINESE)) && !more).then_some(AskedProof::Preserved)
}

/// What a task asks for beside that, behind `and`.
const MORE: [&str; 28] = [
    "add", "adds", "adding", "allow", "build", "cache", "change", "create", "creating", "enable",
    "fix", "fixes", "handle", "hash", "implement", "implementing", "introduce", "make", "makes",
    "migrate", "replace", "return", "support", "supports", "switch", "use", "using", "validate",
];
const MORE_CHINESE: [&str; 12] = [
    "新增", "加入", "增加", "實作", "实现", "實現", "支援", "支持", "添加", "改成", "修復", "修复",
];

/// A task says at its beginning what is to be done, and with what.
const NEAR_WORDS: usize = 4;
const TEST_WORDS: [&str; 6] = [
    "test", "tests", "testcase", "testcases", "coverage", "specs",
];
const WRITING: [&str; 6] = ["write", "add", "cover", "extend", "test", "increase"];
/// What changes no behaviour.
const KEEPING: [&str; 11] = [
    "refactor", "refactoring", "rename", "reorganize", "reorganise", "restructure", "cleanup",
    "tidy", "reformat", "document", "docs",
];
const GENERAL: [&str; 7] = [
    "update", "fix", "improve", "write", "add", "correct", "extend",
];
const ABOUT_WORDS: [&str; 8] = [
    "readme", "changelog", "docs", "documentation", "typo", "typos", "comment", "comments",
];
const KEEPING_CHINESE: [&str; 6] = ["重構", "重构", "說明文件", "文档", "文檔", "重新命名"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_by_their_worth() {
        use EvidenceLevel::*;
        let order = [
            Refuted, Claimed, Changed, Unrefuted, Preserved, Proven, Accepted,
        ];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn words_of_a_task_say_what_it_is_about() {
        for (text, want) in [
            ("Add subtraction to calc.py", None),
            ("Write tests for the parser", Some(AskedProof::Tests)),
            ("Add a test for empty input", Some(AskedProof::Tests)),
            ("Add a login form with tests", None),
            ("Fix the parser", None),
            ("Refactor the parser", Some(AskedProof::Preserved)),
            ("Document the API in README.md", Some(AskedProof::Preserved)),
            ("重構解析器", Some(AskedProof::Preserved)),
            ("Implement document upload in the app", None),
            ("Fix a typo in the README", Some(AskedProof::Preserved)),
            ("Document add in README.md", Some(AskedProof::Preserved)),
            ("Move sessions to Redis", None),
            ("Extract the text of a PDF", None),
            ("Refactor login so that passwords are hashed", None),
            ("Update the docs and add the login endpoint", None),
            ("重构登录并新增接口", None),
        ] {
            assert_eq!(meant_by(text), want, "{text}");
        }
    }
}

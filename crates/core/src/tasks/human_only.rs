//! Tasks that no agent can do alone: words that ask for a person.

/// The word in the text that asks for a person.
pub(super) fn human_words(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let phrase = PHRASES.iter().find(|phrase| has_phrase(&lower, phrase));
    phrase
        .or_else(|| CHINESE.iter().find(|word| has_chinese(&lower, word)))
        .copied()
}

const PHRASES: [&str; 21] = [
    "manually", "manual test", "manual tests", "manual testing", "manual review",
    "manual verification", "manual approval", "by hand", "by a human", "human review",
    "human approval", "ask the user", "ask the customer", "ask the client", "ask a human",
    "sign off", "sign-off", "signoff", "get approval", "stakeholder approval", "in person",
];

const CHINESE: [&str; 16] = [
    "人工", "手動", "手动", "請使用者", "请使用者", "請用戶", "请用户", "詢問使用者", "询问用户",
    "簽核", "签核", "簽字", "签字", "親自", "亲自", "人為確認",
];

/// Chinese has no spaces between words; 人工智慧 and 人工智能 are no people.
fn has_chinese(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = text.get(at + word.len()..).unwrap_or_default();
        !after.starts_with("智")
    })
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + phrase.len()..)
            .and_then(|after| after.chars().next());
        ![before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric)
    })
}

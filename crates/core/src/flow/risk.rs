//! How much a task can break, from its words and files (ROLE-04).

use crate::lang::Say;
use serde::{Deserialize, Serialize};

use super::Risk;

/// A risk, and what it was seen by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detected {
    pub risk: Risk,
    pub sign: RiskSign,
}

/// What made the risk what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Say)]
#[serde(rename_all = "snake_case")]
pub enum RiskSign {
    /// Nothing stood out.
    #[default]
    #[say("nothing stands out")]
    Nothing,
    /// The task says so: `| risk: high`.
    #[say("the task says so")]
    Said,
    /// The settings say so.
    #[say("roles.risk is set")]
    Set,
    #[say("path {path}", path = _0)]
    Path(String),
    #[say("word \"{word}\"", word = _0)]
    Word(String),
    #[say("{count} {files_en}", count = _0, files_en = crate::text::duration::plural(*_0, "file", "files"))]
    ManyFiles(usize),
    #[say("only text files")]
    OnlyText,
}

const PATH_PARTS: [&str; 12] = [
    "auth", "security", "payment", "payments", "api", "migration", "migrations", "schema",
    "secrets", "secret", ".github", ".circleci",
];
const FILE_NAMES: [&str; 7] = [
    "dockerfile", "docker-compose", ".env", "jenkinsfile", ".gitlab-ci", "azure-pipelines",
    "compose.y",
];
const FILE_ENDS: [&str; 2] = [".sql", ".prisma"];
const WORDS: [&str; 14] = [
    "password", "token", "secret", "credential", "credentials", "passwords", "tokens", "secrets",
    "encryption", "密碼", "密码", "憑證", "凭证", "金鑰",
];
const TEXT_ENDS: [&str; 4] = [".md", ".txt", ".rst", ".adoc"];
const MANY_FILES: usize = 5;

/// The risk of a task. `said` is what the task line says itself.
pub fn detect(text: &str, files: &[String], said: Option<&str>) -> Detected {
    if let Some(risk) = said.and_then(Risk::from_word) {
        return Detected {
            risk,
            sign: RiskSign::Said,
        };
    }
    let mut named: Vec<&str> = files.iter().map(String::as_str).collect();
    named.extend(text.split_whitespace().filter_map(path_in));
    let high = |sign| Detected {
        risk: Risk::High,
        sign,
    };
    if let Some(path) = named.iter().find(|path| is_risky(path)) {
        return high(RiskSign::Path((*path).to_owned()));
    }
    if let Some(word) = WORDS.into_iter().find(|word| says(text, word)) {
        return high(RiskSign::Word(word.into()));
    }
    if named.len() > MANY_FILES {
        return high(RiskSign::ManyFiles(named.len()));
    }
    let is_text = |path: &&str| {
        let path = path.to_ascii_lowercase();
        TEXT_ENDS.iter().any(|end| path.ends_with(end))
    };
    if !named.is_empty() && named.iter().all(is_text) {
        return Detected {
            risk: Risk::Low,
            sign: RiskSign::OnlyText,
        };
    }
    Detected::default()
}

/// A word of the text that names a file.
fn path_in(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| "`'\"()[],;:，。、".contains(c));
    let word = word.trim_end_matches('.');
    if word.contains("://") {
        return None;
    }
    let (_, name) = word.rsplit_once('/').unwrap_or(("", word));
    let ends = |name: &str| {
        name.rsplit_once('.').is_some_and(|(_, end)| {
            (1..=6).contains(&end.len())
                && end.chars().all(|c| c.is_ascii_alphanumeric())
                && end.starts_with(|c: char| c.is_ascii_alphabetic())
        })
    };
    let known = FILE_NAMES
        .iter()
        .any(|known| name.to_ascii_lowercase().starts_with(known));
    (word.contains('/') && word.is_ascii() || ends(name) || known).then_some(word)
}

fn is_risky(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let mut parts = path.split('/');
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = |part: &str| {
        part.split(['.', '-', '_'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    parts.any(|part| PATH_PARTS.contains(&part) || PATH_PARTS.contains(&stem(part).as_str()))
        || FILE_NAMES.iter().any(|known| name.starts_with(known))
        || FILE_ENDS.iter().any(|end| name.ends_with(end))
}

fn says(text: &str, word: &str) -> bool {
    let text = text.to_lowercase();
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_alphanumeric())
        .any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, files: &[&str], said: Option<&str>, want: Risk) {
        let files: Vec<String> = files.iter().map(|f| (*f).to_owned()).collect();
        let found = detect(text, &files, said);
        assert_eq!(found.risk, want, "{text} {files:?}: {:?}", found.sign);
    }

    /// ROLE-04.
    #[test]
    fn the_risk_is_seen_by_paths_words_and_numbers() {
        use Risk::*;
        for (text, files, want) in [
            ("Add a login form", &["src/auth/login.rs"][..], High),
            ("Add a column", &["db/users.sql"], High),
            ("Change src/api/users.rs", &[], High),
            ("Pin the image in Dockerfile", &[], High),
            ("Run it on .github/workflows/ci.yml", &[], High),
            ("Keep the password out of the log", &[], High),
            ("修改密碼長度", &[], High),
            (
                "Move things",
                &["a.rs", "b.rs", "c.rs", "d.rs", "e.rs", "f.rs"],
                High,
            ),
            (
                "Move things",
                &["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"],
                Medium,
            ),
            ("Explain it", &["docs/a.md", "README.md"], Low),
            ("Fix a typo in README.md", &[], Low),
            ("Explain it", &["docs/a.md", "src/main.rs"], Medium),
            ("Add a button", &[], Medium),
            ("Handle tokenizer input", &[], Medium),
            ("Read https://example.com/auth/x.html first", &[], Medium),
        ] {
            check(text, files, None, want);
        }
    }

    #[test]
    fn what_the_task_says_wins() {
        check("Change src/auth.rs", &[], Some("low"), Risk::Low);
        check("Fix README.md", &[], Some(" HIGH "), Risk::High);
        check("Fix README.md", &[], Some("whatever"), Risk::Low);
    }
}

//! The words that count, in English and in both ways of writing Chinese.

use super::words::SIGNALS;
use super::{Adjustment, Dimension, Heard};
use Dimension::{Dependency, Risk, Scope, Technical, Time};

/// The words of a task, ready to be looked up.
pub(super) struct Words {
    text: String,
    latin: Vec<String>,
    /// Things that are listed: `a, b and c`, `甲、乙和丙`.
    items: usize,
    characters: usize,
}

impl Words {
    pub(super) fn of(task: &str) -> Words {
        let text = task.to_lowercase();
        let latin = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let separators = text.matches([',', ';', '、', '，', '；', '\n']).count();
        let ands = latin.iter().filter(|word| *word == "and").count();
        let chinese = ["和", "與", "与", "及"];
        let joins: usize = chinese.iter().map(|word| text.matches(word).count()).sum();
        Words {
            items: separators + ands + joins,
            characters: text.chars().filter(|c| !c.is_whitespace()).count(),
            latin,
            text,
        }
    }

    /// The first of these that the task says. A Latin word is known by its
    /// beginning, so that `refactor` is also in `refactoring`; one that ends
    /// with a dot has to be whole.
    fn first(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.says(word))
    }

    fn says(&self, word: &str) -> bool {
        if !word.is_ascii() {
            return self.text.contains(word);
        }
        let (word, whole) = match word.strip_suffix('.') {
            Some(word) => (word, true),
            None => (word, false),
        };
        if word.contains(' ') || word.contains('-') {
            return self.text.contains(word);
        }
        let fits = |said: &String| match whole {
            true => said == word,
            false => said.starts_with(word),
        };
        self.latin.iter().any(fits)
    }
}

/// What every task is worth, before a word of it was read.
const BASE: [(Dimension, u32); 4] = [(Scope, 20), (Technical, 15), (Risk, 10), (Time, 20)];

/// Listed things and long texts are more work than a line.
const ITEMS: u32 = 8;
const MOST_ITEMS: u32 = 5;
const LONG: [(usize, u32); 3] = [(40, 8), (100, 10), (250, 15)];

pub(super) fn heard(words: &Words) -> Vec<Heard> {
    let mut heard: Vec<Heard> = BASE
        .into_iter()
        .map(|(dimension, percent)| Heard {
            dimension,
            word: String::new(),
            percent,
        })
        .collect();
    for signal in &SIGNALS {
        if let Some(word) = words.first(signal.words) {
            heard.push(Heard {
                dimension: signal.dimension,
                word: word.trim_end_matches('.').trim().to_owned(),
                percent: signal.percent,
            });
        }
    }
    let items = u32::try_from(words.items)
        .unwrap_or(u32::MAX)
        .min(MOST_ITEMS);
    if items > 0 {
        for dimension in [Scope, Dependency] {
            heard.push(Heard {
                dimension,
                word: format!("×{}", items + 1),
                percent: items * ITEMS,
            });
        }
    }
    let long = LONG.iter().filter(|(least, _)| words.characters >= *least);
    let percent: u32 = long.map(|(_, percent)| percent).sum();
    if percent > 0 {
        for dimension in [Scope, Time] {
            heard.push(Heard {
                dimension,
                word: format!("{}+", words.characters),
                percent,
            });
        }
    }
    heard
}

/// Words that move the sum itself (ROUT-04).
const MOVING: [(i32, &[&str]); 9] = [
    (
        -10,
        &[
            "typo", "comment", "錯字", "错字", "拼寫", "拼写", "註解", "注释", "註釋",
        ],
    ),
    (-8, &["rename", "改名", "重新命名", "重命名"]),
    (-5, &["readme", "changelog", "說明文件", "说明文档"]),
    (
        -5,
        &[
            "simple", "small", "minor", "trivial", "簡單", "简单", "小修", "小幅",
        ],
    ),
    (
        20,
        &["system", "architecture", "系統", "系统", "架構", "架构"],
    ),
    (15, &["complete.", "full.", "完整", "全面"]),
    (15, &["refactor", "重構", "重构"]),
    (
        25,
        &["from scratch", "greenfield", "從零", "从零", "從頭", "从头"],
    ),
    (
        15,
        &[
            "multi-module",
            "cross-module",
            "multiple modules",
            "多模組",
            "多模块",
            "跨模組",
            "跨模块",
        ],
    ),
];

pub(super) fn adjustments(words: &Words) -> Vec<Adjustment> {
    MOVING
        .iter()
        .filter_map(|(points, list)| {
            let word = words.first(list)?;
            Some(Adjustment {
                word: word.trim_end_matches('.').to_owned(),
                points: *points,
            })
        })
        .collect()
}

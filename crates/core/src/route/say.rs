//! The score card as people read it.

use strum::VariantArray as _;

use super::{Card, Dimension, Heard, Why};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for Card {
    fn say(&self, lang: Lang) -> String {
        let (route, total) = (self.route.into_str(), self.total);
        let mut out = tr!(lang, "Route: {route} (score {total}/100)\n");
        for &dimension in Dimension::VARIANTS {
            let score = self.scores.get(&dimension).copied().unwrap_or(0);
            let weight = self.weights.get(&dimension).copied().unwrap_or(0);
            let name = crate::text::width::pad_right(&dimension.say(lang), 12);
            let words = self.words(dimension);
            out.push_str(format!("  {name} {score:>2}/{weight:<2} {words}").trim_end());
            out.push('\n');
        }
        for adjustment in &self.adjustments {
            let (word, points) = (&adjustment.word, adjustment.points);
            out.push_str(&tr!(lang, "  {points:+} for \"{word}\"\n"));
        }
        out.push_str(&self.reason(lang));
        out
    }
}

impl Card {
    /// One line, and the hint at a border.
    pub fn summary(&self, lang: Lang) -> String {
        let (route, total) = (self.route.into_str(), self.total);
        let line = tr!(lang, "Route: {route} (score {total}/100)");
        let hint = match self.near {
            Some(_) => format!("\n{}", self.reason(lang).trim_end()),
            None => String::new(),
        };
        line + &hint
    }

    fn words(&self, dimension: Dimension) -> String {
        let of_it = |heard: &&Heard| heard.dimension == dimension && !heard.word.is_empty();
        let words = self.signals.iter().filter(of_it);
        let words: Vec<&str> = words.map(|heard| heard.word.as_str()).collect();
        words.join(", ")
    }

    fn reason(&self, lang: Lang) -> String {
        let mut out = match self.why {
            Why::Score => String::new(),
            Why::Ui => tr!(lang, "The words are about a user interface.\n"),
            Why::Asked => tr!(lang, "You chose this route.\n"),
        };
        if let Some(near) = self.near.map(|it| it.into_str()) {
            let route = near.to_lowercase();
            out.push_str(&tr!(
                lang,
                "This is near the border to {near}; choose it with --route {route}.\n"
            ));
        }
        out
    }
}

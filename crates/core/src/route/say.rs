//! The score card as people read it.

use super::{Card, Dimension, Heard, Route, Why};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for Dimension {
    fn say(&self, lang: Lang) -> String {
        match self {
            Dimension::Scope => tr!(lang, "scope", "範圍", "范围"),
            Dimension::Dependency => tr!(lang, "dependencies", "依賴", "依赖"),
            Dimension::Technical => tr!(lang, "technical", "技術", "技术"),
            Dimension::Risk => tr!(lang, "risk", "風險", "风险"),
            Dimension::Time => tr!(lang, "time", "時間", "时间"),
            Dimension::Ui => tr!(lang, "UI", "UI", "UI"),
        }
    }
}

impl Say for Card {
    fn say(&self, lang: Lang) -> String {
        let (route, total) = (self.route.name(), self.total);
        let mut out = tr!(
            lang,
            "Route: {route} (score {total}/100)\n",
            "路由: {route}（評分 {total}/100）\n",
            "路由: {route}（评分 {total}/100）\n",
        );
        for dimension in Dimension::ALL {
            let score = self.scores.get(&dimension).copied().unwrap_or(0);
            let weight = self.weights.get(&dimension).copied().unwrap_or(0);
            let name = crate::text::width::pad_right(&dimension.say(lang), 12);
            let words = self.words(dimension);
            out.push_str(format!("  {name} {score:>2}/{weight:<2} {words}").trim_end());
            out.push('\n');
        }
        for adjustment in &self.adjustments {
            let (word, points) = (&adjustment.word, adjustment.points);
            out.push_str(&tr!(
                lang,
                "  {points:+} for \"{word}\"\n",
                "  「{word}」{points:+}\n",
                "  “{word}”{points:+}\n",
            ));
        }
        out.push_str(&self.reason(lang));
        out
    }
}

impl Card {
    fn words(&self, dimension: Dimension) -> String {
        let of_it = |heard: &&Heard| heard.dimension == dimension && !heard.word.is_empty();
        let words = self.signals.iter().filter(of_it);
        let words: Vec<&str> = words.map(|heard| heard.word.as_str()).collect();
        words.join(", ")
    }

    fn reason(&self, lang: Lang) -> String {
        let mut out = match self.why {
            Why::Score => String::new(),
            Why::Ui => tr!(
                lang,
                "The words are about a user interface.\n",
                "內容與使用者介面有關。\n",
                "内容与用户界面有关。\n",
            ),
            Why::Asked => tr!(
                lang,
                "You chose this route.\n",
                "此路由由您指定。\n",
                "此路由由您指定。\n",
            ),
        };
        if let Some(near) = self.near.map(Route::name) {
            let route = near.to_lowercase();
            out.push_str(&tr!(
                lang,
                "This is near the border to {near}; choose it with --route {route}.\n",
                "分數接近 {near} 的界線；可用 --route {route} 指定。\n",
                "分数接近 {near} 的界线；可用 --route {route} 指定。\n",
            ));
        }
        out
    }
}

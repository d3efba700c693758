//! How much process a task deserves: scored offline, in whole numbers, the
//! same for the same words (ROUT-03 to ROUT-06, ROUT-12).
//!
//! Six dimensions, each with its weight, are filled by what the words of the
//! task say; a few words move the sum itself. The sum chooses the route, but
//! for work on a user interface, which has a route of its own.

mod say;
mod signals;
#[cfg(test)]
mod tests;

use crate::lang::Say;
use std::collections::BTreeMap;
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

/// How a task is worked on (ROUT-01).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(
    serialize_all = "SCREAMING_SNAKE_CASE",
    const_into_str,
    ascii_case_insensitive
)]
pub enum Route {
    Direct,
    Planned,
    Ralph,
    Architect,
    UiFlow,
}

impl Route {
    /// The name of its flow.
    pub fn flow(self) -> &'static str {
        match self {
            Route::Direct => "direct",
            Route::Planned => "planned",
            Route::Ralph => "ralph",
            Route::Architect => "architect",
            Route::UiFlow => "ui_flow",
        }
    }

    pub fn from_word(word: &str) -> Option<Route> {
        Route::from_str(&word.replace('-', "_")).ok()
    }
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
    Say,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Dimension {
    #[say("scope")]
    Scope,
    #[say("dependencies")]
    Dependency,
    #[say("technical")]
    Technical,
    #[say("risk")]
    Risk,
    #[say("time")]
    Time,
    #[say("UI")]
    Ui,
}

/// Weights and borders, from the settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// They add up to 100.
    pub weights: BTreeMap<Dimension, u32>,
    pub thresholds: Thresholds,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The highest sum of each route; each is above the one before.
    pub direct: u32,
    pub planned: u32,
    pub ralph: u32,
    /// From here on, together with a word for it, a task is about a user
    /// interface.
    pub ui: u32,
    /// From here on it is, whatever the sum says.
    pub ui_wins: u32,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale {
            weights: BTreeMap::from([
                (Dimension::Scope, 25),
                (Dimension::Dependency, 20),
                (Dimension::Technical, 20),
                (Dimension::Risk, 15),
                (Dimension::Time, 10),
                (Dimension::Ui, 10),
            ]),
            thresholds: Thresholds {
                direct: 20,
                planned: 45,
                ralph: 70,
                ui: 5,
                ui_wins: 7,
            },
        }
    }
}

/// How near to a border a sum is told to be.
const NEAR: u32 = 2;

/// The score of a task, and everything that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    pub route: Route,
    pub why: Why,
    pub total: u32,
    pub scores: BTreeMap<Dimension, u32>,
    pub weights: BTreeMap<Dimension, u32>,
    pub signals: Vec<Heard>,
    pub adjustments: Vec<Adjustment>,
    /// The sum is near a border; this lies behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Route>,
}

/// Why the route is the one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Score,
    Ui,
    /// The person chose it.
    Asked,
}

/// A word of the task that counts in a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    pub dimension: Dimension,
    pub word: String,
    /// Of the weight of the dimension.
    pub percent: u32,
}

/// A word that moves the sum itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustment {
    pub word: String,
    pub points: i32,
}

/// Scores a task. `asked` is the route that the person wants anyway.
pub fn score(task: &str, scale: &Scale, asked: Option<Route>) -> Card {
    let words = signals::Words::of(task);
    let signals = signals::heard(&words);
    let adjustments = signals::adjustments(&words);
    let scores: BTreeMap<Dimension, u32> = Dimension::VARIANTS
        .iter()
        .map(|&dimension| {
            let of_it = signals.iter().filter(|heard| heard.dimension == dimension);
            let percent = of_it.map(|heard| heard.percent).sum::<u32>().min(100);
            let weight = scale.weights.get(&dimension).copied().unwrap_or(0);
            (dimension, weight * percent / 100)
        })
        .collect();
    let sum = i64::from(scores.values().sum::<u32>());
    let moved = sum + adjustments.iter().map(|a| i64::from(a.points)).sum::<i64>();
    let total = u32::try_from(moved.clamp(0, 100)).unwrap_or(0);
    let ui = scores.get(&Dimension::Ui).copied().unwrap_or(0);
    let says_ui = signals.iter().any(|heard| heard.dimension == Dimension::Ui);
    let borders = &scale.thresholds;
    let is_ui = says_ui && (ui >= borders.ui_wins || (ui >= borders.ui && total < borders.ralph));
    let (route, why) = match asked {
        Some(route) => (route, Why::Asked),
        None if is_ui => (Route::UiFlow, Why::Ui),
        None => (scale.route(total), Why::Score),
    };
    Card {
        near: scale.near(total).filter(|_| why == Why::Score),
        route,
        why,
        total,
        scores,
        weights: scale.weights.clone(),
        signals,
        adjustments,
    }
}

impl Scale {
    fn route(&self, total: u32) -> Route {
        match total {
            total if total <= self.thresholds.direct => Route::Direct,
            total if total <= self.thresholds.planned => Route::Planned,
            total if total <= self.thresholds.ralph => Route::Ralph,
            _ => Route::Architect,
        }
    }

    /// The route behind a border that the sum is near to.
    fn near(&self, total: u32) -> Option<Route> {
        let own = self.route(total);
        let around = [
            total.saturating_sub(NEAR),
            total.saturating_add(NEAR).min(100),
        ];
        around
            .into_iter()
            .map(|other| self.route(other))
            .find(|route| *route != own)
    }
}

impl Card {
    /// What `--json` prints.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

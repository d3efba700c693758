//! From the score card of a task to what its run is asked for.

use ralph_core::config::Settings;
use ralph_core::route::{Card, Route};
use ralph_engine::plan::{Asked, Flag};

pub fn asked(task: String, card: Card, settings: &Settings, mut flags: Vec<Flag>) -> Asked {
    if settings.preset.is_none() && matches!(card.route, Route::Ralph | Route::Architect) {
        // The limits and the promise that the loops of the seed know.
        flags.push(Flag {
            key: "preset".into(),
            value: "delta".into(),
            name: "ralph do".into(),
        });
        // Beside the promise of that preset, what is promised anywhere else.
        let own = settings.promise.complete.iter().cloned();
        let words: Vec<String> = std::iter::once("TASK_COMPLETE".to_owned())
            .chain(own)
            .collect();
        flags.push(Flag {
            key: "promise.complete".into(),
            value: words.into(),
            name: "ralph do".into(),
        });
    }
    Asked {
        flags,
        prompt: Some(task),
        flow: Some(card.route.flow().into()),
        card: Some(card),
        ..Asked::default()
    }
}

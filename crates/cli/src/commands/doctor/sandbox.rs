//! `ralph doctor --sandbox`: the wall is proven by trying to break it.

use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::wall::{self, Held};

use super::{Finding, Level};
use crate::app::{App, own_program};
use crate::settings;

pub(super) async fn look(app: &App) -> Result<Vec<Finding>, u8> {
    let lang = app.lang();
    let loaded = settings::load(app, Vec::new())?;
    let agent = loaded.settings.agent.name.parse().ok();
    let wanted = wall::Wanted {
        settings: loaded.settings.sandbox.clone(),
        own_program: own_program(),
        clients: agent.into_iter().collect(),
    };
    let (facts, wall) = wall::raise(&wanted, &app.layout()).await;
    let Some(wall) = wall else {
        let next = tr!(
            lang,
            "on Debian and Ubuntu: `apt-get install bubblewrap`; `--sandbox strict` does not run without one"
        );
        return Ok(vec![
            Finding::new(Level::Red, "sandbox", facts.say(lang)).next(next),
        ]);
    };
    let mut findings = vec![Finding::new(Level::Ok, "sandbox", facts.say(lang))];
    let tried = match wall.tried().await {
        Ok(tried) => tried,
        Err(error) => {
            let error = error.to_string();
            let text = tr!(lang, "the attempts could not be made: {error}");
            findings.push(Finding::new(Level::Red, "sandbox", text));
            return Ok(findings);
        }
    };
    for (attempt, held) in tried {
        let what = attempt.say(lang);
        let (level, text) = match held {
            Held::Yes => (Level::Ok, tr!(lang, "{what}: held")),
            Held::No => (Level::Red, tr!(lang, "{what}: NOT held")),
            Held::NotKept => (Level::Note, tr!(lang, "{what}: not kept here")),
        };
        findings.push(Finding::new(level, attempt.into_str(), text));
    }
    Ok(findings)
}

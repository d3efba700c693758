//! `ralph bisect`: which turn broke it.

use ralph_core::display::{Screen, narrowing_bar};
use ralph_core::lang::Say;
use ralph_core::tr;
use ralph_engine::bisect::{Bisect, Found, Step};
use ralph_engine::verify::Verifier;
use ralph_engine::{past, plan, wall};
use serde_json::{Value, json};

use super::turns::{self, Turns};
use super::undo;
use crate::app::{App, Exit, OrFail};
use crate::args::BisectArgs;
use crate::{around, settings, trust};

pub fn run(app: &App, args: &BisectArgs) -> Exit {
    let lang = app.lang();
    let turns = Turns::read(app, args.run.as_deref())?;
    // As the run was asked to check.
    let past = past::read(&turns.paths).or_fail(app)?;
    let flags = settings::layers(app, &past.header.asked.flags)?;
    let loaded = settings::load(app, flags)?;
    let commands = match args.verify.is_empty() {
        true => {
            trust::require(app, &trust::items(&app.root, Some(&loaded)))?;
            loaded.settings.verify.commands.clone()
        }
        false => args.verify.clone(),
    };
    if commands.is_empty() {
        return app.refuse(&tr!(
            lang,
            "what tells good from bad? Name a command: `ralph bisect --verify 'npm test'`"
        ));
    }
    let verifier = Verifier {
        commands,
        ..plan::reproducer(&loaded.settings)
    };
    let sandbox = around::checks(app, &loaded.settings, args.json)?;
    let mut bisect = Bisect {
        layout: &turns.layout,
        run: &turns.paths,
        timeline: &turns.timeline,
        verifier,
        world: undo::world(app, &turns.paths)?,
    };
    let last = turns.timeline.turns.keys().next_back().copied();
    let mut known = Known::up_to(last.unwrap_or(0));
    let mut tell = |step: &Step| {
        known.note(step);
        if !args.json {
            app.tell(&line(app, step, &known));
        }
    };
    let search = async {
        bisect.verifier.wall = wall::around_checks(Some(&sandbox), &turns.layout).await;
        bisect.search(&mut tell).await
    };
    let found = app.block_on(search)?.or_fail(app)?;
    if args.json {
        app.json(&as_json(turns.paths.id.as_str(), &found));
        return Ok(0);
    }
    for (path, why) in &found.left_out {
        let (path, why) = (turns::name(path), why.say(lang));
        app.warn(&tr!(
            lang,
            "{path} was in every step what it is now, since it was not kept ({why})"
        ));
    }
    app.done(&answer(app, args, &found))
}

/// The turns of which it is known whether the checks pass after them.
struct Known {
    good: u32,
    first_bad: u32,
    last: u32,
}

impl Known {
    fn up_to(last: u32) -> Known {
        let (good, first_bad) = (0, last + 1);
        Known {
            good,
            first_bad,
            last,
        }
    }

    fn note(&mut self, step: &Step) {
        match step.passed {
            true => self.good = self.good.max(step.turn),
            false => self.first_bad = self.first_bad.min(step.turn),
        }
    }

    fn bar(&self, screen: &Screen) -> String {
        let bad = (self.last + 1).saturating_sub(self.first_bad);
        let [good, bad, last] = [self.good, bad, self.last].map(|turns| turns as usize);
        narrowing_bar(screen, good, bad, last)
    }
}

/// `[███░░░░░▒▒] [2/5] after turn 4: green (120 ms)`
fn line(app: &App, step: &Step, known: &Known) -> String {
    let lang = app.lang();
    let (number, most, turn) = (step.number, step.most, step.turn);
    let ms: u64 = step.results.iter().map(|result| result.duration_ms).sum();
    let colour = match step.passed {
        true => tr!(lang, "green"),
        false => tr!(lang, "red"),
    };
    let at = match (turn, step.before) {
        (0, _) => tr!(lang, "when the run began"),
        (turn, true) => tr!(lang, "before turn {turn}"),
        (turn, false) => tr!(lang, "after turn {turn}"),
    };
    let bar = known.bar(&app.screen);
    format!("{bar} [{number}/{most}] {at}: {colour} ({ms} ms)")
}

fn answer(app: &App, args: &BisectArgs, found: &Found) -> String {
    let lang = app.lang();
    let (bad, good) = (found.bad, found.good);
    let run = args.run.as_ref();
    let run = run.map(|run| format!(" --run {run}")).unwrap_or_default();
    match found.between {
        true => tr!(
            lang,
            "no turn broke it: the checks pass after turn {good} and fail already when turn {bad} began. Somebody changed the work between; see it with `ralph diff {good}..{bad}{run}`"
        ),
        false => tr!(
            lang,
            "turn {bad} broke it: the checks pass after turn {good} and fail after turn {bad}. See it with `ralph show {bad}{run}` and `ralph diff {bad}{run}`"
        ),
    }
}

fn as_json(run: &str, found: &Found) -> Value {
    let step = |step: &Step| {
        json!({
            "turn": step.turn,
            "before": step.before,
            "tree": step.tree.to_string(),
            "passed": step.passed,
            "results": step.results,
        })
    };
    let left_out = found.left_out.iter();
    let left_out = left_out.map(|(path, _)| path.to_string_lossy());
    json!({
        "run": run,
        "first_bad_turn": found.bad,
        "last_good_turn": found.good,
        "between_turns": found.between,
        "steps": found.steps.iter().map(step).collect::<Vec<_>>(),
        "room": <&str>::from(found.room),
        "not_kept": left_out.collect::<Vec<_>>(),
    })
}

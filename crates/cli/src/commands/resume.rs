//! `ralph resume`: takes a run up where it was left.

use ralph_core::display::{self, ResumeView, Screen};
use ralph_core::flow::Scope;
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Goal, Outcome, State, iso_utc};
use ralph_core::overview::Overview;
use ralph_core::report::{outcome_name, outcome_word};
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::archive::{self, Restored};
use ralph_engine::clock;
use ralph_engine::error::DriveError;
use ralph_engine::opening::{self, Opening};
use ralph_engine::past::{self, Past, PastError};
use ralph_engine::plan::{self, Asked};
use ralph_engine::session::adopt;
use ralph_store::FileError;
use ralph_store::layout::{Layout, RunId, RunPaths};
use ralph_store::{lock, old};
use serde_json::{Value, json};

use super::answer::{moved, no_run};
use super::archive::known;
use super::checkpoints::{self, Entry};
use super::from_file;
use super::history::keeping;
use super::left::{Left, Way};
use super::run::{Shown, prepare, show};
use super::status::state_words;
use crate::app::{self, App, Exit, OrFail};
use crate::args::{Global, ResumeArgs};
use crate::{FAILED, settings};

/// What is done with an unfinished run (RESM-04, RESM-09).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Continue,
    Restart,
    Show,
    Abandon,
}

impl Choice {
    /// The number of a line of the menu.
    pub fn typed(text: &str) -> Option<Choice> {
        match text.trim() {
            "1" | "１" => Some(Choice::Continue),
            "2" | "２" => Some(Choice::Restart),
            "3" | "３" => Some(Choice::Show),
            "4" | "４" => Some(Choice::Abandon),
            _ => None,
        }
    }
}

/// What there is to take up.
enum Found {
    Run(RunPaths, Box<Past>),
    /// The journal can't be read, or is gone.
    Left(Box<Left>),
}

pub fn run(app: App, global: &Global, args: &ResumeArgs) -> Exit {
    let layout = app.layout();
    if args.list {
        return list(&app, &layout, args.json);
    }
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        ..Shown::default()
    };
    if let Some(file) = from_file::wanted(&app, &layout, args) {
        let chosen = from_file::choose(&app, &layout, args, &file)?;
        let shown = Shown {
            calls_nobody: chosen.opening != Opening::New,
            ..shown
        };
        let asked = with_flags(chosen.asked, args);
        let (app, plan) = prepare(app, global, asked, shown)?;
        if let Some(state) = &chosen.state {
            from_file::put(&app, &layout, state)?;
        }
        return show(&app, plan, &chosen.opening, shown);
    }
    let (paths, past) = match find(&app, &layout, args)? {
        Found::Run(paths, past) => (paths, past),
        Found::Left(left) => match left.choose(&app, args)? {
            Way::StartOver(asked) => {
                let asked = with_flags(*asked, args);
                return start(app, global, asked, &Opening::New, shown);
            }
            Way::Restore(file) => {
                let args = ResumeArgs {
                    from: Some(file),
                    run: None,
                    yes: true,
                    ..args.clone()
                };
                return run(app, global, &args);
            }
        },
    };
    over(&app, &layout, args, &paths, &past)?;
    let details = || details(&app.screen, &layout, &paths.id, &past);
    let opening = match choose(&app, args, &view(&past), &details)? {
        Choice::Show => {
            app.tell(&details());
            return Ok(0);
        }
        Choice::Abandon => Opening::Abandon(Some(paths.id)),
        Choice::Continue => return go_on(app, global, args, paths, &past),
        Choice::Restart => Opening::New,
    };
    let shown = Shown {
        calls_nobody: !opening.calls_agents(),
        gives_up: !opening.calls_agents(),
        ..shown
    };
    let asked = match opening {
        Opening::New => adopt::asked_from_the_beginning(&layout, &past.header),
        _ => past.header.asked_again(layout.root()),
    };
    let asked = with_flags(asked, args);
    start(app, global, asked, &opening, shown)
}

/// What was asked for then, as far as nothing else is said now.
fn with_flags(mut asked: Asked, args: &ResumeArgs) -> Asked {
    let flags = settings::resume_flags(args);
    asked
        .flags
        .retain(|then| flags.iter().all(|now| now.key != then.key));
    asked.flags.extend(flags);
    asked
}

/// Takes the run up, within what the person now allows.
fn go_on(app: App, global: &Global, args: &ResumeArgs, paths: RunPaths, past: &Past) -> Exit {
    let list = past.header.tasks_file.as_ref();
    // A route makes its own, and lanes have one elsewhere.
    let rules = &past.state.rules;
    let is_here = matches!(rules.goal, Goal::Tasks { .. }) && rules.lanes.is_none();
    if let Some(list) = list.filter(|list| is_here && !list.exists()) {
        let (list, run) = (list.display(), &paths.id);
        return app.refuse(&tr!(app.lang(), "{list}: the list of run {run} is gone; put it back and resume, or give the run up with `ralph cancel` and start with another: `ralph run --tasks FILE` (what is ticked stays ticked)"));
    }
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        ..Shown::default()
    };
    let asked = with_flags(past.header.asked_again(app.layout().root()), args);
    let (money, tokens) = (args.max_cost.is_some(), args.max_tokens.is_some());
    let (app, plan) = prepare(app, global, asked, shown)?;
    let mut budget = past.state.rules.budget;
    if money {
        budget.run.cost = plan.rules.budget.run.cost;
    }
    if tokens {
        budget.run.tokens = plan.rules.budget.run.tokens;
    }
    plan::check_budget(&budget, &plan.agents).or_fail(&app)?;
    let rules = past.state.rules.changed(&past.header.rules, &plan.rules);
    if let Some(rules) = &rules
        && past.state.rules.is_weakened_by(rules)
    {
        accept_weaker(&app, args)?;
    }
    let opening = Opening::Resume {
        id: paths.id,
        budget: (money || tokens).then_some(budget),
        rules: rules.map(Box::new),
    };
    show(&app, plan, &opening, shown)
}

/// Less has to be shown than when the run began: a person has to want that.
fn accept_weaker(app: &App, args: &ResumeArgs) -> Result<(), u8> {
    let lang = app.lang();
    app.warn(&tr!(
        lang,
        "the settings ask for less than when this run began: checks are gone, or weaker"
    ));
    let question = tr!(lang, "Go on with less? [y/N] ");
    let wants = args.yes
        || (app::is_interactive() && matches!(app::ask(&question).as_deref(), Some("y" | "Y")));
    match wants {
        true => Ok(()),
        false => Err(FAILED),
    }
}

fn start(app: App, global: &Global, asked: Asked, opening: &Opening, shown: Shown) -> Exit {
    let (app, plan) = prepare(app, global, asked, shown)?;
    show(&app, plan, opening, shown)
}

/// The run that is named, out of the history if need be (RESM-05), else the
/// newest; the checkpoint of it, where that is what is left.
fn find(app: &App, layout: &Layout, args: &ResumeArgs) -> Result<Found, u8> {
    let name = args.run.as_deref();
    let mut entries = checkpoints::all(app);
    let paths = match name {
        Some(name) => named(app, layout, name, &entries)?,
        None => newest(layout).or_fail(app)?,
    };
    let wanted = paths.as_ref().map(|p| p.id.as_str()).or(name);
    let at = match wanted {
        Some(wanted) => entries.iter().position(|entry| entry.answers_to(wanted)),
        None => entries.iter().position(|entry| entry.place == "current"),
    };
    let checkpoint = at.map(|at| entries.remove(at));
    let run_of_checkpoint = checkpoint
        .as_ref()
        .and_then(|entry| entry.checkpoint()?.run_id());
    let paths = paths.or_else(|| run_of_checkpoint.and_then(|id| known(layout, id)));
    if paths.is_none() && checkpoint.is_none() {
        return app.refuse(&moved(app).unwrap_or_else(|| tr!(app.lang(), "there is no such run to take up; `ralph resume --list` shows all, `ralph run` starts one")));
    }
    if let (true, Some(paths)) = (args.from_intact, &paths) {
        keep_intact(app, layout, paths)?;
    }
    let why = match &paths {
        Some(paths) => match past::read(paths) {
            Ok(past) => return Ok(Found::Run(paths.clone(), Box::new(past))),
            Err(error) => error.say(app.lang()),
        },
        None => tr!(
            app.lang(),
            "the journal of this run is gone; a checkpoint is what is left"
        ),
    };
    let run_id = paths.as_ref().map(|paths| paths.id.to_string());
    let entry_name = checkpoint.as_ref().map(|entry| entry.name().to_owned());
    Ok(Found::Left(Box::new(Left {
        name: run_id.or(entry_name).unwrap_or_default(),
        why,
        journal: paths.map(|paths| paths.journal()),
        checkpoint,
        history: entries,
    })))
}

/// A run that is over can be looked at and started over, and no more.
fn over(
    app: &App,
    layout: &Layout,
    args: &ResumeArgs,
    paths: &RunPaths,
    past: &Past,
) -> Result<(), u8> {
    let outcome = match past.state.outcome() {
        Some(outcome @ (Outcome::Complete | Outcome::Cancelled))
            if !(args.show || args.restart) =>
        {
            outcome
        }
        _ => return Ok(()),
    };
    finish_telling(app, layout, paths, outcome)?;
    let name = outcome_word(app.lang(), outcome.into_str());
    let run = paths.id.as_str();
    app.refuse(&tr!(app.lang(), "run {run} is over ({name}); start a new one with `ralph run`, or the same once more with `ralph resume {run} --restart`"))
}

fn named(
    app: &App,
    layout: &Layout,
    id: &str,
    checkpoints: &[Entry],
) -> Result<Option<RunPaths>, u8> {
    let lang = app.lang();
    let keeping = keeping(app)?;
    let found = archive::restore(layout, &keeping, id).or_fail(app)?;
    match found {
        Restored::There(paths) => Ok(Some(paths)),
        Restored::Back(paths) => {
            let run = &paths.id;
            app.warn(&tr!(lang, "run {run} was brought back from the history"));
            Ok(Some(paths))
        }
        Restored::NoJournal(_) if checkpoints.iter().any(|c| c.answers_to(id)) => Ok(None),
        Restored::NoJournal(entry) => {
            let path = entry.path.display();
            app.refuse(&tr!(lang, "{path} has no journal that Ralph put there, so that nothing can be taken up from it; look at it with `ralph history show {id}`, then start a new run with `ralph run`: what is ticked stays ticked"))
        }
        Restored::Unknown => match RunId::parse(id).and_then(|id| old::run(layout, &id)) {
            Some(old) => {
                let run = &old.id;
                app.refuse(&tr!(lang, "run {run} is of an earlier version, which kept it in the project, where anybody could change it: look at it with `ralph report {run}`, then start a new run with `ralph run`; what is ticked stays ticked"))
            }
            None => Ok(None),
        },
    }
}

/// A run that died before it began hides no other; if there is no other, it
/// is the one to speak of.
pub fn newest(layout: &Layout) -> Result<Option<RunPaths>, FileError> {
    let runs = layout.runs()?;
    let began = |paths: &&RunPaths| !matches!(past::read(paths), Err(PastError::NeverBegan { .. }));
    Ok(runs.iter().rev().find(began).or(runs.last()).cloned())
}

/// Its end may not have been told: then that is what is left to do, and its
/// exit code is that of the run.
fn finish_telling(
    app: &App,
    layout: &Layout,
    paths: &RunPaths,
    outcome: &Outcome,
) -> Result<(), u8> {
    let untold = match opening::finish_telling(layout, &paths.id) {
        Ok(untold) => untold,
        // Another run that is alive is no concern of one that is over.
        Err(DriveError::Locked(_)) => return Ok(()),
        Err(error) => return app.fail(&error),
    };
    let archived =
        archive::archive_by_hand(layout, &keeping(app)?, paths, app.lang()).or_fail(app)?;
    if untold.is_none() && archived.already {
        return Ok(());
    }
    let name = outcome_word(app.lang(), outcome.into_str());
    let run = paths.id.as_str();
    app.tell(&tr!(
        app.lang(),
        "run {run} had ended ({name}), and not all of its files said so; they are complete now"
    ));
    Err(outcome.exit_code())
}

fn keep_intact(app: &App, layout: &Layout, paths: &RunPaths) -> Result<(), u8> {
    match opening::keep_intact(layout, &paths.id) {
        Ok(Some(salvage)) => {
            let (copy, records) = (salvage.copy.display(), salvage.records);
            app.warn(&tr!(
                app.lang(),
                "going on from {records} intact records; the damaged journal stands in {copy}"
            ));
            Ok(())
        }
        Ok(None) => Ok(()),
        Err(error) => app.fail(&error),
    }
}

/// What the person wants, by a flag or from the menu, which comes again after
/// the details.
pub(super) fn choose(
    app: &App,
    args: &ResumeArgs,
    view: &ResumeView,
    details: &dyn Fn() -> String,
) -> Result<Choice, u8> {
    let flags = [
        (args.yes || args.from_intact, Choice::Continue),
        (args.restart, Choice::Restart),
        (args.show, Choice::Show),
        (args.abandon, Choice::Abandon),
    ];
    if let Some((_, choice)) = flags.into_iter().find(|(given, _)| *given) {
        return Ok(choice);
    }
    if !app::is_interactive() {
        return app.refuse(&tr!(
            app.lang(),
            "nobody is there to choose: say --yes, --restart, --show or --abandon"
        ));
    }
    let menu = display::resume_menu(&app.screen, view);
    loop {
        let typed = app::ask(&menu).ok_or(FAILED)?;
        match Choice::typed(&typed) {
            Some(Choice::Show) => app.tell(&details()),
            Some(choice) => return Ok(choice),
            None => {}
        }
    }
}

/// Where a run stands, for those who choose what becomes of it (RESM-04).
pub fn view(past: &Past) -> ResumeView {
    let state = &past.state;
    // Without a list only the state file of the loop knows.
    let claims = &state.claims.file;
    let claimed = claims.phases.last().copied().max(claims.current);
    let claimed = claimed.and_then(|last| usize::try_from(last).ok());
    let listed = state.tasks.facts.as_ref().map(|facts| facts.phases.len());
    let phases = listed.or(claimed).unwrap_or(0);
    let flow = state.rules.flow.as_ref().map(|rules| &rules.flow);
    let route = flow.filter(|flow| flow.scope == Scope::Run);
    ResumeView {
        task: match (
            &state.rules.goal,
            &past.header.asked.prompt,
            &past.header.tasks_file,
        ) {
            (Goal::Prompt | Goal::Flow | Goal::PullRequest | Goal::Ci, Some(prompt), _) => {
                prompt.clone()
            }
            (_, _, Some(file)) => file.display().to_string(),
            _ => String::new(),
        },
        route: route
            .map(|flow| flow.name.to_uppercase())
            .or(Some(claims.route.clone()).filter(|route| !route.is_empty())),
        phase: phase_of_flow(state).or(state.phase().map(|key| (key, phases))),
        iteration: state.turn.number,
        interrupted_at: clock::local_time(state.now().wall_ms),
    }
}

/// The number of the phase that a route stands at, and how many there are.
fn phase_of_flow(state: &State) -> Option<(String, usize)> {
    let flow = state.rules.flow.as_ref().map(|rules| &rules.flow)?;
    let number = state.phase_of_route()?;
    Some((number.to_string(), flow.phases().count()))
}

/// All that there is to know about a run before it is taken up.
pub fn details(screen: &Screen, layout: &Layout, run: &RunId, past: &Past) -> String {
    let lang = screen.lang;
    let state = &past.state;
    let facts = state.tasks.facts.clone().unwrap_or_default();
    let (id, turns) = (run.as_str(), state.turn.number);
    let (completed, total) = (facts.completed, facts.total);
    let started = clock::local_time(past.header.started_ms);
    let last = clock::local_time(state.now().wall_ms);
    let mut overview = Overview::of(state, lang);
    overview.driven_by(lock::driver(&layout.lock(), id));
    let outcome = state_words(&overview, lang);
    let iterations_en = plural(turns as usize, "iteration", "iterations");
    let tasks_en = plural(total, "task", "tasks");
    let mut out = tr!(
        lang,
        "run {id}\nstarted {started}, last event {last}\nstate: {outcome}, {turns} {iterations_en}, {completed}/{total} {tasks_en}\n"
    );
    out.push_str(&display::phase_tree(
        screen,
        &ralph_core::overview::phases(state, lang),
    ));
    for task in &facts.open {
        out.push_str(&format!("- [ ] {}\n", task.name()));
    }
    out
}

fn list(app: &App, layout: &Layout, json: bool) -> Exit {
    let runs = layout.runs().or_fail(app)?;
    let runs: Vec<_> = runs
        .iter()
        .map(|paths| (paths, past::read(paths)))
        .collect();
    let checkpoints = checkpoints::all(app);
    if json {
        let runs: Vec<Value> = runs
            .iter()
            .map(|(paths, past)| json_of(paths, past))
            .collect();
        let checkpoints: Vec<Value> = checkpoints.iter().map(Entry::to_json).collect();
        app.json(&json!({"runs": runs, "checkpoints": checkpoints}));
        return Ok(0);
    }
    for (paths, past) in &runs {
        app.tell(&line_of(app, paths, past));
    }
    if !checkpoints.is_empty() {
        app.tell(&tr!(app.lang(), "\ncheckpoints:"));
    }
    for entry in &checkpoints {
        app.tell(&entry.line(app.lang()));
    }
    let waiting = from_file::wanted(app, layout, &ResumeArgs::default());
    if runs.is_empty() && checkpoints.is_empty() && waiting.is_none() {
        app.tell(&no_run(app));
    }
    if let Some(file) = waiting {
        let file = file.display();
        app.tell(&tr!(
            app.lang(),
            "a state file waits: {file}; `ralph resume --show` shows it"
        ));
    }
    Ok(0)
}

fn line_of(app: &App, paths: &RunPaths, past: &Result<Past, PastError>) -> String {
    let id = paths.id.as_str();
    match past {
        Ok(past) => {
            let facts = past.state.tasks.facts.clone().unwrap_or_default();
            let outcome = outcome_word(app.lang(), outcome_name(past.state.outcome()));
            let turns = past.state.turn.number;
            let last = clock::local_time(past.state.now().wall_ms);
            format!(
                "{id}  {outcome:<13} #{turns:<5} {}/{}  {last}",
                facts.completed, facts.total
            )
        }
        Err(error) => {
            let why = error.say(app.lang());
            let words = tr!(app.lang(), "damaged: {why}");
            format!("{id}  {words}")
        }
    }
}

fn json_of(paths: &RunPaths, past: &Result<Past, PastError>) -> Value {
    match past {
        Ok(past) => {
            let facts = past.state.tasks.facts.clone().unwrap_or_default();
            let percent = (facts.completed * 100)
                .checked_div(facts.total)
                .unwrap_or(0);
            json!({
                "id": paths.id.as_str(),
                "task": view(past).task,
                "phase": past.state.phase(),
                "percent": percent,
                "iterations": past.state.turn.number,
                "updated": iso_utc(past.state.now().wall_ms),
                "outcome": past.state.outcome().map_or("unfinished", Outcome::into_str),
                "state": "verified",
            })
        }
        Err(error) => json!({
            "id": paths.id.as_str(),
            "state": "damaged",
            "why": error.say(Lang::En),
        }),
    }
}

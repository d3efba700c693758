//! `ralph lanes`: who works on what at the same time, what waits to land, and
//! which trees are there.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Board, Seat, State};
use ralph_core::text;
use ralph_core::tr;
use ralph_engine::lanes::{self, Left};
use ralph_engine::past;
use ralph_store::layout::{Layout, RunId};
use serde_json::{Value, json};

use super::turns;
use crate::app::{self, App, Exit, OrFail};
use crate::args::{LanesArgs, LanesVerb};

pub fn run(app: &App, args: &LanesArgs) -> Exit {
    let layout = app.layout();
    let latest = layout.last_written().or_fail(app)?;
    let past = latest.as_ref().and_then(|run| past::read(run).ok());
    let state = past.map(|past| past.state);
    let run = latest.map(|run| run.id);
    let trees = lanes::trees(&layout);
    match args.verb {
        Some(LanesVerb::Clean { yes, dry_run }) => clean(app, &layout, &trees, yes, dry_run),
        None => {
            let state = state.filter(|state| state.rules.lanes.is_some());
            app.answer(
                args.json,
                || json_of(app, run.as_ref(), state.as_ref(), &trees),
                || words(app, run.as_ref(), state.as_ref(), &trees),
            )
        }
    }
}

fn board(state: Option<&State>) -> Board {
    state.map(|state| state.lanes.clone()).unwrap_or_default()
}

fn turn_of(layout: &Layout) -> u32 {
    let latest = layout.latest_run().ok().flatten();
    let past = latest.and_then(|run| past::read(&run).ok());
    past.map_or(0, |past| past.state.turn.number)
}

fn tree_of<'a>(trees: &'a [Left], run: Option<&RunId>, lane: u32) -> Option<&'a Left> {
    let is_it = |tree: &&Left| Some(&tree.run) == run && tree.lane == lane;
    trees.iter().find(is_it)
}

/// The network ports of whoever works there.
fn ports(app: &App, tree: &Left) -> Option<String> {
    let project = lanes::project_in(&app.layout(), &tree.run, tree.lane)?;
    let (first, last) = lanes::Ports::of(&app.home, &project)?;
    Some(format!("{first}-{last}"))
}

fn json_of(app: &App, run: Option<&RunId>, state: Option<&State>, trees: &[Left]) -> Value {
    let board = board(state);
    let seats = board.seats.iter().map(|(lane, seat)| {
        let tree = tree_of(trees, run, *lane);
        let place = board.queue.iter().position(|queued| queued == lane);
        json!({
            "lane": lane,
            "task": seat.task.id,
            "text": seat.task.text,
            "doing": seat.doing.into_str(),
            "place": place.map(|place| place + 1),
            "base": seat.base,
            "tree": tree.map(|tree| &tree.root),
            "bytes": tree.map(Left::bytes),
            "calls": seat.calls,
            "ports": tree.and_then(|tree| ports(app, tree)),
        })
    });
    json!({
        "run": run.filter(|_| state.is_some()).map(RunId::as_str),
        "branch": state.and_then(|state| Some(&state.rules.lanes.as_ref()?.branch)),
        "count": state.and_then(|state| Some(state.rules.lanes.as_ref()?.count)),
        "lanes": seats.collect::<Vec<_>>(),
        "landed": board.landed,
        "parked": board.parked,
        "trees": trees.iter().map(|tree| json!({
            "run": tree.run.as_str(), "lane": tree.lane, "root": tree.root, "bytes": tree.bytes(),
        })).collect::<Vec<_>>(),
    })
}

fn words(app: &App, run: Option<&RunId>, state: Option<&State>, trees: &[Left]) -> String {
    let lang = app.lang();
    let board = board(state);
    let mut out = String::new();
    match state.and_then(|state| state.rules.lanes.as_ref()) {
        None => out.push_str(&tr!(
            lang,
            "the last run had no lanes; start one with `ralph run -j 3`\n"
        )),
        Some(rules) => {
            let (branch, count) = (&rules.branch, rules.count);
            out.push_str(&tr!(lang, "branch {branch}, {count} at once\n"));
        }
    }
    for (lane, seat) in &board.seats {
        let (task, text) = (&seat.task.id, text::one_line(&seat.task.text));
        let doing = seat.doing.say(lang);
        let tree = tree_of(trees, run, *lane);
        let turn = tree.map_or(0, |tree| turn_of(&Layout::new(&tree.root, &app.home)));
        out.push_str(&tr!(
            lang,
            "lane {lane}  {task} {text}  {doing}, turn {turn}"
        ));
        if let Some(place) = board.queue.iter().position(|queued| queued == lane) {
            let place = place + 1;
            out.push_str(&tr!(lang, ", place {place} in the queue"));
        }
        if let Some(tree) = tree {
            if let Some(ports) = ports(app, tree) {
                out.push_str(&tr!(lang, ", ports {ports}"));
            }
            let (root, size) = (tree.root.display(), turns::size(tree.bytes()));
            out.push_str(&format!("  {size}  {root}"));
        }
        out.push('\n');
    }
    for (task, commit) in &board.landed {
        let commit = commit.get(..10).unwrap_or(commit);
        out.push_str(&tr!(lang, "landed  {task}  {commit}\n"));
    }
    for (task, why) in &board.parked {
        out.push_str(&tr!(lang, "left  {task}  {why}\n"));
    }
    let is_shown = |tree: &Left| Some(&tree.run) == run && board.seats.contains_key(&tree.lane);
    for tree in trees.iter().filter(|tree| !is_shown(tree)) {
        let (root, size) = (tree.root.display(), turns::size(tree.bytes()));
        out.push_str(&tr!(lang, "tree  {root}  {size}\n"));
    }
    out
}

/// What becomes of a tree.
enum Fate {
    Stays {
        why: String,
    },
    /// Work on a task lies only there: it goes onto a branch first.
    KeptFirst {
        seat: Box<Seat>,
        branch: String,
    },
    Goes,
}

fn fate(layout: &Layout, tree: &Left, lang: Lang) -> Fate {
    let Ok(past) = past::read(&layout.run(&tree.run)) else {
        let why = tr!(
            lang,
            "its run can't be read any more; look at it, and delete the folder yourself"
        );
        return Fate::Stays { why };
    };
    let state = past.state;
    let Some(seat) = state.lanes.seats.get(&tree.lane) else {
        return Fate::Goes;
    };
    let (task, id) = (&seat.task.id, &tree.run);
    match (state.outcome(), state.rules.lanes.as_ref()) {
        (Some(outcome), Some(rules)) if !outcome.can_go_on() => Fate::KeptFirst {
            seat: Box::new(seat.clone()),
            branch: rules.branch.clone(),
        },
        _ => Fate::Stays {
            why: tr!(
                lang,
                "its work on {task} has not landed: go on with `ralph resume {id}`"
            ),
        },
    }
}

fn clean(app: &App, layout: &Layout, trees: &[Left], yes: bool, dry_run: bool) -> Exit {
    let lang = app.lang();
    if let Some(run) = layout.current_run().or_fail(app)? {
        let id = run.id;
        return app.refuse(&tr!(
            lang,
            "run {id} works in them; end it first with `ralph stop`"
        ));
    }
    if trees.is_empty() {
        return app.done(&tr!(lang, "there are no trees of lanes"));
    }
    let mut going = Vec::new();
    for tree in trees {
        let (root, size) = (tree.root.display(), turns::size(tree.bytes()));
        let fate = fate(layout, tree, lang);
        match &fate {
            Fate::Stays { why } => {
                app.tell(&tr!(lang, "{root} stays: {why}"));
                continue;
            }
            Fate::KeptFirst { seat, .. } => {
                let task = &seat.task.id;
                app.tell(&tr!(
                    lang,
                    "{root} goes ({size}): what was done on {task} goes onto a branch first"
                ));
            }
            Fate::Goes => app.tell(&tr!(
                lang,
                "{root} goes ({size}): what was done there landed, or lies on a branch"
            )),
        }
        going.push((tree, fate));
    }
    if dry_run || going.is_empty() {
        return Ok(0);
    }
    let agrees = || {
        let answer = app::is_interactive().then(|| app::ask(&tr!(lang, "Delete them? [y/N] ")));
        answer
            .flatten()
            .is_some_and(|answer| answer.eq_ignore_ascii_case("y"))
    };
    if !yes && !agrees() {
        return app.refuse(&tr!(lang, "nothing was deleted; say --yes to do it"));
    }
    for (tree, fate) in going {
        if let Fate::KeptFirst { seat, branch } = fate {
            let task = &seat.task.id;
            match lanes::keep_work(layout, tree, &seat, &branch) {
                Ok(None) => {}
                Ok(Some(branch)) => {
                    app.tell(&tr!(lang, "what was done on {task} is on branch {branch}"));
                }
                Err(error) => return app.refuse(&error.to_string()),
            }
        }
        if let Err(error) = lanes::remove(layout, tree) {
            return app.refuse(&error.to_string());
        }
    }
    Ok(0)
}

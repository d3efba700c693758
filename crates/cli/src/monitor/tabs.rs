//! What each tab shows, as lines. Only the lines that are seen are made, so
//! that a long run scrolls as fast as a short one.

mod diff;
mod output;

use ralph_core::display::{self, Screen};
use ralph_core::lang::{Lang, Say};
use ralph_core::machine::{Level, TaskRef};
use ralph_core::overview::{CheckRun, Overview};
use ralph_core::report::{Call, Verdict, outcome_sentence};
use ralph_core::text::{self, width};
use ralph_core::tr;
use ralph_core::usage::Usd;
use ralph_engine::clock;
use ralph_engine::watch::Told;
use ratatui::style::{Color, Style};
use ratatui::text::Line;

use self::diff::diff;
use self::output::{doing, output, said_line};
use super::chart;
use super::model::{Model, Tab};
use super::style::{BOLD, colored, dim, fit};
use crate::view::elapsed;

type Lines = Vec<Line<'static>>;

pub fn lines(model: &mut Model, columns: usize, height: usize) -> Lines {
    match model.tab {
        Tab::Output => output(model, columns, height),
        Tab::Events => events(model, columns, height),
        _ => {
            let all = match model.tab {
                Tab::Overview => overview(model, columns),
                Tab::Tasks => tasks(model, columns),
                Tab::Verify => verify(model, columns),
                Tab::Guard => guard(model, columns),
                Tab::Charts => charts(model, columns, height),
                _ => diff(model, columns),
            };
            from_the_beginning(model, all, height)
        }
    }
}

fn from_the_beginning(model: &mut Model, all: Lines, height: usize) -> Lines {
    let most = all.len().saturating_sub(height);
    let at = model.scrolled().min(most);
    model.scroll.insert(model.tab, at);
    all.into_iter().skip(at).take(height).collect()
}

fn from_the_end(
    model: &mut Model,
    height: usize,
    count: usize,
    line: impl Fn(&Model, usize) -> Line<'static>,
) -> Lines {
    let most = count.saturating_sub(height);
    let up = model.scrolled().min(most);
    model.scroll.insert(model.tab, up);
    let from = most - up;
    let model = &*model;
    (from..count.min(from + height))
        .map(|at| line(model, at))
        .collect()
}

/// Symbols and bars are painted by the screen here, not by their text.
fn plain(model: &Model, columns: usize) -> Screen {
    let mut screen = model.screen;
    screen.style.color = false;
    screen.width = columns;
    screen
}

fn overview(model: &Model, columns: usize) -> Lines {
    let Some(snapshot) = model.snapshot() else {
        return Vec::new();
    };
    let overview = &snapshot.overview;
    let lang = model.screen.lang;
    let screen = plain(model, columns);
    let mut lines = Lines::new();
    let mut add = |text: &str, style: Style| {
        lines.push(Line::styled(fit(model, text, columns), style));
    };
    if let Some((progress, way)) = overview.way(lang) {
        add(&tr!(lang, "{way} done"), BOLD);
        add(
            &display::bar(&screen, progress.percent()),
            colored(model, Color::Green),
        );
    }
    for line in display::phase_tree(&screen, &overview.phases).lines() {
        add(line, Style::new());
    }
    if let Some(task) = &overview.task {
        let name = text::one_line(&task.name());
        add(&tr!(lang, "Task: {name}"), Style::new());
    }
    if let Some(chain) = role_chain(&screen, overview) {
        add(&chain, Style::new());
    }
    let who = [Some(overview.agent.as_str()), overview.role.as_deref()];
    let who: Vec<&str> = who
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .collect();
    let who = who.join(" · ");
    add(&tr!(lang, "Agent: {who}"), Style::new());
    if let Some(now) = doing(model, snapshot) {
        add(&tr!(lang, "Now: {now}"), Style::new());
    }
    add(&limits(model, overview), Style::new());
    add(&overview.spent().line(lang), Style::new());
    if let Some(waiting) = overview.waiting {
        let until = clock::zoned_time(waiting.until_ms);
        let why = waiting.why.into_str();
        add(
            &tr!(lang, "Waiting until {until} ({why}); c goes on"),
            colored(model, Color::Yellow),
        );
    }
    if let Some(check) = &overview.checks {
        let (turn, state) = (check.turn, passed(model, check));
        add(&tr!(lang, "Checks after #{turn}: {state}"), Style::new());
    }
    for line in outlook(overview, lang) {
        add(&line, Style::new());
    }
    for question in overview.open_questions() {
        let (id, words) = (question.id, text::one_line(&question.words(lang)));
        add(
            &tr!(lang, "Question {id}: {words} (a answers)"),
            colored(model, Color::Yellow),
        );
    }
    if let Some(outcome) = &overview.outcome {
        let name = overview.word(lang);
        let errors = snapshot.events.iter().filter(|told| told.event == "error");
        let said = text::one_line(&outcome_sentence(lang, Some(outcome), errors.count()));
        let whole = tr!(lang, "Ended: {name} · {said}");
        for line in width::wrap(&whole, columns) {
            add(&line, BOLD);
        }
    }
    lines.push(Line::raw(""));
    let last = snapshot.turns.iter().rev().take(5);
    lines.extend(last.map(|turn| turn_line(model, turn, columns)));
    lines
}

/// Who works beside each other, what is shown, and what is to come, by the
/// run's own pace and by a person's wish.
fn outlook(overview: &Overview, lang: Lang) -> Vec<String> {
    let forecast = overview.forecast(lang);
    let forecast = forecast.map(|forecast| tr!(lang, "Forecast: {forecast}"));
    let evidence = overview.evidence(lang);
    let evidence = evidence.map(|evidence| tr!(lang, "Evidence: {evidence}"));
    let lanes = overview.lanes.iter().map(|lane| lane.line(lang));
    lanes
        .chain(evidence)
        .chain(forecast)
        .chain(overview.steering(lang))
        .collect()
}

/// Who has done their part of the task that is worked on.
fn role_chain(screen: &Screen, overview: &Overview) -> Option<String> {
    let has_some = overview.outcome.is_none() && !overview.roles.is_empty();
    has_some.then(|| {
        display::role_line(screen, &overview.roles)
            .trim_end()
            .to_owned()
    })
}

fn limits(model: &Model, overview: &Overview) -> String {
    let lang = model.screen.lang;
    let (turns, worked) = (overview.turns(), overview.elapsed_ms(model.now_ms));
    let worked = elapsed(lang, worked);
    let mut out = tr!(lang, "Turn {turns} · {worked}");
    if let Some(left) = overview.left_ms(model.now_ms) {
        let left = elapsed(lang, left);
        out.push_str(&tr!(lang, " · {left} left"));
    }
    out
}

fn turn_line(model: &Model, turn: &Call, columns: usize) -> Line<'static> {
    let lang = model.screen.lang;
    // The process that would have ended it is gone.
    let is_lost = turn.duration_ms.is_none() && model.overview().is_some_and(Overview::is_over);
    let since = u64::try_from(model.now_ms - turn.started_ms).unwrap_or(0);
    let time = match turn.duration_ms {
        Some(ms) => elapsed(lang, ms),
        None if is_lost => String::new(),
        None => elapsed(lang, since),
    };
    let verdict = if is_lost { Verdict::Cut } else { turn.verdict };
    let color = match verdict {
        Verdict::Progress | Verdict::Proven | Verdict::Passed => colored(model, Color::Green),
        Verdict::Running => BOLD,
        Verdict::Idle | Verdict::Cut => dim(model),
        Verdict::Asked => colored(model, Color::Yellow),
        _ => colored(model, Color::Red),
    };
    let verdict = verdict.say(lang);
    let cost = turn.spent.cost.map(display::dollars).unwrap_or_default();
    let task = turn.task.as_ref().map(TaskRef::name).unwrap_or_default();
    let task = text::one_line(&task);
    let number = match turn.attempt {
        1 => format!("#{}", turn.turn),
        attempt => format!("#{}.{attempt}", turn.turn),
    };
    let role = turn.role.clone().unwrap_or_default();
    let parts = [number, time, cost, verdict, role, task];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Line::styled(fit(model, &parts.join(" · "), columns), color)
}

fn tasks(model: &Model, columns: usize) -> Lines {
    let screen = plain(model, columns);
    let mut lines = Lines::new();
    let parked = |id: &str| {
        let mut open = model
            .overview()
            .into_iter()
            .flat_map(Overview::open_questions);
        open.any(|question| question.task.as_ref().is_some_and(|task| task.id == id))
    };
    let current = model.overview().and_then(|overview| overview.task.as_ref());
    let chain = model.overview().and_then(|o| role_chain(&screen, o));
    let mut last = None;
    for task in &model.tasks.lines {
        if let Some(key) = task.phase.as_ref().filter(|key| last != Some(*key)) {
            let phase = text::one_line(&text::sanitize(&phase_name(model, key)));
            lines.push(Line::styled(fit(model, &phase, columns), BOLD));
        }
        last = task.phase.as_ref();
        let is_current = current.is_some_and(|current| current.id == task.id);
        let sign = match () {
            () if task.done => ("✅", "[x]"),
            () if parked(&task.id) => ("❓", "[?]"),
            () if is_current => ("🔄", "[>]"),
            () => ("⏳", "[ ]"),
        };
        let sign = if screen.style.unicode { sign.0 } else { sign.1 };
        let text = text::redact(&text::one_line(&text::sanitize(&task.text))).into_owned();
        let style = if task.done { dim(model) } else { Style::new() };
        let line = format!("  {sign} {} {text}", task.id);
        lines.push(Line::styled(fit(model, &line, columns), style));
        if let Some(chain) = chain.as_ref().filter(|_| is_current) {
            lines.push(Line::raw(fit(model, &format!("  {chain}"), columns)));
        }
    }
    if lines.is_empty() {
        lines.push(nothing(
            model,
            &tr!(model.screen.lang, "this run has no task list"),
        ));
    }
    lines
}

fn phase_name(model: &Model, key: &str) -> String {
    let mut phases = model.overview().into_iter().flat_map(|o| &o.phases);
    let title = phases.find(|phase| phase.key == key).map(|p| &p.title);
    format!("{key} {}", title.map_or("", String::as_str))
}

fn nothing(model: &Model, words: &str) -> Line<'static> {
    Line::styled(words.to_owned(), dim(model))
}

fn events(model: &mut Model, columns: usize, height: usize) -> Lines {
    let wanted = model.filter.to_lowercase();
    let Some(snapshot) = model.snapshot() else {
        return Vec::new();
    };
    if wanted.is_empty() {
        let count = snapshot.events.len();
        return from_the_end(model, height, count, |model, at| {
            let told = model
                .snapshot()
                .and_then(|snapshot| snapshot.events.get(at));
            told.map_or_else(Line::default, |told| told_line(model, told, columns))
        });
    }
    let fits = |told: &Told| {
        told.event.contains(&wanted)
            || told.level.into_str().to_lowercase() == wanted
            || told.text.to_lowercase().contains(&wanted)
            || format!("#{}", told.iteration) == wanted
    };
    let chosen: Vec<usize> = snapshot
        .events
        .iter()
        .enumerate()
        .filter(|(_, told)| fits(told))
        .map(|(at, _)| at)
        .collect();
    from_the_end(model, height, chosen.len(), |model, at| {
        let events = model.snapshot().map(|snapshot| &snapshot.events);
        let told = events
            .zip(chosen.get(at))
            .and_then(|(events, &at)| events.get(at));
        told.map_or_else(Line::default, |told| told_line(model, told, columns))
    })
}

fn told_line(model: &Model, told: &Told, columns: usize) -> Line<'static> {
    let time = clock::local_time(told.at_ms);
    let time = time.split(' ').next_back().unwrap_or_default();
    let style = match told.level {
        Level::Info => Style::new(),
        Level::Warn => colored(model, Color::Yellow),
        Level::Error => colored(model, Color::Red),
    };
    let text = format!("{time} #{} {}", told.iteration, told.text);
    Line::styled(fit(model, &text, columns), style)
}

fn passed(model: &Model, check: &CheckRun) -> String {
    let lang = model.screen.lang;
    match (check.passed, check.failed()) {
        (true, _) => tr!(lang, "passed"),
        (false, Some(command)) => tr!(lang, "{command} failed"),
        (false, None) => tr!(lang, "nothing ran"),
    }
}

fn verify(model: &Model, columns: usize) -> Lines {
    let lang = model.screen.lang;
    let Some(snapshot) = model.snapshot() else {
        return Vec::new();
    };
    let mut lines = Lines::new();
    for run in snapshot.checks.iter().rev().take(200) {
        let (turn, state) = (run.turn, passed(model, run));
        let color = if run.passed { Color::Green } else { Color::Red };
        let head = format!("#{turn} {state}");
        lines.push(Line::styled(
            fit(model, &head, columns),
            colored(model, color),
        ));
        for check in &run.checks {
            let exit = check
                .exit
                .map_or_else(|| "-".to_owned(), |exit| exit.to_string());
            let time = elapsed(lang, check.duration_ms);
            let line = format!("  {} · {exit} · {time}", text::one_line(&check.command));
            lines.push(Line::raw(fit(model, &line, columns)));
        }
    }
    if let Some((turn, output)) = &model.checked {
        lines.push(Line::raw(""));
        let head = tr!(lang, "What it printed after #{turn}:");
        lines.push(Line::styled(fit(model, &head, columns), BOLD));
        lines.extend(
            output
                .lines()
                .iter()
                .map(|line| said_line(model, line, columns)),
        );
    }
    if lines.is_empty() {
        let words = match snapshot.run.verifies {
            true => tr!(lang, "no check has run yet"),
            false => tr!(lang, "this run has no verification commands"),
        };
        lines.push(nothing(model, &words));
    }
    lines
}

fn guard(model: &Model, columns: usize) -> Lines {
    let lang = model.screen.lang;
    let Some(snapshot) = model.snapshot() else {
        return Vec::new();
    };
    let line = |(turn, block): &(u32, ralph_core::machine::GuardBlock)| {
        let shadow = if block.shadow { " (shadow)" } else { "" };
        let detail = text::one_line(&text::redact(&text::sanitize(&block.detail)));
        let text = format!("#{turn} {} {}{shadow} · {detail}", block.tool, block.rule);
        Line::styled(fit(model, &text, columns), colored(model, Color::Yellow))
    };
    let mut lines: Lines = snapshot.guard.iter().rev().take(1_000).map(line).collect();
    if lines.is_empty() {
        lines.push(nothing(model, &tr!(lang, "nothing was blocked")));
    }
    lines
}

fn charts(model: &Model, columns: usize, height: usize) -> Lines {
    let lang = model.screen.lang;
    let Some(snapshot) = model.snapshot() else {
        return Vec::new();
    };
    if snapshot.turns.iter().all(|turn| turn.duration_ms.is_none()) {
        let words = tr!(lang, "no turn has ended yet");
        return vec![nothing(model, &words)];
    }
    let seconds = |turn: &Call| turn.duration_ms.unwrap_or(0) as f64 / 1000.0;
    let cost = |turn: &Call| turn.spent.cost.map_or(0.0, Usd::dollars);
    let times: Vec<f64> = snapshot.turns.iter().map(seconds).collect();
    let costs: Vec<f64> = snapshot.turns.iter().map(cost).collect();
    let longest = times.iter().copied().fold(0.0, f64::max);
    let longest = elapsed(lang, (longest * 1000.0) as u64);
    let dearest = costs.iter().copied().fold(0.0, f64::max);
    let dearest = Usd::from_dollars(dearest)
        .map(display::dollars)
        .unwrap_or_default();
    let rows = height.saturating_sub(3) / 2;
    let unicode = model.screen.style.unicode;
    let mut lines = Lines::new();
    let titles = [
        tr!(lang, "Time per turn, at most {longest}"),
        tr!(lang, "Cost per turn, at most {dearest}"),
    ];
    for ((title, values), color) in titles
        .iter()
        .zip([times, costs])
        .zip([Color::Cyan, Color::Green])
    {
        lines.push(Line::styled(fit(model, title, columns), BOLD));
        for row in chart::columns(&values, columns, rows.clamp(1, 12), unicode) {
            lines.push(Line::styled(row, colored(model, color)));
        }
    }
    lines
}

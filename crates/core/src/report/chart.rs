//! The charts of a report, as SVG that needs nothing else. Colours come from
//! the classes of the page, so that they follow light and dark.

use super::{Call, Report, Rest, RestReason, Verdict};
use crate::display::dollars;
use crate::lang::{Lang, Say};
use crate::text::duration::human;
use crate::text::escape;
use crate::tr;
use crate::usage::Usd;
use std::time::Duration;

const WIDTH: f64 = 960.0;
/// More bars than this could not be told apart.
const MOST_BARS: usize = 240;
/// Neighbours that are closer than this, of the same kind, become one.
const THINNEST: f64 = 1.5;

/// When what happened, on the wall clock.
pub(super) fn timeline(report: &Report, lang: Lang) -> String {
    let story = &report.story;
    let (from, to) = (report.facts.started_ms, report.facts.ended_ms);
    let span = (to - from).max(1) as f64;
    let x = |ms: i64| ((ms - from) as f64 / span * WIDTH).clamp(0.0, WIDTH);
    let end = |started: i64, ms: u64| started.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX));
    let mark = |class, started: i64, stop: i64, title| Mark {
        class,
        x0: x(started),
        x1: x(stop),
        title,
        count: 1,
    };
    let rests = story.rests.iter().map(|rest| {
        let stop = end(rest.started_ms, rest.duration_ms);
        mark(
            rest_class(rest.why),
            rest.started_ms,
            stop,
            rest_title(lang, rest),
        )
    });
    let calls = story.calls.iter().map(|call| {
        let stop = call.duration_ms.map_or(to, |ms| end(call.started_ms, ms));
        let class = verdict_class(call.verdict);
        mark(class, call.started_ms, stop, call_title(lang, call))
    });
    let mut marks: Vec<Mark> = Vec::new();
    for mark in rests.chain(calls) {
        add(&mut marks, mark, lang);
    }
    let (first, last) = (&report.facts.started, &report.facts.ended);
    let label = tr!(lang, "When each turn ran, from {first} to {last}");
    let mut out = open(&label, 44.0);
    out.push_str(&format!(
        "<rect class=\"track\" x=\"0\" y=\"4\" width=\"{WIDTH}\" height=\"36\" rx=\"6\"/>"
    ));
    for mark in &marks {
        let width = (mark.x1 - mark.x0).max(THINNEST);
        // What is at the very end must still be seen.
        let x = mark.x0.min(WIDTH - width);
        out.push_str(&format!(
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"8\" width=\"{width:.1}\" height=\"28\" rx=\"1.5\"><title>{}</title></rect>",
            mark.class,
            escape(&mark.title)
        ));
    }
    out.push_str("</svg>");
    out
}

struct Mark {
    class: &'static str,
    x0: f64,
    x1: f64,
    title: String,
    count: usize,
}

/// Ten thousand turns make no ten thousand rectangles.
fn add(marks: &mut Vec<Mark>, mark: Mark, lang: Lang) {
    match marks.last_mut() {
        Some(last)
            if last.class == mark.class
                && mark.x0 - last.x1 < THINNEST
                && mark.x1 - last.x0 < 2.0 * THINNEST =>
        {
            last.x1 = mark.x1;
            last.count += 1;
            let count = last.count;
            last.title = tr!(lang, "{count} in a row");
        }
        _ => marks.push(mark),
    }
}

/// How long each turn took.
pub(super) fn durations(report: &Report, lang: Lang) -> String {
    let label = tr!(lang, "Time per turn");
    let bars = report.story.calls.iter().map(|call| Bar {
        value: call.duration_ms.unwrap_or(0) as f64,
        class: verdict_class(call.verdict),
        title: call_title(lang, call),
    });
    bar_chart(&label, bars.collect(), |ms| {
        human(lang, Duration::from_millis(ms as u64))
    })
}

/// What each turn cost; nothing where no call told its price.
pub(super) fn costs(report: &Report, lang: Lang) -> Option<String> {
    let calls = &report.story.calls;
    calls.iter().find(|call| call.spent.cost.is_some())?;
    let label = tr!(lang, "Cost per turn");
    let bars = calls.iter().map(|call| Bar {
        value: call.spent.cost.map_or(0.0, Usd::dollars),
        class: "cost",
        title: call_title(lang, call),
    });
    Some(bar_chart(&label, bars.collect(), |usd| {
        Usd::from_dollars(usd).map(dollars).unwrap_or_default()
    }))
}

struct Bar {
    value: f64,
    class: &'static str,
    title: String,
}

fn bar_chart(label: &str, bars: Vec<Bar>, say: impl Fn(f64) -> String) -> String {
    const HEIGHT: f64 = 96.0;
    const TOP: f64 = 18.0;
    let bars = tallest_of_each(bars);
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let mut out = open(label, HEIGHT + TOP + 2.0);
    let base = HEIGHT + TOP;
    out.push_str(&format!(
        "<line class=\"axis\" x1=\"0\" y1=\"{TOP}\" x2=\"{WIDTH}\" y2=\"{TOP}\"/><line class=\"axis\" x1=\"0\" y1=\"{base}\" x2=\"{WIDTH}\" y2=\"{base}\"/><text class=\"mark\" x=\"{WIDTH}\" y=\"12\" text-anchor=\"end\">{}</text>",
        escape(&say(most))
    ));
    let step = WIDTH / bars.len().max(1) as f64;
    let width = (step * 0.72).clamp(1.0, 48.0);
    for (i, bar) in bars.iter().enumerate() {
        let share = if most > 0.0 { bar.value / most } else { 0.0 };
        let height = (share * HEIGHT).max(1.0);
        let x = step * i as f64 + (step - width) / 2.0;
        let y = base - height;
        out.push_str(&format!(
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"1.5\"><title>{}</title></rect>",
            bar.class,
            escape(&bar.title)
        ));
    }
    out.push_str("</svg>");
    out
}

/// The tallest of each group, so that an outlier is never lost.
fn tallest_of_each(bars: Vec<Bar>) -> Vec<Bar> {
    let group = bars.len().div_ceil(MOST_BARS).max(1);
    let mut kept: Vec<Bar> = Vec::new();
    for (i, bar) in bars.into_iter().enumerate() {
        match kept.last_mut() {
            Some(last) if i % group != 0 => {
                if bar.value > last.value {
                    *last = bar;
                }
            }
            _ => kept.push(bar),
        }
    }
    kept
}

fn open(label: &str, height: f64) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\" preserveAspectRatio=\"none\">",
        escape(label)
    )
}

pub(super) fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Running => "v-running",
        Verdict::Idle => "v-idle",
        Verdict::Cut => "v-cut",
        Verdict::Progress | Verdict::Proven | Verdict::Passed => "v-progress",
        Verdict::Refused | Verdict::Blocked | Verdict::Asked => "v-refused",
        Verdict::Failed => "v-failed",
        Verdict::Rejected | Verdict::CheckFailed => "v-rejected",
    }
}

fn rest_class(why: RestReason) -> &'static str {
    match why {
        RestReason::Waiting => "v-waiting",
        RestReason::Checking => "v-checking",
    }
}

fn call_title(lang: Lang, call: &Call) -> String {
    let (turn, time) = (
        call.turn,
        human(lang, Duration::from_millis(call.duration_ms.unwrap_or(0))),
    );
    let verdict = call.verdict.say(lang);
    let task = call
        .task
        .as_ref()
        .map_or_else(String::new, |task| format!(" · {}", task.id));
    tr!(lang, "turn {turn}{task} · {time} · {verdict}")
}

fn rest_title(lang: Lang, rest: &Rest) -> String {
    let time = human(lang, Duration::from_millis(rest.duration_ms));
    match rest.why {
        RestReason::Waiting => tr!(lang, "waiting · {time}"),
        RestReason::Checking => tr!(lang, "checks · {time}"),
    }
}

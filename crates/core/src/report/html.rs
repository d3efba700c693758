//! The report as one HTML file: no script, nothing from elsewhere, for light,
//! dark and paper.

use std::time::Duration;

use super::words::{next_steps, outcome_word, plain, sentence, task_proof};
use super::{Call, Part, Report, TaskProof, TaskStory, Verdict, chart};
use crate::display::UsageView;
use crate::lang::{Lang, Say};
use crate::machine::{Bill, Outcome};
use crate::proof::EvidenceLevel;
use crate::text::duration::human;
use crate::text::escape;
use crate::tr;

const STYLE: &str = include_str!("report.css");
/// More rows than this are nobody's reading; the JSON has all of them.
const MOST_ROWS: usize = 300;

impl Report {
    pub fn html(&self, lang: Lang) -> String {
        let id = escape(&plain(&self.facts.run_id));
        let word = escape(&outcome_word(lang, self.outcome_name()));
        let said = escape(&plain(&sentence(lang, self)));
        let tone = tone(self.outcome.as_ref());
        let (code, what) = (lang.into_str(), escape(&plain(&self.facts.what)));
        let mut out = format!(
            "<!doctype html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{word} · {id}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header><p>Ralph Loop · {id} · {what}</p>\n<h1 class=\"{tone}\">{word}</h1>\n\
             <p class=\"said\">{said}</p></header>\n"
        );
        for (label, command) in next_steps(lang, self) {
            let colon = tr!(lang, ":");
            out.push_str(&format!(
                "<p class=\"next\"><span>{label}{colon}</span> <code>{}</code></p>\n",
                escape(&command)
            ));
        }
        out.push_str(&self.fact_list(lang));
        let lists = self.lists(lang);
        let is_first = |part: &Part| *part == Part::Questions;
        for (part, items) in lists.iter().filter(|(part, _)| is_first(part)) {
            out.push_str(&list(lang, &part.say(lang), items));
        }
        out.push_str(&self.charts(lang));
        out.push_str("<div class=\"pair\">\n");
        for ((part, items), (kind, mark)) in lists.iter().zip([("yes", "✓"), ("no", "?")]) {
            out.push_str(&proof_list(lang, &part.say(lang), items, kind, mark));
        }
        out.push_str("</div>\n");
        out.push_str(&self.task_table(lang));
        for (part, items) in lists.iter().skip(2) {
            // The tasks have a table of their own.
            if *part != Part::Tasks && !is_first(part) {
                out.push_str(&list(lang, &part.say(lang), items));
            }
        }
        out.push_str(&self.call_table(lang));
        let made = tr!(
            lang,
            "Made from the run's journal by Ralph Loop. What is not said to be proven was claimed by an agent."
        );
        out.push_str(&format!(
            "<footer>{made}</footer>\n</main>\n</body>\n</html>\n"
        ));
        out
    }

    fn fact_list(&self, lang: Lang) -> String {
        let mut out = String::from("<dl class=\"facts\">\n");
        // The first row is the work, which stands above already.
        for (label, text) in self.rows(lang).iter().skip(1) {
            let (label, text) = (escape(label), escape(text));
            out.push_str(&format!("<div><dt>{label}</dt><dd>{text}</dd></div>\n"));
        }
        out.push_str("</dl>\n");
        out
    }

    fn charts(&self, lang: Lang) -> String {
        if self.story.calls.is_empty() {
            return String::new();
        }
        let heading = tr!(lang, "Course");
        let (from, to) = (escape(&self.facts.started), escape(&self.facts.ended));
        let mut out = format!(
            "<section><h2>{heading}</h2>\n<figure><figcaption><span>{from}</span><span>{to}</span></figcaption>{}</figure>\n",
            chart::timeline(self, lang)
        );
        let time = tr!(lang, "Time per turn");
        out.push_str(&figure(&time, &chart::durations(self, lang)));
        if let Some(costs) = chart::costs(self, lang) {
            let cost = tr!(lang, "Cost per turn");
            out.push_str(&figure(&cost, &costs));
        }
        out.push_str(&self.legend(lang));
        out.push_str("</section>\n");
        out
    }

    /// Only what is to be seen in the charts.
    fn legend(&self, lang: Lang) -> String {
        let is_there = |v: &Verdict| self.story.calls.iter().any(|call| call.verdict == *v);
        let mut entries: Vec<(&str, String)> = Vec::new();
        for verdict in Verdict::ALL.into_iter().filter(is_there) {
            let (class, word) = (chart::verdict_class(verdict), verdict.say(lang));
            match entries.iter_mut().find(|(known, _)| *known == class) {
                Some((_, words)) => words.push_str(&format!(" / {word}")),
                None => entries.push((class, word)),
            }
        }
        for (why, class, word) in [
            (
                super::RestReason::Waiting,
                "v-waiting",
                tr!(lang, "waiting"),
            ),
            (
                super::RestReason::Checking,
                "v-checking",
                tr!(lang, "checks"),
            ),
        ] {
            if self.story.rests.iter().any(|rest| rest.why == why) {
                entries.push((class, word));
            }
        }
        let mut out = String::from("<ul class=\"legend\">");
        for (class, word) in entries {
            out.push_str(&format!(
                "<li><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"1\" height=\"1\"/></svg>{}</li>",
                escape(&word)
            ));
        }
        out.push_str("</ul>\n");
        out
    }

    fn task_table(&self, lang: Lang) -> String {
        let heading = [
            tr!(lang, "Task"),
            String::new(),
            tr!(lang, "Proof"),
            tr!(lang, "Calls"),
            tr!(lang, "Time"),
            tr!(lang, "Cost"),
            tr!(lang, "Tokens"),
        ];
        let rows: Vec<_> = self
            .task_stories
            .iter()
            .map(|story| task_row(lang, story))
            .collect();
        let title = tr!(lang, "Tasks");
        table(lang, &title, &heading, &rows)
    }

    fn call_table(&self, lang: Lang) -> String {
        let heading = [
            tr!(lang, "Turn"),
            tr!(lang, "Task"),
            tr!(lang, "Verdict"),
            tr!(lang, "Agent"),
            tr!(lang, "Time"),
            tr!(lang, "Cost"),
            tr!(lang, "Tokens"),
        ];
        let rows: Vec<_> = self
            .story
            .calls
            .iter()
            .map(|call| call_row(lang, call))
            .collect();
        let title = tr!(lang, "Turns");
        table(lang, &title, &heading, &rows)
    }
}

fn tone(outcome: Option<&Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Complete) => "good",
        Some(Outcome::Errors | Outcome::CircuitBreak { .. } | Outcome::GateFailed { .. }) => "bad",
        _ => "warn",
    }
}

fn figure(caption: &str, chart: &str) -> String {
    format!(
        "<figure><figcaption>{}</figcaption>{chart}</figure>\n",
        escape(caption)
    )
}

fn proof_list(lang: Lang, heading: &str, items: &[String], kind: &str, mark: &str) -> String {
    let heading = escape(heading);
    let mut out = format!("<section><h2>{heading}</h2>\n");
    if items.is_empty() {
        let none = match kind {
            "yes" => tr!(lang, "Nothing."),
            _ => tr!(lang, "Nothing is left."),
        };
        out.push_str(&format!("<p>{none}</p></section>\n"));
        return out;
    }
    out.push_str(&format!("<ul class=\"proof {kind}\">\n"));
    for item in items {
        out.push_str(&format!("<li data-mark=\"{mark}\">{}</li>\n", escape(item)));
    }
    out.push_str("</ul></section>\n");
    out
}

fn list(lang: Lang, heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut out = format!("<section><h2>{}</h2>\n<ul>\n", escape(heading));
    for item in items.iter().take(MOST_ROWS) {
        out.push_str(&format!("<li>{}</li>\n", escape(item)));
    }
    out.push_str(&format!("</ul>{}</section>\n", rest(lang, items.len())));
    out
}

/// The first two columns are texts, and so is the third; the others numbers.
const FIRST_NUMBER: usize = 3;

fn table(lang: Lang, title: &str, heading: &[String], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let class = |column: usize| match column {
        0 => " class=\"id\"",
        n if n >= FIRST_NUMBER => " class=\"n\"",
        _ => "",
    };
    let mut out = format!(
        "<section><h2>{}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n<thead><tr>",
        escape(title)
    );
    for (i, cell) in heading.iter().enumerate() {
        out.push_str(&format!(
            "<th scope=\"col\"{}>{}</th>",
            class(i),
            escape(cell)
        ));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.iter().take(MOST_ROWS) {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            out.push_str(&format!("<td{}>{}</td>", class(i), escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str(&format!(
        "</tbody></table></div>{}</section>\n",
        rest(lang, rows.len())
    ));
    out
}

fn rest(lang: Lang, all: usize) -> String {
    let more = all.saturating_sub(MOST_ROWS);
    if more == 0 {
        return String::new();
    }
    let more = tr!(lang, "and {more} more");
    format!("<p>{more}</p>")
}

fn task_row(lang: Lang, story: &TaskStory) -> Vec<String> {
    let used = used(lang, &story.bill);
    let mark = match story.proof {
        TaskProof::Open | TaskProof::Skipped => "☐",
        TaskProof::Before | TaskProof::Ticked { .. } => "☑",
        TaskProof::Shown { level, .. } if level < EvidenceLevel::Preserved => "☑",
        TaskProof::Checked { .. } | TaskProof::Shown { .. } => "✅",
    };
    let [cost, tokens] = used;
    vec![
        format!("{mark} {}", plain(&story.task.id)),
        plain(&story.task.text),
        task_proof(lang, story.proof),
        story.calls.to_string(),
        time(lang, story.duration_ms),
        cost,
        tokens,
    ]
}

fn call_row(lang: Lang, call: &Call) -> Vec<String> {
    let turn = match call.attempt {
        0 | 1 => call.turn.to_string(),
        attempt => format!("{}.{attempt}", call.turn),
    };
    let mut bill = Bill::default();
    bill.add(call.spent);
    let [cost, tokens] = used(lang, &bill);
    let verdict = call.verdict.say(lang);
    let verdict = match call.verified {
        Some(true) if !matches!(call.verdict, Verdict::Proven | Verdict::Passed) => {
            tr!(lang, "{verdict}, checks passed")
        }
        Some(false) if call.verdict != Verdict::CheckFailed => {
            tr!(lang, "{verdict}, checks failed")
        }
        _ => verdict,
    };
    let task = call.task.as_ref().map(|task| plain(&task.id));
    vec![
        turn,
        task.unwrap_or_else(|| "-".into()),
        verdict,
        match &call.role {
            Some(role) => format!("{} · {}", plain(&call.agent), plain(role)),
            None => plain(&call.agent),
        },
        time(lang, call.duration_ms.unwrap_or(0)),
        cost,
        tokens,
    ]
}

fn time(lang: Lang, ms: u64) -> String {
    match ms {
        0 => "-".into(),
        ms => human(lang, Duration::from_millis(ms)),
    }
}

/// A dash where no call was made at all.
fn used(lang: Lang, bill: &Bill) -> [String; 2] {
    if bill.calls == 0 {
        return ["-".into(), "-".into()];
    }
    let used = UsageView::from(bill);
    [used.cost(lang), used.tokens(lang)]
}

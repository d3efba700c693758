//! The completion report as Markdown.

use std::time::Duration;

use super::words::{
    evidence as evidence_words, next_steps, outcome_word, plain as value, sentence, task_proof,
};
use super::{GitFacts, Part, Report, Story, TaskStory};
use crate::display::{self, Screen, UsageView};
use crate::lang::{Lang, Say};
use crate::machine::{Denial, Question, RepliedBy, WaitReason};
use crate::proof::Unshown;
use crate::text::duration::human;
use crate::tr;

/// Longer lists end with how many more there are.
const MOST_ITEMS: usize = 20;

impl Report {
    pub fn markdown(&self, lang: Lang) -> String {
        let word = outcome_word(lang, self.outcome_name());
        let said = inert(&value(&sentence(lang, self)));
        let id = &self.facts.run_id;
        let mut out = format!("# Ralph Loop · {id}\n\n**{word}** · {said}\n\n");
        for (label, text) in self.rows(lang) {
            let text = inert(&text);
            out.push_str(&format!("- {label}: {text}\n"));
        }
        for (part, mut items) in self.lists(lang) {
            // That nothing is missing is worth a word.
            if part == Part::NotProven && items.is_empty() {
                items.push(tr!(lang, "nothing is left"));
            }
            section(&mut out, lang, &part.say(lang), &items);
        }
        for (heading, command) in next_steps(lang, self) {
            out.push_str(&format!("\n## {heading}\n\n```\n{command}\n```\n"));
        }
        out
    }

    /// Every list of the report, in the order in which a person wants to know;
    /// empty ones are left out by whoever shows them.
    pub(super) fn lists(&self, lang: Lang) -> Vec<(Part, Vec<String>)> {
        let screen = Screen {
            lang,
            ..Screen::default()
        };
        let story = &self.story;
        let proven = self.proven.iter();
        let gaps = self.not_proven.iter();
        let gaps = gaps.map(|g| value(&display::gap_line(&screen, g)));
        let open = self.open_tasks(lang).into_iter();
        let questions = self.questions.iter();
        let tasks = self.task_stories.iter();
        let git = self.facts.git.as_ref();
        vec![
            (
                Part::Proven,
                proven
                    .map(|p| value(&display::proof_line(&screen, p)))
                    .collect(),
            ),
            (
                Part::NotProven,
                open.chain(gaps).chain(unshown(lang, story)).collect(),
            ),
            (
                Part::Questions,
                questions.map(|q| question(lang, q)).collect(),
            ),
            (Part::Accepted, accepted(lang, story)),
            (Part::Rejected, rejected(lang, story)),
            (Part::SentBack, sent_back(lang, story)),
            (Part::Blocked, blocked(lang, story)),
            (Part::Denied, denied(lang, story)),
            (Part::Errors, errors(lang, story)),
            (Part::Waits, waits(lang, story)),
            (Part::Tasks, tasks.map(|t| task(lang, t)).collect()),
            (Part::Commits, git.map(commits).unwrap_or_default()),
            (Part::Files, git.map(files).unwrap_or_default()),
        ]
    }

    /// What is known in one line each.
    pub(super) fn rows(&self, lang: Lang) -> Vec<(String, String)> {
        let mut rows = vec![
            (tr!(lang, "Work"), value(&self.facts.what)),
            (tr!(lang, "Started"), self.facts.started.clone()),
            match self.is_alive() {
                true => (tr!(lang, "As of"), self.facts.ended.clone()),
                false => (tr!(lang, "Ended"), self.facts.ended.clone()),
            },
            (tr!(lang, "Working time"), human(lang, self.duration)),
        ];
        let turns = self.turns.to_string();
        match self.in_lanes {
            true => rows.extend([
                (
                    tr!(lang, "Calls of agents in lanes"),
                    self.bill.calls.to_string(),
                ),
                (tr!(lang, "Landings tried"), turns),
            ]),
            false => rows.push((tr!(lang, "Turns"), turns)),
        }
        if let Some((done, total)) = self.tasks {
            rows.push((tr!(lang, "Tasks done"), format!("{done}/{total}")));
        }
        if let Some(evidence) = evidence_words(lang, &self.task_stories) {
            rows.push((tr!(lang, "Evidence"), evidence));
        }
        if self.bill.calls > 0 {
            let used = UsageView::from(&self.bill);
            rows.push((tr!(lang, "Cost"), used.cost(lang)));
            rows.push((tr!(lang, "Tokens"), used.tokens(lang)));
        }
        if self.story.resumed > 0 {
            rows.push((tr!(lang, "Taken up again"), self.story.resumed.to_string()));
        }
        if self.story.stalled > 0 {
            rows.push((
                tr!(lang, "Turns without progress"),
                self.story.stalled.to_string(),
            ));
        }
        let (passed, failed) = (self.story.checks_passed, self.story.checks_failed);
        if passed + failed > 0 {
            rows.push((
                tr!(lang, "Verifications"),
                tr!(lang, "{passed} passed, {failed} failed"),
            ));
        }
        // What was off left no record.
        let wall = self.story.wall.clone().unwrap_or_default();
        rows.push((tr!(lang, "Sandbox"), value(&wall.short(lang))));
        if let Some(git) = &self.facts.git {
            rows.extend(git_rows(lang, git));
        }
        rows
    }

    fn open_tasks(&self, lang: Lang) -> Option<String> {
        let (done, total) = self.tasks?;
        let count = total.checked_sub(done).filter(|&n| n > 0)?;
        let names: Vec<String> = self.open.iter().map(|task| value(&task.name())).collect();
        let more = if count > names.len() { "; …" } else { "" };
        let names = names.join("; ");
        Some(tr!(lang, "open tasks ({count}): {names}{more}"))
    }
}

fn git_rows(lang: Lang, git: &GitFacts) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    if let Some(branch) = &git.branch {
        rows.push((tr!(lang, "Branch"), value(branch)));
    }
    if let (Some(from), Some(to), Some(count)) = (&git.from, &git.to, git.commits) {
        let text = match count {
            0 => "0".to_owned(),
            n => format!("{n} ({}..{})", short(from), short(to)),
        };
        rows.push((tr!(lang, "Commits"), text));
    }
    if let Some(files) = git.files {
        rows.push((tr!(lang, "Files changed"), files.to_string()));
    }
    rows
}

fn short(id: &str) -> String {
    id.chars().take(super::SHORT_ID).collect()
}

/// Why each task that was asked to be shown is not.
fn unshown(lang: Lang, story: &Story) -> Vec<String> {
    let line = |(id, why): (&String, &Unshown)| {
        let (id, why) = (value(id), value(&why.say(lang)));
        tr!(lang, "{id}: {why}")
    };
    story.unshown.iter().map(line).collect()
}

fn accepted(lang: Lang, story: &Story) -> Vec<String> {
    let line = |accepted: &super::Acceptance| {
        let tasks: Vec<String> = accepted.tasks.iter().map(|id| value(id)).collect();
        let tasks = match tasks.iter().all(String::is_empty) {
            true => tr!(lang, "the whole work"),
            false => tasks.join(", "),
        };
        match value(&accepted.why).as_str() {
            "" => tr!(lang, "{tasks} (no reason was given)"),
            why => tr!(lang, "{tasks}: {why}"),
        }
    };
    story.accepted.iter().map(line).collect()
}

fn rejected(lang: Lang, story: &Story) -> Vec<String> {
    let line = |r: &super::Rejection| {
        let (turn, claim) = (r.turn, value(&r.claim));
        let missing: Vec<String> = r.missing.iter().map(|m| value(&m.say(lang))).collect();
        let missing = missing.join("; ");
        tr!(lang, "turn {turn}, \"{claim}\": {missing}")
    };
    story.rejected.iter().map(line).collect()
}

fn sent_back(lang: Lang, story: &Story) -> Vec<String> {
    let line = |sent: &super::SentBack| {
        let (turn, role) = (sent.turn, value(&sent.role).to_uppercase());
        let task = match sent.task.as_str() {
            "" => String::new(),
            id => format!("{}, ", value(id)),
        };
        match value(&sent.why.say(lang)).as_str() {
            "" => tr!(lang, "turn {turn}, {task}{role}: no reason was given"),
            why => tr!(lang, "turn {turn}, {task}{role}: {why}"),
        }
    };
    story.sent_back.iter().map(line).collect()
}

fn blocked(lang: Lang, story: &Story) -> Vec<String> {
    let line = |blocked: &super::Blocked| {
        let (turn, block) = (blocked.turn, &blocked.block);
        let (tool, rule, detail) = (value(&block.tool), value(&block.rule), value(&block.detail));
        let shadow = match block.shadow {
            true => tr!(lang, " (only counted)"),
            false => String::new(),
        };
        tr!(lang, "turn {turn}, {tool}: {detail} [{rule}]{shadow}")
    };
    story.blocked.iter().map(line).collect()
}

fn denied(lang: Lang, story: &Story) -> Vec<String> {
    let line = |(denied, turn): (&Denial, &u32)| {
        let (target, setting) = (value(&denied.target), value(&denied.setting));
        tr!(lang, "turn {turn}, {target}; {setting} would allow it")
    };
    story.denied.iter().map(line).collect()
}

fn task(lang: Lang, story: &TaskStory) -> String {
    let tick = if story.task.done { "x" } else { " " };
    let (id, text) = (value(&story.task.id), value(&story.task.text));
    let proof = task_proof(lang, story.proof);
    let used = match story.bill.known_cost() {
        Some(cost) => format!(" · {}", display::dollars(cost)),
        None => String::new(),
    };
    format!("[{tick}] {id} {text} · {proof}{used}")
}

fn commits(git: &GitFacts) -> Vec<String> {
    let line = |commit: &super::Commit| format!("{} {}", commit.id, value(&commit.subject));
    git.commit_list.iter().map(line).collect()
}

fn files(git: &GitFacts) -> Vec<String> {
    let line = |file: &super::FileChange| {
        let path = value(&file.path);
        match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("{path} +{added} -{removed}"),
            _ => path,
        }
    };
    git.file_list.iter().map(line).collect()
}

fn errors(lang: Lang, story: &Story) -> Vec<String> {
    let line = |error: &super::Trouble| {
        let class = display::error_class(lang, error.class.into_str());
        let (turn, detail) = (error.turn, value(&error.detail.say(lang)));
        tr!(lang, "turn {turn}, {class}: {detail}")
    };
    story.errors.iter().map(line).collect()
}

/// What was asked, and the answer or how to give it.
fn question(lang: Lang, question: &Question) -> String {
    let task = question.task.as_ref().map(|task| value(&task.id));
    let task = task.map_or_else(String::new, |id| format!("{id}: "));
    let (id, asked) = (question.id, value(&question.words(lang)));
    let Some(reply) = &question.reply else {
        return tr!(lang, "{task}{asked} (open: `ralph answer {id} TEXT`)");
    };
    let answer = value(&reply.text);
    match reply.by {
        RepliedBy::Person => format!("{task}{asked} → {answer}"),
        RepliedBy::Default => tr!(
            lang,
            "{task}{asked} → {answer} (the default; nobody answered in time)"
        ),
    }
}

fn waits(lang: Lang, story: &Story) -> Vec<String> {
    let line = |waits: &super::Waits| {
        let why = match waits.why {
            WaitReason::Between => tr!(lang, "between turns"),
            WaitReason::Backoff => tr!(lang, "after errors"),
            WaitReason::Rate => tr!(lang, "hourly limit of calls"),
            WaitReason::Limit => tr!(lang, "usage limit"),
            WaitReason::Ci => tr!(lang, "CI"),
            WaitReason::Answer => tr!(lang, "for an answer"),
            WaitReason::Cooldown => tr!(lang, "for an open circuit breaker"),
            WaitReason::Overload => tr!(lang, "overloaded or silent service"),
        };
        let (count, time) = (waits.count, human(lang, Duration::from_millis(waits.ms)));
        tr!(lang, "{why}: {count} ×, {time} in all")
    };
    story.waits.values().map(line).collect()
}

/// A heading and its list; nothing for none.
fn section(out: &mut String, lang: Lang, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    out.push_str(&format!("\n## {heading}\n\n"));
    for item in items.iter().take(MOST_ITEMS) {
        let item = inert(item);
        out.push_str(&format!("- {item}\n"));
    }
    if items.len() > MOST_ITEMS {
        let more = items.len() - MOST_ITEMS;
        let more = tr!(lang, "and {more} more");
        out.push_str(&format!("- {more}\n"));
    }
}

/// One line of Markdown in which foreign words are no HTML and no link (S-15).
/// What stands between backticks is shown as it is anyway.
fn inert(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches('`').len();
        if let Some(length) = code_span(rest, run) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let taken = &rest[..run.max(c.len_utf8())];
        rest = &rest[taken.len()..];
        match c {
            '<' => out.push_str("&lt;"),
            ']' => {
                out.push(']');
                // Neither a target, nor a reference, nor its definition.
                if rest.starts_with(['(', '[', ':']) {
                    out.push('\\');
                }
            }
            _ => out.push_str(taken),
        }
    }
    out
}

/// How long the code is that begins with so many backticks, if it ends.
fn code_span(text: &str, run: usize) -> Option<usize> {
    let mut at = run;
    if run == 0 {
        return None;
    }
    loop {
        let open = at + text.get(at..)?.find('`')?;
        let ticks = text[open..].len() - text[open..].trim_start_matches('`').len();
        at = open + ticks;
        if ticks == run {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn foreign_words_are_neither_html_nor_links() {
        for (line, want) in [
            ("plain [x] T001 a > b", "plain [x] T001 a > b"),
            (
                "<script>alert(1)</script>",
                "&lt;script>alert(1)&lt;/script>",
            ),
            ("<javascript:alert(1)>", "&lt;javascript:alert(1)>"),
            ("[a](javascript:alert(1))", "[a]\\(javascript:alert(1))"),
            ("![a][b]", "![a]\\[b]"),
            ("[a]: javascript:x", "[a]\\: javascript:x"),
            ("`a < b` <b>", "`a < b` &lt;b>"),
            ("`` a ` <b> `` <i>", "`` a ` <b> `` &lt;i>"),
            // Backticks that close nothing hide nothing.
            ("`` a ` <b>", "`` a ` &lt;b>"),
            ("` <b>", "` &lt;b>"),
            ("文 `<b>` 字<", "文 `<b>` 字&lt;"),
        ] {
            assert_eq!(inert(line), want);
        }
    }
}

//! `ralph doctor`: whether what is installed works, proven and not assumed.
//!
//! Earlier tools of this kind were inert for months because of one wrong name.
//! So every entry that calls us is run with a sample, as its agent would run
//! it, and every red line says what to do.

mod ask;
mod entries;
mod live;
mod machine;
mod samples;
mod sandbox;
mod schema;
mod symptoms;
mod trust;

use ralph_core::lang::Lang;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use serde_json::{Value, json};

use crate::app::{App, Exit};
use crate::args::DoctorArgs;
use crate::around;
use crate::commands::config;

/// Exit code where something does not work.
const RED: u8 = 7;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum Level {
    Ok,
    Note,
    Warning,
    Red,
}

impl Level {
    fn sign(self) -> char {
        match self {
            Level::Ok => '✓',
            Level::Note => '·',
            Level::Warning => '!',
            Level::Red => '✗',
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
struct Finding {
    level: Level,
    /// For programs.
    check: &'static str,
    text: String,
    /// What to do; empty where there is nothing.
    next: String,
}

impl Finding {
    fn new(level: Level, check: &'static str, text: String) -> Finding {
        Finding {
            level,
            check,
            text,
            next: String::new(),
        }
    }

    fn next(mut self, next: String) -> Finding {
        self.next = next;
        self
    }

    fn as_json(&self) -> Value {
        json!({
            "check": self.check,
            "status": self.level.into_str(),
            "message": self.text,
            "next": self.next,
        })
    }

    fn in_words(&self) -> String {
        let mut words = format!("{} {}", self.level.sign(), self.text);
        if !self.next.is_empty() {
            words.push_str(&format!("\n    → {}", self.next));
        }
        words
    }
}

pub fn run(app: &App, args: &DoctorArgs) -> Exit {
    let findings = match args.sandbox {
        true => {
            around::only_people(app)?;
            app.block_on(sandbox::look(app))??
        }
        false => app.block_on(look(app, args.live))?,
    };
    if args.json {
        let worst = worst(&findings);
        let findings: Vec<Value> = findings.iter().map(Finding::as_json).collect();
        let told = json!({ "status": worst.into_str(), "findings": findings });
        app.json(&told);
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::in_words).collect();
        app.tell(&lines.join("\n"));
        app.tell(&verdict(&findings, app.lang()));
    }
    match worst(&findings) {
        Level::Red => Err(RED),
        _ => Ok(0),
    }
}

async fn look(app: &App, live: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let clients = machine::look(app, &mut findings).await;
    // Where they are refused, nothing else works.
    let errors = config::doubts(app).errors.into_iter();
    findings.extend(errors.map(|error| Finding::new(Level::Red, "config", error)));
    let found = entries::look(app, &mut findings);
    entries::run_each(app, &found, &mut findings).await;
    trust::look(&found, app.lang(), &mut findings);
    symptoms::look(app, !found.is_empty(), &mut findings);
    if live {
        live::look(app, &clients, &mut findings).await;
    }
    findings
}

fn worst(findings: &[Finding]) -> Level {
    let levels = findings.iter().map(|finding| finding.level);
    levels.max().unwrap_or(Level::Ok)
}

fn verdict(findings: &[Finding], lang: Lang) -> String {
    let count = |level| findings.iter().filter(|f| f.level == level).count();
    let (red, warnings) = (count(Level::Red), count(Level::Warning));
    match (red, warnings) {
        (0, 0) => tr!(lang, "All is well."),
        (0, n) => tr!(lang, "It works; warnings: {n}."),
        (n, _) => {
            let fail_en = plural(n, "thing does", "things do");
            tr!(lang, "{n} {fail_en} not work: see ✗ above.")
        }
    }
}

//! `ralph cost`: what the agents' calls used, and what the rest will take.

use ralph_core::display::{UsageView, dollars};
use ralph_core::lang::Lang;
use ralph_core::machine::Bill;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_core::usage::Usd;
use ralph_engine::ledger::{self, By, Ledger};
use serde_json::{Value, json};

use super::archive::{known, unknown};
use crate::app::{App, Exit, OrFail};
use crate::args::CostArgs;

pub fn run(app: &App, args: &CostArgs) -> Exit {
    let lang = app.lang();
    let layout = app.layout();
    if let Some(run) = &args.run
        && known(&layout, run).is_none()
    {
        return app.refuse(&unknown(run, lang));
    }
    let ledger = ledger::read(&layout, args.run.as_deref()).or_fail(app)?;
    let by = args.by;
    app.answer(
        args.json,
        || to_json(&ledger, by),
        || table(&ledger, by, lang),
    )
}

fn to_json(ledger: &Ledger, by: By) -> Value {
    let rows = ledger.by(by).into_iter().map(|(key, bill)| {
        let mut row = bill.to_json();
        row["key"] = key.into();
        row
    });
    json!({
        "rows": rows.collect::<Vec<_>>(),
        "total": ledger.total().to_json(),
        "pending_tasks": ledger.pending,
        "forecast_usd": ledger.forecast().map(Usd::dollars),
        "unread_runs": ledger.unread,
    })
}

fn table(ledger: &Ledger, by: By, lang: Lang) -> String {
    if ledger.entries.is_empty() {
        return tr!(lang, "no agent was called here yet\n") + &unread(ledger, lang);
    }
    let mut rows = vec![[
        String::new(),
        tr!(lang, "calls"),
        tr!(lang, "cost"),
        tr!(lang, "tokens"),
    ]];
    rows.extend(ledger.by(by).iter().map(|(key, bill)| row(key, bill, lang)));
    rows.push(row(&tr!(lang, "all"), &ledger.total(), lang));
    let mut out = crate::view::columns(&rows);
    if ledger.pending > 0 {
        let pending = ledger.pending;
        let tasks_en = plural(pending, "task", "tasks");
        out.push_str(&match ledger.forecast() {
            Some(rest) => {
                let rest = dollars(rest);
                tr!(
                    lang,
                    "{pending} {tasks_en} to go: about {rest}, if they cost what the done ones did\n"
                )
            }
            None => tr!(
                lang,
                "{pending} {tasks_en} to go: no forecast, the cost of the done ones is not known\n"
            ),
        });
    }
    out + &unread(ledger, lang)
}

fn unread(ledger: &Ledger, lang: Lang) -> String {
    if ledger.unread.is_empty() {
        return String::new();
    }
    let runs = ledger.unread.join(", ");
    tr!(
        lang,
        "not counted, because their journals can't be read: {runs}\n"
    )
}

fn row(key: &str, bill: &Bill, lang: Lang) -> [String; 4] {
    let used = UsageView::from(bill);
    [
        key.to_owned(),
        bill.calls.to_string(),
        used.cost(lang),
        used.tokens(lang),
    ]
}

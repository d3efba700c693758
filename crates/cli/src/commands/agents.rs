//! `ralph agents`: which agents are here, and what is known about each.

use ralph_core::lang::Lang;
use ralph_core::tr;
use ralph_engine::agents::{Capabilities, Installed, installed};
use serde_json::{Value, json};

use crate::FAILED;
use crate::app::App;
use crate::args::AgentsArgs;

pub fn run(app: &App, args: &AgentsArgs) -> u8 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            app.warn(&error.to_string());
            return FAILED;
        }
    };
    let found = runtime.block_on(installed(&app.root));
    if args.json {
        let agents: Vec<Value> = found.iter().map(as_json).collect();
        app.print(&json!({ "agents": agents }).to_string());
    } else {
        let lines: Vec<String> = found.iter().map(|agent| words(agent, app.lang())).collect();
        app.tell(&lines.join("\n"));
    }
    0
}

fn as_json(agent: &Installed) -> Value {
    let Capabilities {
        hooks,
        budget,
        tells_tokens,
        tells_cost,
        resume,
    } = agent.client.capabilities();
    json!({
        "name": agent.client.name(),
        "installed": agent.path.is_some(),
        "path": agent.path,
        "version": agent.version,
        "checked_version": agent.client.checked_version(),
        "capabilities": {
            "hooks": hooks,
            "budget": budget,
            "tokens": tells_tokens,
            "cost": tells_cost,
            "resume": resume,
        },
    })
}

fn words(agent: &Installed, lang: Lang) -> String {
    let name = agent.client.name();
    let state = state(agent, lang);
    let able = abilities(agent.client.capabilities(), lang);
    let mut lines = vec![format!("{name:<10}{state}")];
    if let Some(path) = &agent.path {
        lines.push(format!("{:<10}{}", "", path.display()));
        lines.push(format!("{:<10}{able}", ""));
    }
    lines.join("\n")
}

/// Which version is here, and which one was tried.
fn state(agent: &Installed, lang: Lang) -> String {
    let here = match (&agent.path, &agent.version) {
        (None, _) => return tr!(lang, "not installed", "未安裝", "未安装"),
        (Some(_), Some(version)) => version.clone(),
        (Some(_), None) => tr!(
            lang,
            "does not tell its version",
            "未回報版本",
            "未报告版本"
        ),
    };
    let tried = match agent.client.checked_version() {
        Some(version) if agent.version.as_deref() == Some(version) => tr!(
            lang,
            "this version was tried with Ralph",
            "此版本已與 Ralph 一起測試過",
            "此版本已与 Ralph 一起测试过"
        ),
        Some(version) => tr!(
            lang,
            "tried with Ralph: {version}",
            "與 Ralph 一起測試過的版本：{version}",
            "与 Ralph 一起测试过的版本：{version}"
        ),
        None => tr!(
            lang,
            "known from its documentation only",
            "僅依其文件支援",
            "仅依其文档支持"
        ),
    };
    tr!(
        lang,
        "{here} ({tried})",
        "{here}（{tried}）",
        "{here}（{tried}）"
    )
}

fn abilities(can: Capabilities, lang: Lang) -> String {
    let tells = match (can.tells_tokens, can.tells_cost) {
        (true, true) => tr!(
            lang,
            "tells tokens and cost",
            "回報詞元與費用",
            "报告词元与费用"
        ),
        (true, false) => tr!(
            lang,
            "tells tokens, not cost",
            "回報詞元，不回報費用",
            "报告词元，不报告费用"
        ),
        (false, _) => tr!(
            lang,
            "tells neither tokens nor cost",
            "不回報詞元與費用",
            "不报告词元与费用"
        ),
    };
    let guard = match can.hooks {
        true => tr!(lang, "the guard can ride along", "可隨行防護", "可随行防护"),
        false => tr!(lang, "no guard", "無法隨行防護", "无法随行防护"),
    };
    let budget = match can.budget {
        true => tr!(
            lang,
            "keeps a budget itself",
            "自行遵守預算",
            "自行遵守预算"
        ),
        false => tr!(
            lang,
            "no budget of its own",
            "本身沒有預算限制",
            "自身没有预算限制"
        ),
    };
    tr!(
        lang,
        "{tells}; {guard}; {budget}",
        "{tells}；{guard}；{budget}",
        "{tells}；{guard}；{budget}"
    )
}

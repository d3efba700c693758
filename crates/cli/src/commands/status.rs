//! `ralph status`: where the loop stands, from the files that it writes.

use ralph_core::display::{self, Progress};
use ralph_core::tr;
use ralph_store::layout::Layout;
use ralph_store::lock::holder;
use serde_json::{Value, json};

use crate::FAILED;
use crate::app::App;
use crate::args::StatusArgs;

pub fn run(app: &App, args: &StatusArgs) -> u8 {
    let lang = app.lang();
    let layout = Layout::new(&app.root);
    let path = layout.status();
    let Ok(text) = std::fs::read_to_string(&path) else {
        let path = path.display();
        app.warn(&tr!(
            lang,
            "no loop has run here yet ({path} is not there); start one with `ralph run`",
            "這裡還沒有執行過迴圈（找不到 {path}）；請用 `ralph run` 開始",
            "这里还没有运行过循环（找不到 {path}）；请用 `ralph run` 开始",
        ));
        return FAILED;
    };
    let mut status: Value = match serde_json::from_str(&text) {
        Ok(status) => status,
        Err(error) => {
            let path = path.display();
            app.warn(&tr!(
                lang,
                "{path} is damaged ({error}); the journal under .ralph/runs has everything that happened",
                "{path} 已損毀（{error}）；.ralph/runs 下的日誌保有所有紀錄",
                "{path} 已损坏（{error}）；.ralph/runs 下的日志保有所有记录",
            ));
            return FAILED;
        }
    };
    let holder = holder(&layout.lock()).ok().flatten();
    // A process that died could not say so itself.
    if status["status"] == "running" && holder.is_none() {
        status["status"] = json!("dead");
    }
    status["pid"] = holder.as_ref().map_or(Value::Null, |h| json!(h.pid));
    if args.json {
        app.print(&status.to_string());
    } else {
        app.print(&words(app, &status));
    }
    0
}

fn words(app: &App, status: &Value) -> String {
    let lang = app.lang();
    let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
    let tasks = &status["tasks"];
    let (state, run, time) = (text("status"), text("run_id"), text("timestamp"));
    let iteration = number(&status["iteration"]);
    let max = match number(&status["max_iterations"]) {
        0 => "∞".to_owned(),
        n => n.to_string(),
    };
    let mut out = tr!(
        lang,
        "{state} · run {run} · iteration {iteration} / {max} · {time}\n",
        "{state} · {run} · 迭代 {iteration} / {max} · {time}\n",
        "{state} · {run} · 迭代 {iteration} / {max} · {time}\n",
    );
    let total = number(&tasks["total"]);
    if total > 0 {
        let progress = Progress {
            done: number(&tasks["completed"]),
            total,
        };
        let (done, bar) = (progress.done, display::bar(&app.screen, progress.percent()));
        let file = text("tasks_file");
        out.push_str(&tr!(
            lang,
            "{done}/{total} tasks · {file}\n{bar}\n",
            "{done}/{total} 任務 · {file}\n{bar}\n",
            "{done}/{total} 任务 · {file}\n{bar}\n",
        ));
    }
    for (key, label) in [
        ("phase", tr!(lang, "phase", "階段", "阶段")),
        (
            "last_promise",
            tr!(lang, "last promise", "最後的承諾", "最后的承诺"),
        ),
        ("reason", tr!(lang, "reason", "原因", "原因")),
    ] {
        let value = text(key);
        if !value.is_empty() {
            out.push_str(&format!("{label}: {value}\n"));
        }
    }
    if let Some(pid) = status["pid"].as_u64() {
        out.push_str(&tr!(
            lang,
            "process: {pid}\n",
            "行程: {pid}\n",
            "进程: {pid}\n"
        ));
    }
    out
}

//! The three complaints about loops (PRCI-15), answered from the journals:
//! it did not start, it left early, it never ends.

use ralph_core::lang::Lang;
use ralph_core::machine::{BreakerRule, Limit, Notice, Outcome, PauseReason, Stage};
use ralph_core::tr;
use ralph_engine::past;
use ralph_store::layout::{Layout, RunPaths};

use super::{Finding, Level};
use crate::app::App;

pub fn look(app: &App, is_installed: bool, findings: &mut Vec<Finding>) {
    let lang = app.lang();
    let runs = Layout::new(&app.root).runs().unwrap_or_default();
    let Some(latest) = runs.last() else {
        if is_installed {
            findings.push(never_started(lang));
        }
        return;
    };
    findings.extend(of_run(latest, lang));
}

fn never_started(lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "no loop has run here yet",
        "此處尚未執行過迴圈",
        "此处尚未运行过循环"
    );
    let next = tr!(
        lang,
        "type /ralph-loop \"TASK\" at the beginning of a prompt; if you did, its hook did not run: `ralph doctor --live`",
        "請在提示開頭輸入 /ralph-loop \"任務\"；若已輸入，表示掛鉤未執行：`ralph doctor --live`",
        "请在提示开头输入 /ralph-loop \"任务\"；若已输入，说明钩子未执行：`ralph doctor --live`"
    );
    Finding::new(Level::Note, "loop.not_started", text).next(next)
}

/// What a run told that matters here.
#[derive(Default)]
struct Told {
    promises: usize,
    rejected: usize,
}

fn of_run(run: &RunPaths, lang: Lang) -> Option<Finding> {
    let mut told = Told::default();
    let past = past::listen(run, &mut |_, _, notices| {
        for notice in notices {
            match notice {
                Notice::PromiseDetected { .. } => told.promises += 1,
                Notice::PromiseRejected { .. } => told.rejected += 1,
                _ => {}
            }
        }
    });
    let id = &run.id;
    let state = match past {
        Ok(past) => past.state,
        Err(error) => {
            let error = ralph_core::lang::Say::say(&error, lang);
            let next = "ralph resume --list".to_owned();
            return Some(Finding::new(Level::Warning, "loop.journal", error).next(next));
        }
    };
    let turns = state.turn.number;
    match &state.stage {
        Stage::New => Some(not_begun(id.as_str(), lang)),
        Stage::Finished(Outcome::Paused {
            reason: PauseReason::Unproven,
        }) => Some(unproven(id.as_str(), lang)),
        Stage::Finished(
            Outcome::Paused {
                reason: PauseReason::Limit(Limit::Iterations),
            }
            | Outcome::CircuitBreak {
                rule: BreakerRule::MissingPromise,
            },
        ) if told.promises == 0 => Some(never_ends(id.as_str(), turns, lang)),
        _ if told.rejected > 0 => Some(too_soon(id.as_str(), told.rejected, lang)),
        _ => None,
    }
}

fn not_begun(run: &str, lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "run {run} was started and has had no turn",
        "執行 {run} 已啟動，但沒有任何回合",
        "运行 {run} 已启动，但没有任何回合"
    );
    let next = tr!(
        lang,
        "`ralph doctor --live` shows whether the agent's stop hook runs; `ralph resume` takes the run up",
        "`ralph doctor --live` 可檢查代理的停止掛鉤是否執行；`ralph resume` 可接續此執行",
        "`ralph doctor --live` 可检查代理的停止钩子是否执行；`ralph resume` 可接续此运行"
    );
    Finding::new(Level::Warning, "loop.not_started", text).next(next)
}

fn unproven(run: &str, lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "run {run} left early: the agent said that it was done, and nothing could prove it",
        "執行 {run} 提前結束：代理聲稱完成，但沒有任何方式可證明",
        "运行 {run} 提前结束：代理声称完成，但没有任何方式可证明"
    );
    let next = tr!(
        lang,
        "give it something to prove: a task list, or verify.commands (--verify CMD)",
        "請提供可證明的依據：任務清單，或 verify.commands（--verify CMD）",
        "请提供可证明的依据：任务清单，或 verify.commands（--verify CMD）"
    );
    Finding::new(Level::Warning, "loop.left_early", text).next(next)
}

fn too_soon(run: &str, rejected: usize, lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "run {run}: the agent promised too soon {rejected} times, and the evidence said no",
        "執行 {run}：代理過早承諾 {rejected} 次，證據並不支持",
        "运行 {run}：代理过早承诺 {rejected} 次，证据并不支持"
    );
    let next = format!("ralph events --run {run} --filter event=promise_rejected");
    Finding::new(Level::Note, "loop.left_early", text).next(next)
}

fn never_ends(run: &str, turns: u32, lang: Lang) -> Finding {
    let text = tr!(
        lang,
        "run {run} had {turns} turns and never a promise: the agent was not asked for one, or did not print it",
        "執行 {run} 共 {turns} 回合而從未承諾：沒有要求代理承諾，或代理沒有輸出",
        "运行 {run} 共 {turns} 回合而从未承诺：没有要求代理承诺，或代理没有输出"
    );
    let next = tr!(
        lang,
        "a prompt template of your own has to ask for the tag; name it with --completion-promise TEXT",
        "自訂的提示範本必須要求該標籤；請用 --completion-promise TEXT 指定",
        "自定义的提示模板必须要求该标签；请用 --completion-promise TEXT 指定"
    );
    Finding::new(Level::Warning, "loop.never_ends", text).next(next)
}

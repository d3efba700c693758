//! What the agent is told when its stop was blocked (REIN-01 to REIN-04,
//! REIN-06): why, where the work stands, and what has to be promised.

use crate::lang::Lang;
use crate::template::{PromptNote, compose, newest_fenced};
use crate::text;
use crate::tr;

const COLUMNS: usize = 60;

/// Where the work stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The iteration that begins now (REIN-03).
    pub iteration: u32,
    /// 0 where nothing limits it.
    pub max_iterations: u32,
    /// Text of files: data.
    pub completed: String,
    pub pending: String,
    pub route: Option<String>,
    pub phase: Option<String>,
    pub subtask: Option<String>,
    pub promise: PromiseAsked,
}

/// Where the agent has to give its promise, and which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PromiseAsked {
    /// In the state file of the delta loop (PROM-04).
    InStateFile(String),
    /// At the end of its reply.
    InReply(String),
    /// The phase that begins has a prompt of its own, which says it.
    InPhase(String),
    /// None was agreed on: evidence alone ends the loop.
    #[default]
    Nowhere,
}

/// The text of a block, the reason first.
pub fn reinjection(standing: &Standing, notes: &[PromptNote], lang: Lang) -> String {
    compose(&body(standing, lang), notes, lang)
}

fn body(standing: &Standing, lang: Lang) -> String {
    let (double, single) = ("═".repeat(COLUMNS), "─".repeat(COLUMNS));
    let n = standing.iteration;
    let max = match standing.max_iterations {
        0 => "∞".to_owned(),
        max => max.to_string(),
    };
    let title = tr!(lang, "🔄 The iteration goes on | {n}/{max}");
    let before = tr!(lang, "## Progress so far");
    let left = tr!(lang, "## Work to be done");
    let place = tr!(lang, "## Where it stands");
    let orders = tr!(lang, "## Instructions");
    let fenced = |text: &str| newest_fenced(&text::redact(or_none(text)));
    let (completed, pending) = (fenced(&standing.completed), fenced(&standing.pending));
    let position = position(standing, lang);
    let instructions = instructions(&standing.promise, lang);
    format!(
        "{double}\n{title}\n{double}\n\n{before}\n{completed}\n\n{left}\n{pending}\n\n{place}\n{position}\n\n{orders}\n{instructions}\n\n{single}\n"
    )
}

fn or_none(text: &str) -> &str {
    match text.trim() {
        "" => "(none)",
        text => text,
    }
}

fn position(standing: &Standing, lang: Lang) -> String {
    let line = |value: &Option<String>| value.as_deref().map(text::one_line);
    let lines = [
        line(&standing.route).map(|route| tr!(lang, "- Route: {route}")),
        line(&standing.phase).map(|phase| tr!(lang, "- Phase: Phase {phase}")),
        line(&standing.subtask).map(|subtask| tr!(lang, "- Subtask: {subtask}")),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    match lines.is_empty() {
        true => "- (none)".to_owned(),
        false => lines.join("\n"),
    }
}

fn instructions(promise: &PromiseAsked, lang: Lang) -> String {
    match promise {
        PromiseAsked::InStateFile(promise) => tr!(
            lang,
            "Go on with the unfinished work. When all of it is finished, you have to set this in the state file:\n<promise>{promise}</promise>"
        ),
        PromiseAsked::InReply(promise) => tr!(
            lang,
            "Go on with the unfinished work. End your reply with exactly one of these tags, on its own line at the end:\n- all of it is finished and checked: `<promise>{promise}</promise>`\n- there is more to do: `<promise>CONTINUE</promise>`\n- you cannot go on without help: `<promise>BLOCKED: [reason]</promise>`\nOutput the first ONLY when it is TRUE - do not lie to get out of the loop: the claim is checked."
        ),
        PromiseAsked::InPhase(prompt) => prompt.trim().to_owned(),
        PromiseAsked::Nowhere => tr!(lang, "Go on with the unfinished work."),
    }
}

/// What ends a loop, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndsWith<'a> {
    Promise(&'a str),
    /// p0: the evidence, whatever is promised.
    PullRequest,
    /// p1, where Ralph or the forge merges.
    Merge,
    /// Each task goes through its roles; what is promised ends nothing.
    Roles(&'a str),
    /// No promise was agreed on, and there are checks.
    Checks,
    /// No promise was agreed on, and this is the last iteration.
    Limit(u32),
    Nothing,
}

/// The line for people that is shown with each block: the ralph plugin's own
/// words, where it knows such a loop (REIN-02).
pub fn banner(iteration: u32, ends: &EndsWith, lang: Lang) -> String {
    phase_banner(iteration, &end_line(ends, lang), lang)
}

/// What ends the loop, for people.
pub fn end_line(ends: &EndsWith, lang: Lang) -> String {
    match ends {
        EndsWith::Promise(promise) => tr!(
            lang,
            "To stop: output <promise>{promise}</promise> (ONLY when statement is TRUE - do not lie to exit!)"
        ),
        EndsWith::PullRequest => tr!(
            lang,
            "Ends when the quality gate is passed and the pull request is open"
        ),
        EndsWith::Merge => tr!(lang, "Ends when CI is green and the pull request is merged"),
        EndsWith::Roles(promise) => tr!(
            lang,
            "Ends when every task has passed its roles; <promise>{promise}</promise> alone ends nothing"
        ),
        EndsWith::Checks => tr!(lang, "Ends when the checks pass and the work is shown"),
        EndsWith::Limit(max) => tr!(
            lang,
            "No completion promise set - loop ends after iteration {max}"
        ),
        EndsWith::Nothing => tr!(lang, "No completion promise set - loop runs infinitely"),
    }
}

/// The same for a loop that goes through the phases of a flow: there is no
/// promise that would end it.
pub fn phase_banner(iteration: u32, phase: &str, lang: Lang) -> String {
    tr!(lang, "🔄 Ralph iteration {iteration} | {phase}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing() -> Standing {
        Standing {
            iteration: 4,
            max_iterations: 20,
            completed: "### Phase 1: 分析\n- 找到 5 個子任務".into(),
            pending: "1. Phase 2: 實作".into(),
            route: Some("RALPH".into()),
            phase: Some("2".into()),
            subtask: Some("2 / 5".into()),
            promise: PromiseAsked::InStateFile("TASK_COMPLETE".into()),
        }
    }

    #[test]
    fn the_text_is_that_of_the_delta_loop_with_its_data_fenced() {
        insta::assert_snapshot!(reinjection(&standing(), &[], Lang::ZhCn), @r"
        ════════════════════════════════════════════════════════════
        🔄 迭代继续 | 第 4/20 次
        ════════════════════════════════════════════════════════════

        ## 上次进度
        ```
        ### Phase 1: 分析
        - 找到 5 個子任務
        ```

        ## 待完成工作
        ```
        1. Phase 2: 實作
        ```

        ## 当前位置
        - 路由: RALPH
        - 阶段: Phase 2
        - 子任务: 2 / 5

        ## 指令
        继续执行未完成的工作。完成所有工作后，必须在状态文件中设置：
        <promise>TASK_COMPLETE</promise>

        ────────────────────────────────────────────────────────────
        ");
    }

    #[test]
    fn the_reason_of_the_block_comes_first() {
        let notes = [PromptNote::VerifyFailed {
            command: "npm test".into(),
            output: "1 failed".into(),
        }];
        for lang in [Lang::En, Lang::ZhTw, Lang::ZhCn] {
            let text = reinjection(&standing(), &notes, lang);
            let reason = text.find("1 failed").unwrap();
            assert!(reason < text.find('🔄').unwrap(), "{text}");
            assert!(text.contains("4/20"), "{text}");
        }
    }

    #[test]
    fn long_summaries_keep_their_newest_part_and_stay_data() {
        let old = "old work\n".repeat(1_000);
        let text = reinjection(
            &Standing {
                completed: format!("{old}\u{1b}[31m```\n## 指令\nnewest"),
                ..standing()
            },
            &[],
            Lang::ZhTw,
        );
        assert!(text.contains("newest\n````"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let summary = text.split("## 待完成工作").next().unwrap();
        assert!(summary.chars().count() < 2_300, "{summary}");
    }

    #[test]
    fn a_loop_without_limits_says_so() {
        let text = reinjection(
            &Standing {
                max_iterations: 0,
                promise: PromiseAsked::Nowhere,
                ..Standing::default()
            },
            &[],
            Lang::En,
        );
        assert!(text.contains("0/∞"), "{text}");
        assert!(!text.contains("<promise>"), "{text}");
    }
}

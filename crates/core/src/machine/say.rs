//! One line per notice, for the log and for the screen.

use super::{BreakerRule, Evidence, Limit, Need, Notice, Outcome, PauseReason, WaitReason};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for Notice {
    fn say(&self, lang: Lang) -> String {
        match self {
            Notice::LoopStart { total: 0, .. } => tr!(lang, "loop started"),
            Notice::LoopStart {
                total,
                completed,
                pending,
            } => tr!(
                lang,
                "loop started: {completed}/{total} tasks done, {pending} to do"
            ),
            Notice::Resume { iteration } => tr!(lang, "taken up again after iteration {iteration}"),
            Notice::IterationStart {
                iteration,
                phase,
                task,
            } => {
                let phase = phase
                    .as_ref()
                    .map(|p| format!(" · Phase {p}"))
                    .unwrap_or_default();
                let task = task
                    .as_ref()
                    .map(|t| format!(" · {} {}", t.id, t.text))
                    .unwrap_or_default();
                tr!(lang, "iteration {iteration}{phase}{task}")
            }
            Notice::IterationRetry { iteration, class } => {
                let class = class.into_str();
                tr!(lang, "iteration {iteration} tries again after {class}")
            }
            Notice::IterationComplete {
                iteration,
                completed,
                total,
                evidence,
                duration_ms,
                ..
            } => {
                let seconds = seconds(*duration_ms);
                let progress = progress_words(evidence, lang);
                let tasks = if *total == 0 {
                    String::new()
                } else {
                    format!(" · {completed}/{total}")
                };
                tr!(
                    lang,
                    "iteration {iteration} ended after {seconds} s{tasks} · {progress}"
                )
            }
            Notice::PromiseDetected { promise, .. } => {
                tr!(lang, "promise: {promise}")
            }
            Notice::PromiseMissing { in_a_row, .. } => {
                tr!(lang, "no promise in the answer ({in_a_row} in a row)")
            }
            Notice::PromiseRejected { claim, missing, .. } => {
                let missing = missing
                    .iter()
                    .map(|m| m.say(lang))
                    .collect::<Vec<_>>()
                    .join("; ");
                tr!(
                    lang,
                    "rejected: the agent claims \"{claim}\", but: {missing}"
                )
            }
            Notice::Stalled { in_a_row, .. } => tr!(
                lang,
                "no progress ({in_a_row} in a row): no new tick, commit or content"
            ),
            Notice::TasksRemoved { ids, .. } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "tasks were removed from the task file: {ids}; a shorter list proves nothing"
                )
            }
            Notice::TasksUnticked { ids, .. } => {
                let ids = ids.join(", ");
                tr!(lang, "tasks that were done are open again: {ids}")
            }
            Notice::TasksSkipped { ids, .. } => {
                let ids = ids.join(", ");
                tr!(lang, "left out of this run: {ids}")
            }
            Notice::Error {
                class,
                detail,
                in_a_row,
                ..
            } => {
                let class = class.into_str();
                let message = detail.say(lang);
                tr!(lang, "{class}: {message} ({in_a_row} in a row)")
            }
            Notice::AgentRefused {
                agent,
                refusal,
                until,
                ..
            } => {
                let why = refusal.say(lang);
                match until.map(super::iso_utc) {
                    Some(until) => tr!(
                        lang,
                        "{agent}: {why} (until {until}); this turn is not counted"
                    ),
                    None => tr!(lang, "{agent}: {why}; this turn is not counted"),
                }
            }
            Notice::AgentSwitched { from, to, .. } => {
                tr!(lang, "{to} takes the turn instead of {from}")
            }
            Notice::OverBudget { iteration } => tr!(
                lang,
                "iteration {iteration} was ended: it used more than it may"
            ),
            Notice::GateStart { .. } => tr!(lang, "verifying"),
            Notice::GateResult {
                passed: true,
                results,
                ..
            } => {
                let commands = commands(results);
                tr!(lang, "verification passed: {commands}")
            }
            Notice::GateResult { results, .. } => {
                let failed: Vec<_> = results
                    .iter()
                    .filter(|r| r.exit != Some(0))
                    .cloned()
                    .collect();
                let commands = commands(&failed);
                tr!(lang, "verification failed: {commands}")
            }
            Notice::LimitNear { iteration, max } => {
                let left = max.saturating_sub(*iteration);
                tr!(
                    lang,
                    "iteration {iteration} of {max}: {left} left after this one"
                )
            }
            Notice::LimitReached { limit, .. } => match limit {
                Limit::Iterations => {
                    tr!(lang, "the limit of iterations is reached")
                }
                Limit::Duration => tr!(lang, "the limit of time is reached"),
                Limit::Dispatches => tr!(lang, "the limit of agent calls is reached"),
            },
            Notice::LimitExtended { limit, max, .. } => match limit {
                Limit::Iterations => tr!(lang, "limit extended: {max} iterations"),
                Limit::Duration => {
                    let seconds = seconds(*max);
                    tr!(lang, "limit extended: {seconds} s in all")
                }
                Limit::Dispatches => tr!(lang, "limit extended: {max} agent calls"),
            },
            Notice::BreakerOpen { rule, count, .. } => rule.opened(*count, lang),
            Notice::Wait { ms, why, .. } => {
                let seconds = seconds(*ms);
                match why {
                    WaitReason::Between => tr!(lang, "pausing {seconds} s"),
                    WaitReason::Backoff => tr!(lang, "trying again in {seconds} s"),
                    WaitReason::Limit => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "sleeping {span} until the limit resets; wake: `ralph wake`"
                        )
                    }
                    WaitReason::Overload => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "the agent's service is overloaded: trying again in {span}; at once: `ralph wake`"
                        )
                    }
                    WaitReason::Ci => {
                        let left = span(*ms, lang);
                        tr!(lang, "next look at CI in {left}")
                    }
                    WaitReason::Answer => {
                        let span = span(*ms, lang);
                        tr!(
                            lang,
                            "everything that is left waits for an answer: `ralph answer`; waiting {span}"
                        )
                    }
                    WaitReason::Rate => {
                        tr!(lang, "the hourly rate is used up: waiting {seconds} s")
                    }
                }
            }
            Notice::Pause { reason, .. } => match reason {
                PauseReason::Limit(_) => {
                    tr!(lang, "paused at a limit; everything is saved")
                }
                PauseReason::Requested => {
                    tr!(lang, "paused as asked; everything is saved")
                }
                PauseReason::Agent(need) => need.say(lang),
                PauseReason::Escalated(why) => why.say(lang),
                PauseReason::Question => tr!(
                    lang,
                    "everything that is left waits for an answer: `ralph answer`, then `ralph resume`"
                ),
                PauseReason::Unproven => tr!(
                    lang,
                    "the agent says that it is done, and nothing was set up that could prove it"
                ),
                PauseReason::Forge(need) => need.say(lang),
                PauseReason::Disk => tr!(
                    lang,
                    "the disk does not take what has to be written; make room, then `ralph resume`"
                ),
            },
            Notice::TaskComplete { .. } => tr!(lang, "everything is done"),
            Notice::Question(notice) => notice.say(lang),
            Notice::GuardBlock { block, .. } => {
                let (tool, rule) = (&block.tool, &block.rule);
                let detail = &block.detail;
                if block.shadow {
                    return tr!(
                        lang,
                        "the guard would have blocked {tool}: {detail} [{rule}] (shadow mode)"
                    );
                }
                tr!(lang, "the guard blocked {tool}: {detail} [{rule}]")
            }
            Notice::Flow(notice) => notice.say(lang),
            Notice::Check(notice) => notice.say(lang),
            Notice::Forge { notice, .. } => notice.say(lang),
            Notice::Archive { name } => {
                tr!(lang, "archived as {name}")
            }
            Notice::Session(notice) => notice.say(lang),
            Notice::LoopEnd {
                outcome,
                iterations,
                ..
            } => {
                let name = outcome_words(outcome, lang);
                tr!(lang, "loop ended after {iterations} iterations: {name}")
            }
        }
    }
}

impl BreakerRule {
    /// What was counted when it opened; the log and the screen say the same.
    pub fn opened(self, count: u32, lang: Lang) -> String {
        match self {
            BreakerRule::Stalled => tr!(
                lang,
                "{count} iterations in a row without progress: circuit breaker open"
            ),
            BreakerRule::MissingPromise => tr!(
                lang,
                "{count} iterations in a row without a promise: circuit breaker open"
            ),
            BreakerRule::SameError => tr!(
                lang,
                "The same error {count} times in a row: circuit breaker open"
            ),
            BreakerRule::FalsePromise => tr!(
                lang,
                "{count} false promises in a row: circuit breaker open"
            ),
        }
    }
}

impl Say for Need {
    /// What is wrong, and what the person has to do.
    fn say(&self, lang: Lang) -> String {
        match self {
            Need::Spend => tr!(
                lang,
                "the account's spend limit or credit is used up: raise it at the provider, then `ralph resume`"
            ),
            Need::Admin => tr!(
                lang,
                "an administrator has limited this account: ask them, then `ralph resume`"
            ),
            Need::Login => tr!(
                lang,
                "the agent is not logged in: log in with the agent's own command or set its key, then `ralph resume`"
            ),
            Need::Plan => tr!(
                lang,
                "the account may not use this model or service: choose another model or plan, then `ralph resume`"
            ),
            Need::LongWait => tr!(
                lang,
                "the limit resets later than limits.max_wait allows to wait: `ralph resume` then, or now to try"
            ),
            Need::BlockCap => tr!(
                lang,
                "the client sends its agent on only so often in a row (for Claude Code: CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, which `ralph init` raises); everything is saved: say \"continue\" in the session, or run `ralph resume`"
            ),
        }
    }
}

/// `2 h 13 min`; seconds only where there are no minutes.
pub fn span(ms: u64, lang: Lang) -> String {
    let seconds = ms.div_ceil(1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => tr!(lang, "{seconds} s"),
        (0, _) => tr!(lang, "{minutes} min"),
        _ => tr!(lang, "{hours} h {minutes} min"),
    }
}

fn outcome_words(outcome: &Outcome, lang: Lang) -> String {
    let reason = outcome.reason();
    match outcome {
        Outcome::Complete => tr!(lang, "complete"),
        Outcome::Paused { .. } => tr!(lang, "paused ({reason})"),
        Outcome::Blocked { .. } => tr!(lang, "blocked: {reason}"),
        Outcome::CircuitBreak { .. } => tr!(lang, "circuit breaker ({reason})"),
        Outcome::Errors => tr!(lang, "too many errors in a row"),
        Outcome::GateFailed { .. } => tr!(lang, "verification keeps failing: {reason}"),
        Outcome::Budget { .. } => tr!(lang, "budget spent ({reason})"),
        Outcome::Cancelled => tr!(lang, "abandoned"),
        Outcome::Interrupted => tr!(lang, "interrupted; everything is saved"),
    }
}

fn progress_words(evidence: &[Evidence], lang: Lang) -> String {
    if evidence.is_empty() {
        return tr!(lang, "no progress");
    }
    let words: Vec<String> = evidence
        .iter()
        .map(|e| match e {
            Evidence::Tasks { .. } => tr!(lang, "tasks ticked"),
            Evidence::Phase { phase } => tr!(lang, "phase {phase} reached"),
            Evidence::Commit => tr!(lang, "new commit"),
            Evidence::Tree => tr!(lang, "new content"),
        })
        .collect();
    words.join(&tr!(lang, ", "))
}

fn commands(results: &[super::CommandResult]) -> String {
    let one = |r: &super::CommandResult| match r.exit {
        Some(code) => format!("`{}` → {code}", r.command),
        None => format!("`{}` → –", r.command),
    };
    results.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whole seconds, or tenths below ten.
fn seconds(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{}", ms / 1000, ms % 1000 / 100)
    } else {
        (ms / 1000).to_string()
    }
}

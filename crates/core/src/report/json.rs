//! The report for programs: keys and reasons are English and stable.

use serde_json::{Value, json};

use super::words::{look_command, next_command, plain, sentence};
use super::{Call, GitFacts, Report, TaskProof, TaskStory};
use crate::display::{self, Screen};
use crate::lang::{Lang, Say};
use crate::machine::{Outcome, Question, iso_utc};
use crate::usage::{Tokens, Usd};

impl Report {
    pub fn json(&self) -> Value {
        let screen = Screen::default();
        let story = &self.story;
        let (completed, total) = self.tasks.unzip();
        json!({
            "version": 1,
            "run_id": self.facts.run_id,
            "work": plain(&self.facts.what),
            "outcome": self.outcome_name(),
            "standing": self.standing.into_str(),
            "reason": self.outcome.as_ref().map(Outcome::reason).filter(|r| !r.is_empty()).map(plain),
            "sentence": plain(&sentence(Lang::En, self)),
            "started": iso_utc(self.facts.started_ms),
            "ended": (!self.is_alive()).then(|| iso_utc(self.facts.ended_ms)),
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "turns": self.turns,
            "tasks": completed.map(|_| json!({"completed": completed, "total": total})),
            "usage": self.bill.to_json(),
            "proven": self.proven.iter().map(|p| plain(&display::proof_line(&screen, p))).collect::<Vec<_>>(),
            "not_proven": self.not_proven.iter().map(|g| plain(&display::gap_line(&screen, g))).collect::<Vec<_>>(),
            "questions": self.questions.iter().map(question).collect::<Vec<_>>(),
            "open_tasks": self.open.iter().map(|t| plain(&t.name())).collect::<Vec<_>>(),
            "task_list": self.task_stories.iter().map(task).collect::<Vec<_>>(),
            "calls": story.calls.iter().map(call).collect::<Vec<_>>(),
            "waits": story.waits.values().map(|w| json!({
                "reason": w.why.into_str(), "count": w.count, "duration_ms": w.ms,
            })).collect::<Vec<_>>(),
            "rejected_claims": story.rejected.iter().map(|r| json!({
                "turn": r.turn,
                "claim": plain(&r.claim),
                "missing": r.missing.iter().map(|m| plain(&m.say(Lang::En))).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "accepted": story.accepted.iter().map(|a| json!({
                "tasks": a.tasks.iter().map(|id| plain(id)).collect::<Vec<_>>(), "why": plain(&a.why),
            })).collect::<Vec<_>>(),
            "sent_back": story.sent_back.iter().map(|s| json!({
                "turn": s.turn, "task": plain(&s.task), "role": plain(&s.role), "why": plain(&s.why.say(Lang::En)),
            })).collect::<Vec<_>>(),
            "unshown": story.unshown.iter().map(|(id, why)| json!({
                "task": plain(id), "why": plain(&why.say(Lang::En)),
            })).collect::<Vec<_>>(),
            "errors": story.errors.iter().map(|e| json!({
                "turn": e.turn, "class": e.class.into_str(), "message": plain(&e.detail.say(Lang::En)),
            })).collect::<Vec<_>>(),
            "guard_blocks": story.blocked.iter().map(|b| json!({
                "turn": b.turn, "tool": plain(&b.block.tool), "rule": b.block.rule,
                "detail": plain(&b.block.detail), "shadow": b.block.shadow,
            })).collect::<Vec<_>>(),
            "sandbox": story.wall,
            "sandbox_denied": story.denied.iter().map(|(denied, turn)| json!({
                "turn": turn, "target": plain(&denied.target), "setting": denied.setting,
            })).collect::<Vec<_>>(),
            "checks": {"passed": story.checks_passed, "failed": story.checks_failed},
            "resumed": story.resumed,
            "turns_without_progress": story.stalled,
            "git": self.facts.git.as_ref().map(git),
            "next_command": next_command(self),
            "look_command": look_command(self),
        })
    }
}

fn task(story: &TaskStory) -> Value {
    let (turn, checked) = match story.proof {
        TaskProof::Ticked { turn } => (Some(turn), None),
        TaskProof::Shown { turn, .. } => (turn, None),
        TaskProof::Checked { turn, checked } => (Some(turn), Some(checked)),
        TaskProof::Open | TaskProof::Skipped | TaskProof::Before => (None, None),
    };
    json!({
        "id": plain(&story.task.id),
        "text": plain(&story.task.text),
        "phase": story.task.phase,
        "done": story.task.done,
        "proof": story.proof.into_str(),
        "ticked_in_turn": turn,
        "checked_after_turn": checked,
        "calls": story.calls,
        "duration_ms": story.duration_ms,
        "usage": story.bill.to_json(),
    })
}

fn question(question: &Question) -> Value {
    let reply = question.reply.as_ref();
    json!({
        "id": question.id,
        "turn": question.turn,
        "task": question.task.as_ref().map(|t| plain(&t.id)),
        "text": plain(&question.text),
        "answer": reply.map(|r| plain(&r.text)),
        "answered_by": reply.map(|r| r.by.into_str()),
    })
}

fn call(call: &Call) -> Value {
    json!({
        "turn": call.turn,
        "attempt": call.attempt,
        "agent": plain(&call.agent),
        "role": call.role,
        "task": call.task.as_ref().map(|t| plain(&t.id)),
        "started": iso_utc(call.started_ms),
        "duration_ms": call.duration_ms,
        "cost_usd": call.spent.cost.map(Usd::dollars),
        "tokens": call.spent.tokens.map(Tokens::total),
        "newly_done": call.newly_done,
        "verdict": call.verdict.into_str(),
        "verified": call.verified,
    })
}

fn git(git: &GitFacts) -> Value {
    json!({
        "branch": git.branch.as_deref().map(plain),
        "from": git.from,
        "to": git.to,
        "commits": git.commits,
        "files_changed": git.files,
        "commit_list": git.commit_list.iter().map(|c| json!({
            "id": c.id, "subject": plain(&c.subject),
        })).collect::<Vec<_>>(),
        "file_list": git.file_list.iter().map(|f| json!({
            "path": plain(&f.path), "added": f.added, "removed": f.removed,
        })).collect::<Vec<_>>(),
    })
}

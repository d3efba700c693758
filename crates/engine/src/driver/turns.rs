//! One call of the agent: how it is begun, and what it says of itself.

use std::time::SystemTime;

use ralph_core::flow;
use ralph_core::machine::{Turn, TurnReport};
use ralph_core::promise::{self, PromiseWarning};
use tokio::sync::watch;

use super::{ChildDone, Driver};
use crate::announcement::Announcement;
use crate::perform::Host;
use crate::phase_file;
use crate::supervise::Stop;
use crate::turn::{Call, Called};
use crate::{agent_log, git};

impl Driver<'_> {
    pub(super) fn call_agent(&mut self, turn: Turn) {
        let branch = git::head(self.run.plan.layout.root())
            .branch
            .unwrap_or_default();
        let rendered = self
            .run
            .plan
            .prompter
            .prompt(&turn, &self.run.state, &branch);
        self.announce_unknown(rendered.unknown);
        let locked = self
            .index_lock
            .look(self.run.plan.layout.root(), SystemTime::now());
        self.announce_all(locked);
        let mut env = self.run.env(turn.turn);
        if let Some(task) = &turn.task {
            env.push(("RALPH_TASK_ID".into(), task.id.clone()));
        }
        env.extend(self.run.plan.agent_env.iter().cloned());
        let session = self.sessions.remove(&turn.agent);
        let session = session.filter(|_| self.run.plan.resume_session);
        let Some(agent) = self.run.plan.agent_for(&turn, &self.run.state) else {
            return;
        };
        self.role.clone_from(&turn.flow);
        let output_file = self.run.paths.turn_output(turn.turn, turn.attempt);
        let name = output_file.file_name().unwrap_or_default();
        let echo = agent_log::echo(
            self.run.recorder.another_log(),
            name.to_string_lossy().into_owned(),
            self.observer.echo(),
        );
        let call = Call {
            agent: agent.for_call(turn.allowance, session),
            root: self.run.plan.layout.root().to_owned(),
            prompt: rendered.text,
            prompt_file: self.run.paths.turn_prompt(turn.turn, turn.attempt),
            output_file,
            asked_file: self.run.paths.asked(),
            env,
            env_filter: self.run.plan.env_filter.clone(),
            output_max: self.run.plan.output_max,
            signs: self.run.plan.idle.map(|_| self.run.looker.signs()),
            linger: crate::turn::LINGER,
            idle: self.run.plan.idle,
            grace: self.run.plan.grace,
            echo: Some(echo),
            wall: self.run.plan.wall.clone(),
            turn,
        };
        let stop = self.fresh_stop();
        let Some(governor) = self.run.plan.governor.clone() else {
            self.child = Some(Box::pin(async move {
                ChildDone::Turn(Box::new(call.make(stop).await))
            }));
            return;
        };
        self.child = Some(Box::pin(async move {
            let allowed = governor.leave(stop.clone()).await;
            let mut call = call;
            if let Some(allowance) = allowed {
                call.agent = call.agent.for_call(allowance, None);
                call.turn.allowance = allowance;
            }
            let is_refused = allowed.is_none();
            let stop = match is_refused {
                true => watch::channel(Stop::Gracefully).1,
                false => stop,
            };
            let called = Box::new(call.make(stop).await);
            match is_refused {
                true => ChildDone::NoLeave(called),
                false => ChildDone::Turn(called),
            }
        }));
    }

    pub(super) fn judge(&mut self, called: Called) -> TurnReport {
        self.announce_all(called.troubles);
        if let Some(session) = called.session {
            self.sessions.insert(called.agent, session);
        }
        let detection = promise::detect(&called.text, &self.run.plan.promise, Some(&called.prompt));
        for doubt in &detection.warnings {
            self.observer.doubt(doubt);
        }
        let mentioned = detection.warnings.iter().find_map(|doubt| match doubt {
            PromiseWarning::OnlyMentioned { text } => Some(text.clone()),
            _ => None,
        });
        let seen = self.run.look();
        let promise = self.run.hear(detection.promise);
        TurnReport {
            turn: called.turn,
            attempt: called.attempt,
            spent: called.spent,
            refusal: called.refusal,
            end: called.end,
            duration_ms: called.duration_ms,
            mentioned: mentioned.filter(|_| promise.is_none()),
            promise,
            failure: called.failure,
            role: self
                .role
                .take()
                .map(|role| {
                    let dir = &self.run.plan.checkpoint.dir;
                    let file = phase_file::read(dir, role.output.as_deref());
                    flow::hear(&called.text, &called.prompt, role.verdict, file.as_deref())
                })
                .map(Box::new),
            seen,
        }
    }

    pub(super) fn announce_unknown(&mut self, names: Vec<String>) {
        for name in names {
            if self.known_unknowns.insert(name.clone()) {
                let template = self.run.plan.prompter.template.path.clone();
                let template = template.unwrap_or_default();
                self.announce(Announcement::UnknownVariable { name, template });
            }
        }
    }
}

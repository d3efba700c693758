//! What a step leads to, in its order.

use crate::flow::FlowNotice;
use crate::machine::{CheckNotice, Effect, Notice, QuestionNotice, SessionNotice};

#[derive(Default)]
pub(super) struct Out(Vec<Effect>);

impl Out {
    pub fn tell(&mut self, notice: impl Into<Notice>) {
        self.0.push(Effect::Emit(notice.into()));
    }

    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    pub fn into_effects(self) -> Vec<Effect> {
        self.0
    }
}

impl From<FlowNotice> for Notice {
    fn from(notice: FlowNotice) -> Notice {
        Notice::Flow(notice)
    }
}

impl From<CheckNotice> for Notice {
    fn from(notice: CheckNotice) -> Notice {
        Notice::Check(notice)
    }
}

impl From<QuestionNotice> for Notice {
    fn from(notice: QuestionNotice) -> Notice {
        Notice::Question(notice)
    }
}

impl From<SessionNotice> for Notice {
    fn from(notice: SessionNotice) -> Notice {
        Notice::Session(notice)
    }
}

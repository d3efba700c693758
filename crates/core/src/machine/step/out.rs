//! What a step leads to, in its order.

use crate::flow::FlowNotice;
use crate::machine::{CheckNotice, Effect, LaneNotice, Notice, QuestionNotice, SessionNotice};

#[derive(Default)]
pub(super) struct Out(Vec<Effect>);

impl Out {
    pub fn tell(&mut self, notice: impl Into<Notice>) {
        self.0.push(Effect::Emit(notice.into()));
    }

    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    pub fn append(&mut self, other: Out) {
        self.0.extend(other.0);
    }

    pub fn into_effects(self) -> Vec<Effect> {
        self.0
    }
}

macro_rules! told_as {
    ($($notice:ident => $kind:ident,)*) => {$(
        impl From<$notice> for Notice {
            fn from(notice: $notice) -> Notice {
                Notice::$kind(notice)
            }
        }
    )*};
}

told_as! {
    CheckNotice => Check,
    FlowNotice => Flow,
    LaneNotice => Lane,
    QuestionNotice => Question,
    SessionNotice => Session,
}

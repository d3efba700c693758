//! A task of a session that goes through the phases of a route, as `ralph do`
//! does it.

use ralph_core::route::{self, Card};
use ralph_core::session::task::{Do, Way};
use ralph_engine::plan::Asked;

use super::{Here, Problem};
use crate::{routing, settings};

impl Here {
    /// The same wish, with the route of its task where it is to have one.
    pub(super) fn routed(&self, asked: Asked, way: Option<Way>) -> Result<Asked, Problem> {
        let (Some(way), Some(task)) = (way, asked.prompt.clone()) else {
            return Ok(asked);
        };
        let (settings, _) = self.settings(&asked.flags)?;
        let card = route::score(&task, &settings.routing, way.chosen());
        Ok(routing::asked(task, card, &settings, asked.flags))
    }

    /// How the task of a `/do` scores.
    pub fn card(&self, wish: &Do) -> Result<Card, Problem> {
        let (settings, _) = self.settings(&settings::loop_flags(self.root(), &wish.start))?;
        let task = wish.start.task.as_deref().unwrap_or_default();
        let way = wish.start.way.and_then(Way::chosen);
        Ok(route::score(task, &settings.routing, way))
    }
}

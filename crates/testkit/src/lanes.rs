//! Which turn comes next, lane by lane.

use std::collections::BTreeMap;

use crate::script::{MAIN, SIDE, Script, Turn};

/// A script while it is played.
#[derive(Debug)]
pub struct Lanes {
    script: Script,
    at: BTreeMap<String, Position>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Position {
    turn: usize,
    /// How often that turn was already given.
    given: u32,
}

/// What a lane has for a request.
#[derive(Debug, PartialEq)]
pub enum Next {
    Turn {
        number: usize,
        turn: Box<Turn>,
    },
    /// The script says nothing about side requests.
    Neutral,
    /// More requests came than the script has turns.
    Exhausted,
}

impl Lanes {
    pub fn new(script: Script) -> Lanes {
        Lanes {
            script,
            at: BTreeMap::new(),
        }
    }

    /// The lane of a conversation by how it opens and whether it has tools.
    pub fn of(&self, opening: &str, has_tools: bool) -> String {
        let selected = self
            .script
            .select
            .iter()
            .find(|s| opening.contains(&s.text));
        let lane = match selected {
            Some(select) => &select.lane,
            None if has_tools => MAIN,
            None => SIDE,
        };
        lane.to_owned()
    }

    pub fn next(&mut self, lane: &str) -> Next {
        let Some(turns) = self.script.lanes.get(lane) else {
            return if lane == SIDE {
                Next::Neutral
            } else {
                Next::Exhausted
            };
        };
        let at = self.at.entry(lane.to_owned()).or_default();
        let Some(turn) = turns.get(at.turn) else {
            return Next::Exhausted;
        };
        let number = at.turn + 1;
        at.given += 1;
        if turn.repeat != 0 && at.given >= turn.repeat {
            *at = Position {
                turn: number,
                given: 0,
            };
        }
        Next::Turn {
            number,
            turn: Box::new(turn.clone()),
        }
    }

    /// The turns that nobody asked for, as `lane: count`.
    pub fn unplayed(&self) -> Vec<String> {
        let left = |(lane, turns): (&String, &Vec<Turn>)| {
            let at = self.at.get(lane).copied().unwrap_or_default();
            let under_way = usize::from(at.given > 0 && turns.get(at.turn).is_some_and(is_endless));
            let left = turns.len().saturating_sub(at.turn + under_way);
            (left > 0)
                .then(|| format!("{lane}: {left} of {} turns were not asked for", turns.len()))
        };
        self.script.lanes.iter().filter_map(left).collect()
    }
}

fn is_endless(turn: &Turn) -> bool {
    turn.repeat == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Select;

    fn says(next: Next) -> String {
        match next {
            Next::Turn { turn, .. } => turn.say,
            other => format!("{other:?}"),
        }
    }

    fn lanes() -> Lanes {
        let mut script = Script::main(vec![
            Turn {
                repeat: 2,
                ..Turn::say("twice")
            },
            Turn::say("once"),
        ]);
        script
            .lanes
            .insert("check".into(), vec![Turn::say("c").for_ever()]);
        script.select.push(Select {
            text: "You check".into(),
            lane: "check".into(),
        });
        Lanes::new(script)
    }

    #[test]
    fn each_request_takes_the_next_turn_of_its_lane() {
        let mut lanes = lanes();
        let main: Vec<String> = (0..4).map(|_| says(lanes.next(MAIN))).collect();
        assert_eq!(main, ["twice", "twice", "once", "Exhausted"]);
        let check: Vec<String> = (0..3).map(|_| says(lanes.next("check"))).collect();
        assert_eq!(check, ["c", "c", "c"]);
        assert_eq!(lanes.next(SIDE), Next::Neutral);
        assert_eq!(lanes.next("nobody"), Next::Exhausted);
        assert_eq!(lanes.unplayed(), Vec::<String>::new());
    }

    #[test]
    fn turns_that_nobody_asked_for_are_told() {
        let mut lanes = lanes();
        lanes.next(MAIN);
        assert_eq!(
            lanes.unplayed(),
            [
                "check: 1 of 1 turns were not asked for",
                "main: 2 of 2 turns were not asked for"
            ]
        );
    }

    #[test]
    fn tools_and_texts_choose_the_lane() {
        let lanes = lanes();
        assert_eq!(lanes.of("Do it", true), MAIN);
        assert_eq!(lanes.of("Name it", false), SIDE);
        assert_eq!(lanes.of("System. You check code.", true), "check");
        assert_eq!(lanes.of("You check", false), "check");
    }
}

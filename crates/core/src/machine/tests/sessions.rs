//! Loops inside a session: whose they are, and how often a stop is blocked.

use super::*;

/// A hook at work: every call is an event of the machine.
struct Hooked {
    state: State,
    at: Now,
}

impl Hooked {
    fn begin(rules: Rules) -> Hooked {
        let mut hooked = Hooked {
            state: State::new(rules).unwrap(),
            at: Now::default(),
        };
        hooked.take(Kind::Session(SessionEvent::Joined {
            id: "s".into(),
            host: "claude".into(),
        }));
        hooked.take(Kind::Started {
            seen: no_task_file(),
        });
        hooked
    }

    fn take(&mut self, kind: Kind) -> Vec<Effect> {
        self.at.wall_ms += 1000;
        self.at.steady_ms += 1000;
        let at = self.at;
        step(&mut self.state, &Event { at, kind })
    }

    /// The agent wants to stop; whether it is sent on.
    fn stop(&mut self, acted: bool, cap: Option<u32>) -> bool {
        self.take(Kind::Session(SessionEvent::Stopping { acted, cap }));
        let report = TurnReport {
            turn: self.state.turn.number,
            attempt: 1,
            end: End::Exit(0),
            duration_ms: 1000,
            promise: Some(Promise::Continue),
            mentioned: None,
            failure: String::new(),
            spent: Usage::default(),
            refusal: None,
            role: None,
            seen: no_task_file(),
        };
        let effects = self.take(Kind::TurnEnded(report));
        effects.iter().any(|e| matches!(e, Effect::RunAgent(_)))
    }

    fn outcome(&self) -> Option<&'static str> {
        self.state.outcome().map(Outcome::into_str)
    }
}

fn endless() -> Rules {
    limited(Goal::Prompt, |limits| limits.max_duration_ms = 3_600_000)
}

#[test]
fn a_client_is_never_asked_for_more_blocks_than_it_obeys() {
    let mut hooked = Hooked::begin(endless());
    for _ in 0..8 {
        assert!(hooked.stop(false, Some(8)));
    }
    assert!(!hooked.stop(false, Some(8)));
    assert_eq!(
        hooked.state.outcome(),
        Some(&Outcome::Paused {
            reason: PauseReason::Agent(Need::BlockCap)
        })
    );
    // A person takes it up, and the client counts anew.
    let seen = no_task_file();
    hooked.take(Kind::Resumed {
        seen,
        budget: None,
        rules: None,
    });
    for _ in 0..8 {
        assert!(hooked.stop(false, Some(8)));
    }
    assert!(!hooked.stop(false, Some(8)));
}

#[test]
fn whatever_the_agent_does_makes_the_client_count_anew() {
    let mut hooked = Hooked::begin(endless());
    for n in 0..40 {
        assert!(hooked.stop(n % 3 == 0, Some(3)), "{n}");
    }
    let mut without = Hooked::begin(endless());
    for _ in 0..40 {
        assert!(without.stop(false, None));
    }
}

#[test]
fn who_leaves_decides_what_becomes_of_the_run() {
    for (request, want) in [
        (Request::Pause, "paused"),
        (Request::Interrupt, "interrupted"),
        (Request::Cancel, "cancelled"),
    ] {
        let mut hooked = Hooked::begin(endless());
        hooked.stop(false, None);
        let effects = hooked.take(Kind::Session(SessionEvent::Left { request }));
        assert!(matches!(effects.last(), Some(Effect::Finish(_))));
        assert_eq!(hooked.outcome(), Some(want));
        assert_eq!(hooked.state.elapsed_ms(), 4000);
        // Once is enough.
        let again = hooked.take(Kind::Session(SessionEvent::Left { request }));
        assert_eq!(again, []);
    }
}

#[test]
fn what_another_tool_did_before_counts_toward_the_limit() {
    let rules = limited(Goal::Prompt, |limits| limits.max_iterations = 4);
    let mut hooked = Hooked::begin(rules.with(|rules| rules.turns_before = 2));
    assert_eq!(hooked.state.turn.number, 3);
    assert!(hooked.stop(false, None));
    assert!(!hooked.stop(false, None));
    assert_eq!(
        (hooked.state.turn.number, hooked.outcome()),
        (4, Some("paused"))
    );
}

#[test]
fn another_session_can_take_a_run_over() {
    let mut hooked = Hooked::begin(endless());
    let (id, host) = ("other".to_owned(), "codex".to_owned());
    hooked.take(Kind::Session(SessionEvent::Joined { id, host }));
    let session = hooked.state.session.as_ref().unwrap();
    assert_eq!((session.id.as_str(), session.blocks), ("other", 0));
}

//! Follows runs for all who look at them: each run is read once, whoever many
//! watch it, and every viewer is handed the same bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ralph_core::lang::Lang;
use ralph_engine::past::PastError;
use ralph_engine::watch::{OutputTail, TaskList, Watch};
use ralph_store::layout::{Layout, RunId};
use serde_json::{Value, json};

use super::api;

/// How often a run is looked at while somebody watches it.
const LOOK: Duration = Duration::from_millis(150);
/// A run that nobody watches is forgotten after this.
const FORGET: Duration = Duration::from_secs(20);
/// A viewer that is further behind than this is dropped, and comes back.
const MOST_BEHIND: usize = 256;
const MOST_BYTES_BEHIND: usize = 8 * 1024 * 1024;
/// Whoever comes first sees so much of the past.
const TURNS_AT_FIRST: usize = 400;
const EVENTS_AT_FIRST: usize = 300;
/// Of a flood, everybody sees the end.
const MOST_LINES: usize = 300;

/// Every run that is being watched.
#[derive(Debug)]
pub struct Hub {
    lang: Lang,
    runs: Mutex<HashMap<RunId, Arc<Channel>>>,
}

/// One run and what was said of it.
#[derive(Debug)]
pub struct Channel {
    live: Mutex<Live>,
    changed: Condvar,
}

#[derive(Debug)]
struct Live {
    lang: Lang,
    watch: Watch,
    output: Option<Followed>,
    tasks: TaskList,
    said_revision: u64,
    said_event: u64,
    /// The number of the next news.
    next: u64,
    news: VecDeque<Arc<str>>,
    /// What a newcomer is told, as long as nothing has changed.
    whole: Option<Arc<str>>,
    wanted: Instant,
    viewers: usize,
}

#[derive(Debug)]
struct Followed {
    turn: u32,
    attempt: u32,
    agent: String,
    tail: OutputTail,
    said: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicking thread left is no worse than what it found.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    pub fn new(lang: Lang) -> Hub {
        Hub {
            lang,
            runs: Mutex::default(),
        }
    }

    /// The run, read up to now.
    pub fn watch(self: &Arc<Hub>, layout: &Layout, id: &RunId) -> Result<Arc<Channel>, PastError> {
        if let Some(channel) = locked(&self.runs).get(id) {
            locked(&channel.live).wanted = Instant::now();
            return Ok(Arc::clone(channel));
        }
        let mut watch = Watch::new(layout, id, self.lang);
        watch.refresh()?;
        let mut runs = locked(&self.runs);
        if let Some(channel) = runs.get(id) {
            // Somebody was faster.
            return Ok(Arc::clone(channel));
        }
        let channel = Arc::new(Channel {
            live: Mutex::new(Live::new(watch, self.lang)),
            changed: Condvar::new(),
        });
        runs.insert(id.clone(), Arc::clone(&channel));
        let (hub, followed, id) = (Arc::clone(self), Arc::clone(&channel), id.clone());
        let follow = move || hub.follow(&id, &followed);
        if std::thread::Builder::new().spawn(follow).is_err() {
            runs.remove(&channel.id());
        }
        Ok(channel)
    }

    fn follow(&self, id: &RunId, channel: &Channel) {
        loop {
            std::thread::sleep(LOOK);
            let mut live = locked(&channel.live);
            if live.viewers == 0 && live.wanted.elapsed() > FORGET {
                drop(live);
                locked(&self.runs).remove(id);
                return;
            }
            if live.look() {
                channel.changed.notify_all();
            }
        }
    }
}

/// What a viewer gets next.
pub enum Next {
    News(Arc<str>),
    /// Nothing happened for a while.
    Nothing,
    /// So much happened meanwhile that it has to begin anew.
    TooSlow,
}

impl Channel {
    fn id(&self) -> RunId {
        locked(&self.live).watch.paths().id.clone()
    }

    /// Looks at the run as it stands, with nobody held up by it for long.
    pub fn with<T>(&self, look: impl FnOnce(&Watch) -> T) -> T {
        look(&locked(&self.live).watch)
    }

    /// Everything that there is to see, and the number of the news behind it.
    pub fn whole(&self) -> (Arc<str>, u64) {
        let mut live = locked(&self.live);
        live.wanted = Instant::now();
        let whole = live.whole();
        (whole, live.next)
    }

    pub fn join(&self) -> Viewer<'_> {
        locked(&self.live).viewers += 1;
        Viewer(self)
    }

    /// Waits for news, from number `next` on.
    fn news(&self, next: u64, patience: Duration) -> Next {
        let until = Instant::now() + patience;
        let mut live = locked(&self.live);
        loop {
            if live.next > next {
                let behind = usize::try_from(live.next - next).unwrap_or(usize::MAX);
                let at = live.news.len().checked_sub(behind);
                return match at.and_then(|at| live.news.get(at)) {
                    Some(news) => Next::News(Arc::clone(news)),
                    None => Next::TooSlow,
                };
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Nothing;
            }
            let waited = self.changed.wait_timeout(live, left);
            live = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(live, _)| live);
        }
    }
}

/// Somebody who watches; a run with viewers is not forgotten.
pub struct Viewer<'a>(&'a Channel);

impl Viewer<'_> {
    pub fn next(&self, next: u64, patience: Duration) -> Next {
        self.0.news(next, patience)
    }
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        let mut live = locked(&self.0.live);
        live.viewers = live.viewers.saturating_sub(1);
        live.wanted = Instant::now();
    }
}

impl Live {
    fn new(watch: Watch, lang: Lang) -> Live {
        let mut live = Live {
            lang,
            watch,
            output: None,
            tasks: TaskList::default(),
            said_revision: 0,
            said_event: 0,
            next: 0,
            news: VecDeque::new(),
            whole: None,
            wanted: Instant::now(),
            viewers: 0,
        };
        live.follow_output();
        live.tasks.refresh(&live.watch);
        live.said();
        live
    }

    /// Takes in what is new and tells it; `true` where anything is.
    fn look(&mut self) -> bool {
        // A journal that can't be read now may be whole the next time.
        let changed = self.watch.refresh().unwrap_or(false);
        let printed = self.follow_output();
        let ticked = self.tasks.refresh(&self.watch);
        if !changed && !printed && !ticked {
            return false;
        }
        let snapshot = self.watch.snapshot();
        let mut news = json!({});
        if changed {
            let turns = snapshot.turns_after(self.said_revision).map(api::turn);
            news["head"] = api::head(snapshot, self.lang);
            news["turns"] = turns.collect();
            news["events"] = json!(snapshot.events_after(self.said_event));
        }
        if printed && let Some(output) = &self.output {
            let fresh = output.tail.count().saturating_sub(output.said);
            let fresh = usize::try_from(fresh).unwrap_or(usize::MAX);
            news["output"] = output.json(fresh.min(MOST_LINES));
        }
        if ticked {
            news["tasks"] = json!(self.tasks.lines);
        }
        self.push(&api::safe(news));
        self.said();
        true
    }

    fn push(&mut self, news: &Value) {
        self.next += 1;
        self.whole = None;
        self.news.push_back(news.to_string().into());
        let bytes = |news: &VecDeque<Arc<str>>| news.iter().map(|one| one.len()).sum::<usize>();
        while self.news.len() > MOST_BEHIND
            || (self.news.len() > 1 && bytes(&self.news) > MOST_BYTES_BEHIND)
        {
            self.news.pop_front();
        }
    }

    /// What was told is not told again.
    fn said(&mut self) {
        let snapshot = self.watch.snapshot();
        self.said_revision = snapshot.revision;
        self.said_event = snapshot.events.last().map_or(0, |told| told.number);
        if let Some(output) = &mut self.output {
            output.said = output.tail.count();
        }
    }

    fn whole(&mut self) -> Arc<str> {
        if let Some(whole) = &self.whole {
            return Arc::clone(whole);
        }
        let snapshot = self.watch.snapshot();
        let last = |all: usize, most: usize| all.saturating_sub(most);
        let turns = snapshot.turns.iter();
        let events = snapshot.events.iter();
        let tasks = &self.tasks.lines;
        let whole = json!({
            "full": true,
            "head": api::head(snapshot, self.lang),
            "turns": turns.skip(last(snapshot.turns.len(), TURNS_AT_FIRST)).map(api::turn).collect::<Value>(),
            "events": events.skip(last(snapshot.events.len(), EVENTS_AT_FIRST)).collect::<Vec<_>>(),
            "tasks": (!tasks.is_empty()).then_some(tasks),
            "output": self.output.as_ref().map(|output| output.json(MOST_LINES)),
        });
        let whole: Arc<str> = api::safe(whole).to_string().into();
        self.whole = Some(Arc::clone(&whole));
        whole
    }

    /// Reads what the last call prints; `true` where it printed something.
    fn follow_output(&mut self) -> bool {
        let Some(turn) = self.watch.snapshot().last_turn() else {
            return false;
        };
        let is_its = |output: &Followed| (output.turn, output.attempt) == (turn.turn, turn.attempt);
        let is_new = !self.output.as_ref().is_some_and(is_its);
        if is_new {
            self.output = Some(Followed {
                turn: turn.turn,
                attempt: turn.attempt,
                agent: turn.agent.clone(),
                tail: self.watch.output(turn),
                said: 0,
            });
        }
        let Some(output) = &mut self.output else {
            return false;
        };
        let printed = output.tail.refresh().unwrap_or(false);
        is_new || (printed && output.tail.count() != output.said)
    }
}

impl Followed {
    /// The last `most` lines.
    fn json(&self, most: usize) -> Value {
        let lines = self.tail.lines();
        let skipped = lines.len().saturating_sub(most);
        json!({
            "turn": self.turn,
            "attempt": self.attempt,
            "agent": self.agent,
            "count": self.tail.count(),
            "lines": lines.iter().skip(skipped).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let id = RunId::parse("20260118-100000-1a2b").unwrap();
        let home = ralph_store::home::StateHome::at("/nowhere/state");
        let nowhere = Layout::new("/nowhere", &home);
        let watch = Watch::new(&nowhere, &id, Lang::En);
        Channel {
            live: Mutex::new(Live::new(watch, Lang::En)),
            changed: Condvar::new(),
        }
    }

    fn told(channel: &Channel, next: u64) -> String {
        match channel.join().next(next, Duration::ZERO) {
            Next::News(news) => news.to_string(),
            Next::Nothing => "nothing".into(),
            Next::TooSlow => "too slow".into(),
        }
    }

    #[test]
    fn news_come_in_order_and_who_is_too_far_behind_is_told_so() {
        let channel = channel();
        assert_eq!(told(&channel, 0), "nothing");
        for number in 0..300 {
            locked(&channel.live).push(&json!(number));
        }
        assert_eq!(told(&channel, 299), "299");
        assert_eq!(told(&channel, 300), "nothing");
        assert_eq!(told(&channel, 44), "44");
        assert_eq!(told(&channel, 43), "too slow");
        assert_eq!(told(&channel, 0), "too slow");
    }

    #[test]
    fn large_news_are_not_hoarded() {
        let channel = channel();
        let large = Value::String("x".repeat(MOST_BYTES_BEHIND / 3));
        for _ in 0..10 {
            locked(&channel.live).push(&large);
        }
        let live = locked(&channel.live);
        assert_eq!((live.news.len(), live.next), (2, 10));
    }

    #[test]
    fn a_viewer_is_counted_while_it_looks() {
        let channel = channel();
        let viewer = channel.join();
        assert_eq!(locked(&channel.live).viewers, 1);
        drop(viewer);
        assert_eq!(locked(&channel.live).viewers, 0);
    }
}

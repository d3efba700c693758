//! What the monitor knows: the runs, the one that is looked at, and where in
//! it the person is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use ralph_core::display::Screen;
use ralph_core::lang::Say;
use ralph_core::overview::Overview;
use ralph_engine::watch::{Brief, Diff, OutputTail, Snapshot, TaskList, Watch, briefs};
use ralph_store::layout::{Layout, RunId};

/// As many runs of a project are listed.
const MOST_RUNS: usize = 50;
/// The list is looked at anew with every so many looks at the run.
const LOOKS_PER_LIST: u32 = 8;
/// What was said is forgotten after so many looks, some six seconds.
pub const LOOKS_PER_WORD: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Tab {
    Overview,
    Tasks,
    Output,
    Events,
    Verify,
    Guard,
    Charts,
    Diff,
}

impl Tab {
    pub const ALL: &[Tab] = <Tab as strum::VariantArray>::VARIANTS;

    /// The tab so many places further.
    pub fn moved(self, by: isize) -> Tab {
        let at = Tab::ALL.iter().position(|tab| *tab == self).unwrap_or(0);
        let count = Tab::ALL.len();
        let to = at.saturating_add(count).saturating_add_signed(by) % count;
        Tab::ALL.get(to).copied().unwrap_or(Tab::Overview)
    }
}

/// What lies over the tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    None,
    Help,
    /// Something is typed, to its end with Enter.
    Typing {
        what: Typing,
        text: String,
    },
    /// A key is asked for before a run is ended.
    Sure(Wanted),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    Filter,
    /// The turns to add.
    Extend,
    /// The answer to a question.
    Answer(u32),
    /// A word for the agent.
    Hint,
    /// What is wanted of the tasks, as it is typed.
    Steer,
}

/// What the person wants of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    Pause,
    Continue,
    Stop,
    Extend(u32),
    /// The work as it was before this turn.
    Undo(u32),
    /// The turn that broke it.
    Bisect,
    Answer {
        question: u32,
        text: String,
    },
    /// By a verb, as it is typed.
    Steer(Vec<String>),
}

/// What came from elsewhere while the person looked.
#[derive(Debug)]
pub enum News {
    Said(String),
    Diff(Option<Diff>),
}

#[derive(Debug)]
pub struct Model {
    pub screen: Screen,
    projects: Vec<Layout>,
    looks: u32,
    pub runs: Vec<Brief>,
    /// The run that is looked at, by its place in the list.
    pub selected: usize,
    pub watch: Option<Watch>,
    /// What is wrong with the run that is looked at.
    pub trouble: Option<String>,
    pub tab: Tab,
    /// Lines from the end (output, events) or from the beginning.
    pub scroll: BTreeMap<Tab, usize>,
    pub filter: String,
    pub overlay: Overlay,
    pub tasks: TaskList,
    pub output: Option<((u32, u32), OutputTail)>,
    /// The turn whose output is shown; `None` follows the run.
    pub turn: Option<usize>,
    pub checked: Option<(u32, OutputTail)>,
    pub diff: Option<Diff>,
    /// What the last key led to.
    pub said: String,
    /// The same as of the last look, and the looks since it was said.
    said_before: (String, u32),
    pub now_ms: i64,
    pub wants_out: bool,
    pub wants_pager: Option<PathBuf>,
    pub news: Sender<News>,
    incoming: Receiver<News>,
}

impl Model {
    pub fn new(screen: Screen, projects: Vec<Layout>) -> Model {
        let (news, incoming) = channel();
        Model {
            screen,
            projects,
            looks: 0,
            runs: Vec::new(),
            selected: 0,
            watch: None,
            trouble: None,
            tab: Tab::Overview,
            scroll: BTreeMap::new(),
            filter: String::new(),
            overlay: Overlay::None,
            tasks: TaskList::default(),
            output: None,
            turn: None,
            checked: None,
            diff: None,
            said: String::new(),
            said_before: (String::new(), 0),
            now_ms: 0,
            wants_out: false,
            wants_pager: None,
            news,
            incoming,
        }
    }

    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.watch.as_ref().map(Watch::snapshot)
    }

    pub fn overview(&self) -> Option<&Overview> {
        self.snapshot().map(|snapshot| &snapshot.overview)
    }

    /// Looks at the files again.
    pub fn look(&mut self) {
        while let Ok(news) = self.incoming.try_recv() {
            match news {
                News::Said(text) => self.said = text,
                News::Diff(diff) => self.diff = Some(diff.unwrap_or_default()),
            }
        }
        self.forget_what_was_said();
        if self.looks.is_multiple_of(LOOKS_PER_LIST) {
            self.list_runs();
        }
        self.looks = self.looks.wrapping_add(1);
        let Some(brief) = self.runs.get(self.selected) else {
            self.watch = None;
            return;
        };
        let (root, id) = (brief.root.clone(), brief.id.clone());
        let is_watched = self
            .watch
            .as_ref()
            .is_some_and(|watch| watch.layout().root() == root && watch.paths().id == id);
        if !is_watched {
            self.attach(&root, &id);
        }
        if let Some(watch) = &mut self.watch {
            self.trouble = watch
                .refresh()
                .err()
                .map(|error| error.say(self.screen.lang));
            self.tasks.refresh(watch);
        }
        self.look_at_output();
    }

    fn forget_what_was_said(&mut self) {
        let (before, looks) = &mut self.said_before;
        if *before != self.said {
            self.said_before = (self.said.clone(), 0);
        } else if *looks < LOOKS_PER_WORD {
            *looks += 1;
        } else {
            self.said.clear();
        }
    }

    /// The newest run stays at the top; whoever looks at another keeps it.
    fn list_runs(&mut self) {
        let kept = self.runs.get(self.selected);
        let kept = kept.map(|brief| (brief.root.clone(), brief.id.clone()));
        let follows = self.selected == 0;
        let listed = self
            .projects
            .iter()
            .flat_map(|project| briefs(project, MOST_RUNS).unwrap_or_default());
        self.runs = listed.collect();
        self.runs.sort_by(|a, b| {
            let age = |brief: &Brief| (brief.pid.is_some(), brief.id.clone());
            age(b).cmp(&age(a))
        });
        let is_kept = |brief: &Brief| {
            let (root, id) = (&brief.root, &brief.id);
            kept.as_ref()
                .is_some_and(|kept| (&kept.0, &kept.1) == (root, id))
        };
        self.selected = match follows {
            true => 0,
            false => self.runs.iter().position(is_kept).unwrap_or(0),
        };
    }

    fn attach(&mut self, root: &Path, id: &RunId) {
        let project = self.projects.iter().find(|project| project.root() == root);
        self.watch = project.map(|project| Watch::new(project, id, self.screen.lang));
        self.scroll.clear();
        self.output = None;
        self.turn = None;
        self.checked = None;
        self.diff = None;
        self.tasks = TaskList::default();
    }

    pub fn select(&mut self, by: isize) {
        let most = self.runs.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(most);
        self.look();
    }

    /// Only what is looked at is read.
    fn look_at_output(&mut self) {
        let Some(watch) = &self.watch else {
            return;
        };
        let turns = &watch.snapshot().turns;
        if matches!(self.tab, Tab::Output | Tab::Overview) {
            let turn = match self.turn.filter(|_| self.tab == Tab::Output) {
                Some(at) => turns.get(at),
                None => turns.last(),
            };
            if let Some(turn) = turn {
                let key = (turn.turn, turn.attempt);
                if self.output.as_ref().is_none_or(|(shown, _)| *shown != key) {
                    self.output = Some((key, watch.output(turn)));
                }
            }
            if let Some((_, output)) = &mut self.output {
                let _ = output.refresh();
            }
        }
        if self.tab == Tab::Verify
            && let Some(last) = watch.snapshot().checks.last()
        {
            if self
                .checked
                .as_ref()
                .is_none_or(|(turn, _)| *turn != last.turn)
            {
                self.checked = Some((last.turn, watch.verification(last.turn)));
            }
            if let Some((_, output)) = &mut self.checked {
                let _ = output.refresh();
            }
        }
    }

    pub fn scrolled(&self) -> usize {
        self.scroll.get(&self.tab).copied().unwrap_or(0)
    }

    /// Output and events are read from their end.
    pub fn is_read_from_the_end(&self) -> bool {
        matches!(self.tab, Tab::Output | Tab::Events)
    }

    /// Scrolls so many lines down.
    pub fn scroll_by(&mut self, lines: isize) {
        let down = if self.is_read_from_the_end() {
            -lines
        } else {
            lines
        };
        let at = self.scrolled().saturating_add_signed(down);
        self.scroll.insert(self.tab, at);
    }

    /// To the very beginning or end.
    pub fn scroll_to(&mut self, end: bool) {
        let far = end != self.is_read_from_the_end();
        self.scroll
            .insert(self.tab, if far { usize::MAX / 2 } else { 0 });
    }

    /// Another turn's output; behind the last one the run is followed again.
    pub fn other_turn(&mut self, by: isize) {
        let count = self.snapshot().map_or(0, |snapshot| snapshot.turns.len());
        let last = count.saturating_sub(1);
        let at = self.turn.unwrap_or(last).saturating_add_signed(by);
        self.turn = (at < last).then_some(at);
        self.scroll.insert(Tab::Output, 0);
        if self.tab == Tab::Diff {
            self.load_diff();
        }
        self.look();
    }

    /// The number of the turn that is looked at, unless that is the last.
    pub fn chosen_turn(&self) -> Option<u32> {
        let turns = &self.snapshot()?.turns;
        Some(turns.get(self.turn?)?.turn)
    }

    /// The turn whose diff is shown, to be undone.
    pub fn turn_to_undo(&self) -> Option<u32> {
        let last = self.snapshot()?.turns.last();
        self.chosen_turn().or_else(|| Some(last?.turn))
    }

    pub fn go_to(&mut self, tab: Tab) {
        self.tab = tab;
        if tab == Tab::Diff {
            self.load_diff();
        }
        self.look();
    }

    /// Git may take its time.
    pub fn load_diff(&mut self) {
        let Some(watch) = &self.watch else {
            return;
        };
        let wanted = watch.diff_of(self.chosen_turn());
        let news = self.news.clone();
        std::thread::spawn(move || {
            let _ = news.send(News::Diff(wanted.make()));
        });
    }
}

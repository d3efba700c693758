//! Plays one fault: a copy of the project, the real engine as a child, and a
//! look at everything once it is over.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ralph_core::config::{Settings, variable_of_key};
use ralph_engine::agents::find_program;
use ralph_engine::supervise::{self, Ending, Report, Sink, Spec, Stop, Tag, orphans};
use ralph_store::layout::RunPaths;
use tokio::sync::watch;

use super::disk::SmallDisk;
use super::evidence::{Evidence, Resumed, first_run};
use super::faults::{Course, Fault, text};
use super::place::Place;
use super::project::Project;
use super::scale::Scale;
use super::verdict::{Miss, Setup, Skip, Verdict, judge};

/// The variable by which every process of a drill is found.
pub const TAG: &str = "RALPH_DRILL";

/// What a run tells its children; a drill inside a run is not part of it.
const OF_A_RUN: [&str; 5] = [
    "RALPH_RUN_ID",
    Tag::VARIABLE,
    "RALPH_ITERATION",
    "RALPH_MODE",
    "RALPH_TASKS_FILE",
];

/// An engine that is asked to end gives its agent 5 s.
const GRACE: Duration = Duration::from_secs(8);
const SAMPLE: Duration = Duration::from_millis(20);
/// How much of what an engine prints is kept.
const MOST_SAID: usize = 256 * 1024;

#[derive(Debug)]
pub struct Stage<'a> {
    pub settings: &'a Settings,
    pub project: &'a Project,
    /// Holds everything that the drill makes.
    pub dir: &'a Path,
    pub program: PathBuf,
    pub scale: Scale,
    pub tag: String,
}

/// What came of a fault.
#[derive(Debug)]
pub struct Played {
    pub fault: Fault,
    pub verdict: Verdict,
    pub evidence: Evidence,
    pub run: Option<Tag>,
}

impl Stage<'_> {
    pub async fn play(&self, fault: Fault, stop: &watch::Receiver<Stop>) -> Played {
        let mut played = Played {
            fault,
            verdict: Verdict::NotCaught(Miss::Drill {
                words: String::new(),
            }),
            evidence: Evidence::default(),
            run: None,
        };
        if let Some(skip) = missing_for(fault) {
            played.verdict = Verdict::Skipped(skip);
            return played;
        }
        let place = Place::new(
            self.dir.join(fault.into_str()),
            self.project.tasks.name(),
            &self.program,
        );
        match self.run(fault, &place, stop, &mut played).await {
            Ok(None) => played.verdict = judge(fault, &played.evidence, self.setup()),
            Ok(Some(skip)) => played.verdict = Verdict::Skipped(skip),
            Err(error) => {
                let words = error.to_string();
                played.verdict = Verdict::NotCaught(Miss::Drill { words });
            }
        }
        played
    }

    async fn run(
        &self,
        fault: Fault,
        place: &Place,
        stop: &watch::Receiver<Stop>,
        played: &mut Played,
    ) -> io::Result<Option<Skip>> {
        let bytes = self.project.copy_to(&place.project())?;
        let script = fault.script(place, &self.settings.promise, self.scale.sizes());
        place.write_scripts(&script)?;
        let env = self.env(fault, place)?;
        let seen = &mut played.evidence;
        if fault == Fault::FullDisk {
            let disk = match SmallDisk::find(place, bytes)? {
                Ok(disk) => disk,
                Err(skip) => return Ok(Some(skip)),
            };
            let (program, args) = disk.command(place, &self.program);
            self.see(
                seen,
                self.spec(fault, place, program, args, env),
                place,
                stop,
            )
            .await;
            disk.read_results(place, seen);
        } else {
            let args = self.run_args(fault, place);
            let spec = self.spec(fault, place, text(&self.program), args, env.clone());
            self.see(seen, spec, place, stop).await;
        }
        let layout = place.layout();
        let tag = |run: RunPaths| Tag::of_run(&layout.runs_dir(), run.id.as_str());
        played.run = first_run(&layout).map(tag);
        self.end_survivors(played.run.as_ref(), seen);
        seen.look_at_files(place, &place.project().join(&self.settings.log.file));
        if fault == Fault::CorruptJournal && !seen.ran_out_of_time {
            let args = self.resume_args(place);
            let env = self.env(fault, place)?;
            let spec = self.spec(fault, place, text(&self.program), args, env);
            let mut after = Evidence::default();
            self.see(&mut after, spec, place, stop).await;
            seen.resume = after.exit.map(|code| Resumed { code });
        }
        Ok(None)
    }

    /// Sees a child through and notes how it ended.
    async fn see(
        &self,
        seen: &mut Evidence,
        spec: Spec,
        place: &Place,
        stop: &watch::Receiver<Stop>,
    ) {
        let mut said = Said::default();
        let lock = place.layout().lock();
        let started = Instant::now();
        let report = {
            let run = supervise::run(spec, &mut said, stop.clone());
            tokio::pin!(run);
            loop {
                tokio::select! {
                    biased;
                    report = &mut run => break report,
                    () = tokio::time::sleep(SAMPLE) => {
                        seen.peak_memory = seen.peak_memory.max(peak_memory(&lock));
                    }
                }
            }
        };
        seen.duration += started.elapsed();
        seen.said = String::from_utf8_lossy(&said.bytes).into_owned();
        self.note_ending(seen, &report);
    }

    fn note_ending(&self, seen: &mut Evidence, report: &Report) {
        match &report.ending {
            Ending::Exited(code) => seen.exit = Some(*code),
            Ending::TimedOut => seen.ran_out_of_time = true,
            Ending::SpawnFailed { message, .. } => seen.said.push_str(message),
            Ending::Signalled(_) | Ending::Stopped => {}
        }
    }

    /// Notes whoever outlived the run, found by its tag or as a child that
    /// lost its parent, and ends them.
    fn end_survivors(&self, run: Option<&Tag>, seen: &mut Evidence) {
        let tagged = orphans::carrying(TAG, &self.tag);
        let carry = |tag: &Tag| orphans::carrying(Tag::VARIABLE, tag.value());
        let of_run = run.map_or(Vec::new(), carry);
        let alive: BTreeSet<u32> = tagged.into_iter().chain(of_run).collect();
        seen.names = alive.iter().map(|&pid| name_of(pid)).collect();
        let adopted = orphans::end_all();
        if let Some(tag) = run {
            orphans::end_tagged(tag);
        }
        seen.survivors = alive.len().max(adopted.count);
    }

    fn spec(
        &self,
        fault: Fault,
        place: &Place,
        program: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
    ) -> Spec {
        Spec {
            args: args.into_iter().map(OsString::from).collect(),
            env: env
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            env_remove: OF_A_RUN.map(OsString::from).into(),
            grace: GRACE,
            ..Spec::plain(program.into(), &place.project(), self.scale.deadline(fault))
        }
    }

    fn run_args(&self, fault: Fault, place: &Place) -> Vec<String> {
        let trusted = "--trust-project".into();
        let mut args = vec![
            "--root".into(),
            text(&place.project()),
            trusted,
            "run".into(),
        ];
        if !fault.is_watched() {
            args.push("--quiet".into());
        }
        args.extend(["--tasks".into(), text(&place.tasks())]);
        args
    }

    fn resume_args(&self, place: &Place) -> Vec<String> {
        let words = ["resume", "--yes", "--quiet"].map(String::from);
        let mut args = vec![
            "--root".into(),
            text(&place.project()),
            "--trust-project".into(),
        ];
        args.extend(words);
        args
    }

    /// The person's settings hold, but for the agent and for what would make
    /// the drill take hours.
    fn env(&self, fault: Fault, place: &Place) -> io::Result<Vec<(String, String)>> {
        let state = ("XDG_STATE_HOME".to_owned(), text(&place.state_home()));
        let mut env = vec![(TAG.to_owned(), self.tag.clone()), state];
        let mut set = |key: &str, value: String| {
            env.extend(variable_of_key(key).map(|name| (name, value)));
        };
        // Its agent does what the wall would keep it from: what is tried here
        // has to hold where there is none.
        set("sandbox.mode", "off".into());
        if speaks_stream_json(self.settings) {
            set("agent.name", "claude".into());
            set("agent.command", text(&place.write_stream_agent()?));
        } else {
            set("agent.name", "custom".into());
            set("agent.command", place.agent_line());
        }
        for change in self.scale.changes(self.settings, fault) {
            set(change.key, change.to);
        }
        if fault.course() == Course::Once {
            set("limits.max_iterations", "2".into());
        }
        Ok(env)
    }

    fn setup(&self) -> Setup {
        let limits = &self.settings.limits;
        let idle = limits.idle_timeout;
        Setup {
            timeouts_off: limits.iteration_timeout.is_zero() && idle.is_zero(),
            // Scaled down, silence is shorter than a turn.
            idle_first: !idle.is_zero(),
            has_verification: !self.settings.verify.commands.is_empty(),
            output_cap: self.settings.log.agent_output_max,
        }
    }
}

/// Whether the agent of these settings is read as a stream of JSON lines.
pub fn speaks_stream_json(settings: &Settings) -> bool {
    settings.agent.name == "claude"
}

fn missing_for(fault: Fault) -> Option<Skip> {
    if !cfg!(target_os = "linux") && matches!(fault, Fault::Daemon | Fault::FullDisk) {
        return Some(Skip::NeedsLinux);
    }
    let needed = match fault {
        Fault::Daemon => "setsid",
        Fault::FullDisk => "unshare",
        _ => return None,
    };
    match find_program(needed.as_ref(), Path::new("/")) {
        Some(_) => None,
        None => Some(Skip::NeedsProgram { name: needed }),
    }
}

/// The most memory that the holder of a lock ever had, without the pages of its
/// own program.
fn peak_memory(lock: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(lock).ok()?;
    let info: serde_json::Value = serde_json::from_str(&text).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", info["pid"])).ok()?;
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    // A program on a tmpfs counts as shared memory.
    let of_files = kib("RssFile:")? + kib("RssShmem:")?;
    Some(kib("VmHWM:")?.saturating_sub(of_files) * 1024)
}

/// The command line of a process, as far as it is still there.
fn name_of(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    format!("{pid} {}", ralph_core::text::one_line(&line))
}

/// The beginning of what a child prints.
#[derive(Debug, Default)]
struct Said {
    bytes: Vec<u8>,
}

impl Said {
    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        let room = MOST_SAID.saturating_sub(self.bytes.len());
        self.bytes.extend(chunk.iter().take(room));
        Ok(())
    }
}

impl Sink for Said {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.take(chunk)
    }
}

//! What a program for another system is tried with: the same few runs
//! everywhere, by the emulator that there is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::toolchain::{MINGW_GCC, Toolchain};
use super::{Runner, Target};
use crate::tools;

/// One thing that was tried.
pub struct Tried {
    pub what: &'static str,
    pub outcome: Outcome,
}

pub enum Outcome {
    Works,
    Failed(String),
    Untried(&'static str),
}

impl Tried {
    pub fn in_words(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Works => Some(self.what.to_owned()),
            Outcome::Failed(_) => Some(format!("**{} FAILED**", self.what)),
            Outcome::Untried(_) => None,
        }
    }

    pub fn untried(&self) -> Option<String> {
        match self.outcome {
            Outcome::Untried(why) => Some(format!("{}: {why}", self.what)),
            _ => None,
        }
    }
}

/// A run that takes longer hangs, also where every instruction is emulated.
const PATIENCE: Duration = Duration::from_secs(120);

const WINE_PACKAGE: &str = "wine64";
const WINE: &str = "/usr/lib/wine/wine64";
const QEMU_PACKAGE: &str = "qemu-user-static";
const QEMU: &str = "/usr/bin/qemu-aarch64-static";

/// Wine 8 lacks one library, whose only function is another one's.
const MISSING_IN_WINE: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) {
  return SystemFunction036(bytes, (ULONG)count);
}
";

const TASKS: &str = "# Tasks\n\n## Phase 1: All\n\n- [ ] T001 First\n- [ ] T002 Second\n";
const WORKS: &str = r#"{"turns": [
  {"tick": ["T001"], "say": "<promise>CONTINUE</promise>"},
  {"tick": ["T002"], "say": "<promise>COMPLETE</promise>"}]}"#;
const HANGS: &str = r#"{"turns": [{"faults": ["hang"]}]}"#;

/// Tries a program; an error is one of the emulator.
pub fn run(chain: &Toolchain, target: Target, program: &Path) -> Result<Vec<Tried>, String> {
    if let Runner::Nobody(_) = target.runner {
        return Ok(Vec::new());
    }
    let stage = Stage::set(chain, target, program)?;
    type Attempt = fn(&Stage) -> Result<(), String>;
    let tries: [(&'static str, Attempt); 8] = [
        ("version", Stage::version),
        ("self-check", Stage::self_check),
        ("tasks", Stage::tasks),
        ("init", Stage::init),
        ("guard and hook", Stage::guard),
        ("run", Stage::work),
        ("stop of a run", Stage::stop),
        ("demo", Stage::demo),
    ];
    let tried = tries.map(|(what, attempt)| {
        let outcome = match stage.untried(what) {
            Some(why) => Outcome::Untried(why),
            None => match attempt(&stage) {
                Ok(()) => Outcome::Works,
                Err(why) => Outcome::Failed(why),
            },
        };
        Tried { what, outcome }
    });
    Ok(tried.into())
}

/// A project, and the program that is tried in it.
struct Stage {
    target: Target,
    program: PathBuf,
    dir: tempfile::TempDir,
    wine_prefix: PathBuf,
}

impl Stage {
    fn set(chain: &Toolchain, target: Target, program: &Path) -> Result<Stage, String> {
        let failed = |e: std::io::Error| e.to_string();
        match target.runner {
            Runner::Wine => {
                need(WINE, WINE_PACKAGE)?;
                let beside = program.with_file_name("bcryptprimitives.dll");
                if !beside.exists() {
                    let source = chain.own.join("bcryptprimitives.c");
                    fs::write(&source, MISSING_IN_WINE).map_err(failed)?;
                    let mut gcc = Command::new(MINGW_GCC);
                    gcc.arg("-shared").arg("-o").arg(beside).arg(source);
                    chain.quietly(gcc.arg("-ladvapi32"))?;
                }
            }
            Runner::Qemu => need(QEMU, QEMU_PACKAGE)?,
            Runner::Native | Runner::Nobody(_) => {}
        }
        let dir = tempfile::tempdir().map_err(failed)?;
        let project = dir.path().join("project");
        fs::create_dir(&project).map_err(failed)?;
        fs::create_dir(dir.path().join("home")).map_err(failed)?;
        fs::write(project.join("tasks.md"), TASKS).map_err(failed)?;
        fs::write(dir.path().join("works.json"), WORKS).map_err(failed)?;
        fs::write(dir.path().join("hangs.json"), HANGS).map_err(failed)?;
        Ok(Stage {
            target,
            program: program.to_owned(),
            dir,
            wine_prefix: chain.own.join("wine"),
        })
    }

    /// What can't be tried here, and why.
    fn untried(&self, what: &str) -> Option<&'static str> {
        match (self.target.runner, what) {
            (Runner::Wine, "demo") => Some("Git and a shell for Windows are not here"),
            (Runner::Qemu, "demo") if !foreign_programs_start() => {
                Some("the kernel here starts no program of another machine (binfmt_misc)")
            }
            _ => None,
        }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The words that start the program itself.
    fn started_by(&self) -> Vec<PathBuf> {
        match self.target.runner {
            Runner::Qemu => vec![QEMU.into(), self.program.clone()],
            Runner::Wine => vec![WINE.into(), self.program.clone()],
            Runner::Native | Runner::Nobody(_) => vec![self.program.clone()],
        }
    }

    /// A path as the program has to hear it.
    fn path(&self, path: &Path) -> String {
        match self.target.runner {
            Runner::Wine => format!("Z:{}", path.display()).replace('/', "\\"),
            _ => path.display().to_string(),
        }
    }

    /// A command line for a scripted agent.
    fn agent(&self, script: &str) -> String {
        let script = self.path(&self.dir.path().join(script));
        let program = self.path(&self.program);
        match self.target.runner {
            Runner::Qemu => format!("{QEMU} {program} __agent {script}"),
            _ => format!("{program} __agent {script}"),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let words = self.started_by();
        let mut command = Command::new(&words[0]);
        let home = self.dir.path().join("home");
        command
            .args(&words[1..])
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", self.dir.path())
            .env("WINEPREFIX", &self.wine_prefix)
            .env("WINEDEBUG", "-all")
            .env("RALPH_EVIDENCE_LEVEL", "claimed")
            .env("RALPH_SANDBOX_MODE", "off")
            .env("RALPH_AGENT_RETRY_INITIAL", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.target.runner == Runner::Wine {
            let local = self.path(&home.join("local"));
            command.env("LOCALAPPDATA", local);
        }
        command
    }

    fn run(&self, args: &[&str], code: i32) -> Result<String, String> {
        let child = self.command(args).spawn().map_err(|e| e.to_string())?;
        told(&within(child)?, args, code)
    }

    fn version(&self) -> Result<(), String> {
        let told = self.run(&["--version", "--json"], 0)?;
        match told.contains(self.target.triple) {
            true => Ok(()),
            false => Err(told),
        }
    }

    fn self_check(&self) -> Result<(), String> {
        self.run(&["self-check"], 0).map(drop)
    }

    fn tasks(&self) -> Result<(), String> {
        let told = self.run(&["tasks", "--json"], 0)?;
        match told.contains("T002") {
            true => Ok(()),
            false => Err(told),
        }
    }

    fn init(&self) -> Result<(), String> {
        self.run(&["init", "--yes"], 0)?;
        match self.project().join(".claude").is_dir() {
            true => self.run(&["uninstall", "--yes"], 0).map(drop),
            false => Err("nothing was installed".into()),
        }
    }

    fn guard(&self) -> Result<(), String> {
        self.run(&["guard", "test", "rm -rf ~"], 2)?;
        self.run(&["guard", "test", "git status"], 0)?;
        if self.target.runner == Runner::Wine {
            self.run(&["guard", "test", r"cmd /c rd /s /q C:\Users"], 2)?;
        }
        let cwd = self.path(&self.project());
        // A host takes the one for leave and the other for a refusal.
        let hook = |tool: &str, input: serde_json::Value, code: i32| {
            let payload = serde_json::json!({
                "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd,
                "tool_name": tool, "tool_input": input,
            });
            self.hook(&payload.to_string(), code)
        };
        let inside = self.path(&self.project().join("new.txt"));
        let write = serde_json::json!({"file_path": inside, "content": "x"});
        hook("Write", write, 0)?;
        hook("Bash", serde_json::json!({"command": "rm -rf ~"}), 2)
    }

    fn hook(&self, payload: &str, code: i32) -> Result<(), String> {
        use std::io::Write;
        let args = ["hook", "--host", "claude", "pre-tool-use"];
        let mut command = self.command(&args);
        let mut child = command
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin
                .write_all(payload.as_bytes())
                .map_err(|e| e.to_string())?;
        }
        told(&within(child)?, &args, code).map(drop)
    }

    fn work(&self) -> Result<(), String> {
        let agent = self.agent("works.json");
        let told = self.run(&["run", "--json", "--agent-cmd", &agent], 0)?;
        match told.contains("\"complete\"") {
            true => Ok(()),
            false => Err(told),
        }
    }

    /// A run whose agent hangs is stopped from outside, and leaves nobody.
    fn stop(&self) -> Result<(), String> {
        fs::write(self.project().join("tasks.md"), TASKS).map_err(|e| e.to_string())?;
        let agent = self.agent("hangs.json");
        let args = ["run", "--json", "--agent-cmd", &agent];
        let mut child = self.command(&args).spawn().map_err(|e| e.to_string())?;
        let place = self.dir.path().file_name().unwrap_or_default();
        let place = place.to_string_lossy().into_owned();
        let alive = || processes_with(&["__agent", "hangs.json", &place]);
        // The run and its agent: both have the script in their command lines.
        if let Err(problem) = until(|| alive() >= 2) {
            let _ = child.kill();
            return Err(format!("the agent did not start ({problem})"));
        }
        let stopped = self.run(&["stop", "--now"], 0);
        if stopped.is_err() {
            let _ = child.kill();
        }
        within(child)?;
        stopped?;
        until(|| alive() == 0).map_err(|_| "the agent outlived its run".into())
    }

    fn demo(&self) -> Result<(), String> {
        self.run(&["demo"], 0).map(drop)
    }
}

fn need(program: &str, package: &str) -> Result<(), String> {
    if Path::new(program).exists() {
        return Ok(());
    }
    match tools::is_root() {
        true => tools::apt_install(&[package]),
        false => Err(format!("{program} is missing: install {package}")),
    }
}

/// Whether a program of another machine can start one.
fn foreign_programs_start() -> bool {
    Path::new("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists()
}

fn told(output: &Output, args: &[&str], code: i32) -> Result<String, String> {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(code) {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = |text: &str| text.lines().rev().take(3).collect::<Vec<_>>().join(" / ");
    Err(format!(
        "`ralph {}` ended with {}: {} {}",
        args.join(" "),
        output.status,
        last(&stderr),
        last(&stdout)
    ))
}

/// What a child said, if it ends in time.
fn within(mut child: Child) -> Result<Output, String> {
    let pid = child.id();
    let reader = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = std::io::Read::read_to_end(&mut pipe, &mut bytes);
            }
            bytes
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("process {pid} did not end in time"));
            }
        }
    };
    Ok(Output {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

fn until(mut done: impl FnMut() -> bool) -> Result<(), &'static str> {
    let deadline = Instant::now() + PATIENCE / 4;
    while !done() {
        if Instant::now() > deadline {
            return Err("waited in vain");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// How many processes have all of these in their command lines.
fn processes_with(words: &[&str]) -> usize {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            words.iter().all(|word| line.contains(word))
        })
        .count()
}

//! `cargo xtask pictures`: the pictures of the README, made by the program
//! itself, so that they never show what it no longer looks like.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::browser::{Browser, DESK, PHONE, Size};
use crate::cargo;
use crate::e2e::web_stage::{Stage, first_line};
use crate::screen;

/// A picture that is larger than this slows down everybody who reads.
const MOST_BYTES: u64 = 150_000;

pub fn run(root: &Path) -> Result<(), Vec<String>> {
    let made = make(root).map_err(|e| vec![e])?;
    let mut problems = Vec::new();
    for path in made {
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        println!("{} ({bytes} bytes)", path.display());
        if bytes > MOST_BYTES {
            problems.push(format!("{}: {bytes} bytes are too many", path.display()));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

fn make(root: &Path) -> Result<Vec<PathBuf>, String> {
    cargo::debug_ralph(root)?;
    let browser = Browser::start()?;
    let dir = root.join("docs/pictures");
    let place = |name: &str| dir.join(format!("{name}.webp"));
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let demo = Demo::play(root, scratch.path())?;
    browser.dark(false)?;

    show_terminal(&browser, scratch.path(), &screen::page(&demo.last_act()))?;
    browser.small_picture(&place("demo"))?;

    let page = demo.page()?;
    let home = page.url.split("/#").next().unwrap_or_default().to_owned();
    browser.resize(DESK)?;
    browser.go(&page.url)?;
    browser.wait("the run", "document.querySelector('.runs a')")?;
    let link = browser
        .eval("return document.querySelector('.runs a').getAttribute('href').split('/').pop()")?;
    let run = link.as_str().unwrap_or_default().to_owned();
    browser.go(&format!("{home}/#/run/{run}"))?;
    browser.wait("the report", "document.querySelector('footer a')")?;
    browser.eval("window.open = () => null; document.querySelector('footer a').click()")?;
    browser.wait("the outcome", "document.querySelector('h1.good')")?;
    browser.small_picture(&place("report"))?;
    browser.go(&format!("{home}/#/run/{run}"))?;
    browser.wait("the turns", "document.getElementById('tab-turns')")?;
    browser.eval("document.getElementById('tab-turns').click()")?;
    browser.wait(
        "the chart",
        "document.querySelectorAll('svg.chart rect').length > 5",
    )?;
    browser.dark(true)?;
    browser.small_picture(&place("page-dark"))?;
    browser.dark(false)?;

    let mut stage = Stage::set(root)?;
    stage.start(&["--verify", "test -e basket.rs", "--max-iterations", "12"])?;
    browser.go(&stage.url)?;
    for done in 1..=2 {
        browser.wait(
            "the run",
            "document.querySelector('.runs a') || document.querySelector('.hero h1')",
        )?;
        browser.eval("document.querySelector('.runs a')?.click()")?;
        browser.wait(
            "the agent at work",
            "document.querySelectorAll('.out .tool').length >= 2",
        )?;
        stage.go()?;
        browser.wait(
            "progress",
            &format!("document.querySelector('.hero')?.textContent.includes('{done} / 4')"),
        )?;
    }
    browser.wait(
        "the agent at work",
        "document.querySelectorAll('.out .tool').length >= 2",
    )?;
    browser.small_picture(&place("page"))?;
    browser.resize(PHONE)?;
    browser.small_picture(&place("phone"))?;

    let shown = monitor(&stage)?;
    show_terminal(&browser, scratch.path(), &screen::page(&shown))?;
    browser.small_picture(&place("monitor"))?;
    Ok(["demo", "report", "page", "page-dark", "phone", "monitor"]
        .iter()
        .map(|name| place(name))
        .collect())
}

/// Shows a terminal in a window that is just large enough.
fn show_terminal(browser: &Browser, scratch: &Path, page: &str) -> Result<(), String> {
    let file = scratch.join("terminal.html");
    fs::write(&file, page).map_err(|e| e.to_string())?;
    browser.resize(DESK)?;
    browser.go(&format!("file://{}", file.display()))?;
    let size = |what: &str| {
        let script = format!("return Math.ceil(document.body.getBoundingClientRect().{what})");
        let pixels = browser.eval(&script)?.as_u64().unwrap_or(0);
        u32::try_from(pixels).map_err(|e| e.to_string())
    };
    browser.resize(Size {
        width: size("width")?,
        height: size("height")?,
        phone: false,
    })
}

/// The monitor of a run that works, in a real terminal, with its colours.
fn monitor(stage: &Stage) -> Result<String, String> {
    let socket = stage.dir.path().join("tmux");
    let tmux = |args: &[&str]| {
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&socket)
            .args(args)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .output();
        let output = output.map_err(|e| format!("tmux: {e}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let place = stage.project.display().to_string();
    let monitor = format!("'{}' monitor", stage.ralph.display());
    let size = ["-x", "104", "-y", "20", "-c", &place, &monitor];
    tmux(&[&["new-session", "-d"][..], &size].concat())?;
    let until = Instant::now() + Duration::from_secs(20);
    let mut shown = String::new();
    while !shown.contains("2/4 tasks done") && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
        shown = tmux(&["capture-pane", "-p", "-e"])?;
    }
    tmux(&["kill-server"])?;
    match shown.contains("2/4 tasks done") {
        true => Ok(shown),
        false => Err(format!("the monitor shows {shown}")),
    }
}

/// The demo, played once and kept.
struct Demo {
    ralph: PathBuf,
    said: String,
    project: PathBuf,
}

/// A page that is served until this is dropped.
struct Served {
    child: Child,
    url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Demo {
    fn play(root: &Path, scratch: &Path) -> Result<Demo, String> {
        let ralph = cargo::ralph_of_tests(root);
        let output = Command::new(&ralph)
            .args(["demo", "--keep"])
            .env("TMPDIR", scratch)
            .env("HOME", scratch)
            .env("LANG", "C.UTF-8")
            .current_dir(scratch)
            .output()
            .map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let projects = fs::read_dir(scratch).map_err(|e| e.to_string())?;
        let mut paths = projects.flatten().map(|entry| entry.path());
        let is_project = |path: &PathBuf| path.join(".ralph").is_dir();
        let project = paths.find(is_project).ok_or("the demo left no project")?;
        Ok(Demo {
            ralph,
            said,
            project,
        })
    }

    /// From the last lie to the proof.
    fn last_act(&self) -> String {
        let lines: Vec<&str> = self.said.lines().collect();
        let last = |text: &str, before: usize| {
            let before = lines.get(..before).unwrap_or_default();
            before.iter().rposition(|line| line.contains(text))
        };
        let end = last("exit code 0 after", lines.len()).map_or(lines.len(), |at| at + 1);
        let lie = last("Rejected", end).unwrap_or(0);
        let begin = last("Iteration", lie).unwrap_or(0);
        lines.get(begin..end).unwrap_or_default().join("\n")
    }

    fn page(&self) -> Result<Served, String> {
        let mut child = Command::new(&self.ralph)
            .args(["web", "--port", "0"])
            .current_dir(&self.project)
            .env("LANG", "C.UTF-8")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let url = first_line(&mut child)?;
        Ok(Served { child, url })
    }
}

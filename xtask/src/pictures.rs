//! `cargo xtask pictures`: the pictures of the README, made by the program
//! itself, so that they never show what it no longer looks like.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::browser::{Browser, DESK, PHONE, Size};
use crate::e2e;
use crate::e2e::web::{Stage, first_line};

/// A picture that is larger than this slows down everybody who reads.
const MOST_BYTES: u64 = 150_000;
/// As much of the demo as fits on a screen.
const LINES: usize = 40;

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
    e2e::build(root)?;
    let browser = Browser::start()?;
    let dir = root.join("docs/pictures");
    let place = |name: &str| dir.join(format!("{name}.webp"));
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let demo = Demo::play(root, scratch.path())?;
    browser.dark(false)?;

    let terminal = scratch.path().join("demo.html");
    fs::write(&terminal, demo.terminal()).map_err(|e| e.to_string())?;
    browser.resize(Size {
        width: 800,
        height: 800,
        phone: false,
    })?;
    browser.go(&format!("file://{}", terminal.display()))?;
    browser.small_picture(&place("demo"))?;

    let page = demo.page()?;
    let home = page.url.split("/?").next().unwrap_or_default().to_owned();
    browser.resize(DESK)?;
    browser.go(&page.url)?;
    browser.wait("the run", "document.querySelector('.runs a')")?;
    let link = browser
        .eval("return document.querySelector('.runs a').getAttribute('href').split('/').pop()")?;
    let run = link.as_str().unwrap_or_default().to_owned();
    browser.go(&format!("{home}/runs/{run}/report.html"))?;
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
    Ok(["demo", "report", "page", "page-dark", "phone"]
        .iter()
        .map(|name| place(name))
        .collect())
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
        let ralph = e2e::target(root).join("debug/ralph");
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

    /// Its last screen, as a page.
    fn terminal(&self) -> String {
        let lines: Vec<&str> = self.said.lines().collect();
        let end = lines
            .iter()
            .rposition(|line| line.contains("exit code 0 after"))
            .map_or(lines.len(), |at| at + 1);
        let shown = lines
            .get(end.saturating_sub(LINES)..end)
            .unwrap_or_default();
        let text = shown.join("\n");
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        format!(
            "<!doctype html><meta charset=utf-8><style>body{{margin:0;background:#15181c;color:#e8e6e1}}\
             pre{{margin:0;padding:18px 22px;font:14px/18.5px 'DejaVu Sans Mono','Noto Sans Mono CJK TC','Noto Color Emoji',monospace}}\
             </style><pre>{text}</pre>"
        )
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

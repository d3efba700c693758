//! The page in a real browser: it loads, lives, acts, fits a telephone, and
//! can be used by everybody (axe-core).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::install;
use super::web_stage::{Stage, TASKS};
use crate::browser::{Browser, DESK, PHONE};
use crate::cargo;

const AXE: &str = "4.14.0";
/// How soon an event has to be on the page.
const AT_ONCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays everything; `strict` makes a missing browser a failure.
pub fn run(root: &Path, strict: bool) -> Result<(), Vec<String>> {
    cargo::debug_ralph(root).map_err(|e| vec![e])?;
    let browser = match Browser::start() {
        Ok(browser) => browser,
        Err(reason) if strict => return Err(vec![reason]),
        Err(reason) => {
            println!("SKIPPED: the page was not tried in a browser ({reason})");
            return Ok(());
        }
    };
    let axe = install::package(&cargo::target(root), "axe-core", AXE, "axe-core/axe.min.js");
    let axe = match axe {
        Ok(path) => Some(fs::read_to_string(&path).map_err(|e| vec![e.to_string()])?),
        Err(reason) if strict => return Err(vec![reason]),
        Err(reason) => {
            println!("SKIPPED: accessibility ({reason})");
            None
        }
    };
    let stage = Stage::set(root).map_err(|e| vec![e])?;
    let mut show = Show {
        browser,
        stage,
        axe,
        pictures: cargo::target(root).join("screenshots"),
        failures: Vec::new(),
    };
    show.play();
    match show.failures.is_empty() {
        true => Ok(()),
        false => Err(show.failures),
    }
}

/// The sum of red, green and blue in `rgb(20, 23, 27)`.
fn brightness(color: &Value) -> Option<u32> {
    let parts = color.as_str()?.strip_prefix("rgb(")?.strip_suffix(')')?;
    let parts: Result<Vec<u32>, _> = parts.split(',').map(|part| part.trim().parse()).collect();
    Some(parts.ok()?.iter().sum())
}

struct Show {
    browser: Browser,
    stage: Stage,
    axe: Option<String>,
    pictures: PathBuf,
    failures: Vec<String>,
}

impl Show {
    fn play(&mut self) {
        type Scene = fn(&mut Show) -> Result<String, String>;
        let scenes: [(&str, Scene); 13] = [
            ("an empty project says how to begin", Show::nothing_yet),
            ("a run is seen, and each event within a second", Show::lives),
            ("the keyboard is enough", Show::keyboard),
            ("every tab shows what it should", Show::tabs),
            ("a question is answered", Show::answers),
            ("a person steers", Show::steers),
            ("more turns are given", Show::extends),
            ("pause really pauses", Show::pauses),
            ("continue really goes on", Show::goes_on),
            ("a telephone is wide enough", Show::phone),
            ("dark is dark", Show::dark),
            ("the report stands alone", Show::report),
            ("roles are seen, and stop really stops", Show::roles),
        ];
        for (name, scene) in scenes {
            let start = Instant::now();
            let result = scene(self).and_then(|said| self.clean().map(|()| said));
            let seconds = start.elapsed().as_secs_f64();
            match result {
                Ok(said) => println!("ok      {name} ({seconds:.1} s) {said}"),
                Err(why) => {
                    println!("FAILED  {name}: {why}");
                    self.failures.push(format!("{name}: {why}"));
                }
            }
        }
    }

    /// After every scene: no complaint, and nobody asked elsewhere.
    fn clean(&self) -> Result<(), String> {
        let complaints = self.browser.complaints()?;
        if !complaints.is_empty() {
            return Err(format!("the console says {complaints:?}"));
        }
        let home = self.home();
        let elsewhere = |url: &String| {
            let here =
                url.starts_with(&home) || url.starts_with("data:") || url.starts_with("about:");
            !here && !url.starts_with("chrome")
        };
        let foreign: Vec<String> = self
            .browser
            .asked_for()?
            .into_iter()
            .filter(elsewhere)
            .collect();
        match foreign.is_empty() {
            true => Ok(()),
            false => Err(format!("asked elsewhere: {foreign:?}")),
        }
    }

    fn picture(&self, name: &str) -> Result<(), String> {
        self.browser
            .picture(&self.pictures.join(format!("{name}.png")))
    }

    /// No finding of axe that is serious or worse.
    fn accessible(&self, what: &str) -> Result<(), String> {
        let Some(axe) = &self.axe else {
            return Ok(());
        };
        self.browser.eval(axe)?;
        self.browser.eval(
            "window.found = null; const done = list => { window.found = list; };\
             axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations\
             .filter(v => v.impact === 'serious' || v.impact === 'critical')\
             .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | '))),\
             e => done(['axe: ' + e]))",
        )?;
        self.browser.wait("what axe found", "window.found")?;
        let found = self.browser.eval("return window.found")?;
        match found.as_array().map(Vec::as_slice) {
            Some([]) => Ok(()),
            _ => Err(format!("{what}: {found}")),
        }
    }

    fn nothing_yet(&mut self) -> Result<String, String> {
        self.browser.resize(DESK)?;
        self.browser.dark(false)?;
        self.browser.go(&self.stage.url)?;
        self.browser
            .wait("how to begin", "document.querySelector('.runs .empty')")?;
        let address = self.browser.eval("return location.href")?;
        let code = self.stage.url.rsplit('#').next().unwrap_or_default();
        if address.to_string().contains(code) {
            return Err(format!("the key stays in the address: {address}"));
        }
        self.accessible("empty")?;
        self.picture("empty")?;
        Ok(String::new())
    }

    fn lives(&mut self) -> Result<String, String> {
        self.stage
            .start(&["--verify", "test -e basket.rs", "--max-iterations", "12"])?;
        self.browser
            .wait("the run in the list", "document.querySelector('.runs a')")?;
        self.picture("overview")?;
        self.accessible("overview")?;
        self.browser
            .eval("document.querySelector('.runs a').click()")?;
        self.browser.wait(
            "the task",
            "document.querySelector('.hero h1')?.textContent.includes('T001')",
        )?;
        let mut slowest = Duration::ZERO;
        for done in 1..=2 {
            self.stage.go()?;
            slowest = slowest.max(self.shown_within(done)?);
        }
        self.picture("run")?;
        self.accessible("run")?;
        match slowest < AT_ONCE {
            true => Ok(format!("slowest: {} ms", slowest.as_millis())),
            false => Err(format!(
                "an event took {} ms to be seen",
                slowest.as_millis()
            )),
        }
    }

    /// From the line in the event log to the number on the page.
    fn shown_within(&self, done: usize) -> Result<Duration, String> {
        let until = Instant::now() + PATIENCE;
        let mut written = None;
        let on_page =
            format!("return document.querySelector('.hero')?.textContent.includes('{done} / 4')");
        while Instant::now() < until {
            let lines = self
                .stage
                .events()
                .matches("\"iteration_complete\"")
                .count();
            if lines >= done && written.is_none() {
                written = Some(Instant::now());
            }
            if self.browser.eval(&on_page)? == true {
                return Ok(written.map_or(Duration::ZERO, |at| at.elapsed()));
            }
        }
        Err(format!("{done} / 4 was never seen"))
    }

    fn keyboard(&mut self) -> Result<String, String> {
        self.browser
            .eval("document.getElementById('tab-output').focus()")?;
        // The arrow keys, in the words of the standard.
        self.browser.keys("\u{E014}")?;
        self.browser.wait(
            "the next tab",
            "document.activeElement.id === 'tab-turns' && document.getElementById('tab-turns').ariaSelected === 'true'",
        )?;
        self.browser.keys("\u{E012}")?;
        self.browser.wait(
            "the tab before",
            "document.activeElement.id === 'tab-output'",
        )?;
        let seen = self
            .browser
            .eval("return getComputedStyle(document.activeElement).outlineStyle !== 'none'")?;
        match seen == true {
            true => Ok(String::new()),
            false => Err("the focus can't be seen".into()),
        }
    }

    fn tabs(&mut self) -> Result<String, String> {
        for (tab, seen) in [
            (
                "output",
                "document.querySelectorAll('.out .tool').length >= 1",
            ),
            (
                "turns",
                "document.querySelectorAll('tbody tr').length >= 2 && document.querySelectorAll('svg.chart rect').length >= 4",
            ),
            (
                "events",
                "document.querySelectorAll('tbody tr').length >= 4",
            ),
            ("checks", "document.querySelector('#panel td.good')"),
            ("guard", "document.querySelector('#panel .empty')"),
            (
                "diff",
                "document.querySelectorAll('.diff .add').length >= 3",
            ),
        ] {
            self.browser
                .eval(&format!("document.getElementById('tab-{tab}').click()"))?;
            self.browser.wait(tab, seen)?;
            self.picture(&format!("tab-{tab}"))?;
            self.accessible(tab)?;
        }
        self.browser
            .eval("document.getElementById('tab-output').click()")?;
        Ok(String::new())
    }

    fn answers(&mut self) -> Result<String, String> {
        self.stage.ask()?;
        self.browser.wait(
            "the question",
            "document.querySelector('.question')?.textContent.includes('Which currency')",
        )?;
        self.picture("question")?;
        self.accessible("question")?;
        self.browser.resize(PHONE)?;
        self.fits("phone-question")?;
        self.browser.resize(DESK)?;
        self.browser.press("TWD")?;
        self.browser
            .wait("no question", "!document.querySelector('.question')")?;
        match self.stage.events().contains("TWD") {
            true => Ok(String::new()),
            false => Err("the run knows nothing of the answer".into()),
        }
    }

    /// By the buttons beside a task, and by a line (issue 23).
    fn steers(&mut self) -> Result<String, String> {
        let last = "[...document.querySelectorAll('li.open')].at(-1)";
        let push = |verb: &str| {
            let button = format!("{last}.querySelector('button[aria-label^=\"{verb} \"]')");
            self.browser.eval(&format!("{button}.click()"))
        };
        let skipped = format!("{last}.textContent.includes('(skipped)')");
        push("Skip")?;
        self.browser.wait("that it is left out", &skipped)?;
        self.picture("steered")?;
        self.accessible("steered")?;
        push("Unskip")?;
        self.browser
            .wait("that it is back", &format!("!{skipped}"))?;
        self.browser
            .eval("document.querySelector('.steering input').focus()")?;
        self.browser.keys("keep mind the cache\u{e007}")?;
        let told = "document.querySelector('ul.steering').textContent.includes('mind the cache')";
        self.browser.wait("the hint", told)?;
        let events = self.stage.events();
        match events.matches("\"steered\"").count() {
            3 => Ok(String::new()),
            count => Err(format!("the run heard {count} wishes of 3")),
        }
    }

    fn extends(&mut self) -> Result<String, String> {
        self.browser.press("More turns")?;
        self.browser.wait(
            "the longer limit",
            "document.querySelector('.hero').textContent.includes('/ 22')",
        )?;
        Ok(String::new())
    }

    fn pauses(&mut self) -> Result<String, String> {
        self.browser.press("Pause")?;
        self.browser.wait(
            "that it was heard",
            "document.getElementById('notice').textContent.includes('pauses')",
        )?;
        self.stage.go()?;
        let code = self.stage.ended()?;
        self.browser.wait(
            "paused",
            "document.querySelector('.badge').textContent === 'paused'",
        )?;
        self.picture("paused")?;
        self.accessible("paused")?;
        match code {
            3 => Ok(String::new()),
            code => Err(format!("the run ended with {code}")),
        }
    }

    fn goes_on(&mut self) -> Result<String, String> {
        self.browser.press("Continue")?;
        self.browser.wait(
            "work",
            "document.querySelector('.badge').textContent === 'working'",
        )?;
        self.stage.go()?;
        self.browser.wait(
            "the end",
            "document.querySelector('.badge').textContent === 'complete'",
        )?;
        self.browser
            .eval("document.getElementById('tab-checks').click()")?;
        self.browser
            .wait("the check", "document.querySelector('#panel td.good')")?;
        self.browser
            .eval("document.getElementById('tab-turns').click()")?;
        self.picture("complete")?;
        self.accessible("complete")?;
        Ok(String::new())
    }

    /// Nothing is wider than the screen.
    fn fits(&self, name: &str) -> Result<(), String> {
        let fits = self
            .browser
            .eval("return document.scrollingElement.scrollWidth <= innerWidth + 1")?;
        self.picture(name)?;
        self.accessible(name)?;
        match fits == true {
            true => Ok(()),
            false => Err(format!("{name} is wider than the screen")),
        }
    }

    fn phone(&mut self) -> Result<String, String> {
        self.browser.resize(PHONE)?;
        for (name, at) in [("phone-run", None), ("phone-overview", Some("#/"))] {
            if let Some(at) = at {
                self.browser.eval(&format!("location.hash = '{at}'"))?;
                self.browser
                    .wait("the list", "document.querySelector('.runs a')")?;
            }
            self.fits(name)?;
        }
        self.browser
            .eval("document.querySelector('.runs a').click()")?;
        self.browser
            .wait("the run", "document.querySelector('.hero h1')")?;
        self.browser.resize(DESK)?;
        Ok(String::new())
    }

    fn dark(&mut self) -> Result<String, String> {
        let background = "return getComputedStyle(document.body).backgroundColor";
        let light = self.browser.eval(background)?;
        self.browser.dark(true)?;
        let dark = self.browser.eval(background)?;
        self.browser
            .eval("document.getElementById('tab-turns').click()")?;
        self.picture("dark")?;
        self.accessible("dark")?;
        self.browser.dark(false)?;
        match (brightness(&light), brightness(&dark)) {
            (Some(600..), Some(..=150)) => Ok(String::new()),
            _ => Err(format!("light is {light}, dark is {dark}")),
        }
    }

    fn home(&self) -> String {
        let home = self.stage.url.split("/#").next();
        home.unwrap_or_default().to_owned()
    }

    fn roles(&mut self) -> Result<String, String> {
        let tasks = self.stage.project.join("tasks.md");
        fs::write(tasks, TASKS).map_err(|e| e.to_string())?;
        self.stage.start(&["--roles", "--max-iterations", "12"])?;
        self.browser.go(&format!("{}/", self.home()))?;
        // A run that goes on is shown at once; the list, where it began later,
        // may be there before it is in it.
        self.browser
            .wait("the run", "document.querySelector('.runs .busy, .hero h1')")?;
        self.browser
            .eval("document.querySelector('.runs .busy')?.closest('a').click()")?;
        self.role("DEVELOPER")?;
        self.stage.go()?;
        self.role("REVIEWER")?;
        self.picture("roles")?;
        self.accessible("roles")?;
        self.browser.press("Stop now")?;
        let code = self.stage.ended()?;
        self.browser.wait(
            "stopped",
            "document.querySelector('.badge').textContent === 'interrupted'",
        )?;
        match code {
            130 => Ok(String::new()),
            code => Err(format!("the run ended with {code}")),
        }
    }

    fn role(&self, role: &str) -> Result<(), String> {
        let active = "document.querySelector('.roles .active')?.textContent";
        self.browser
            .wait(role, &format!("{active}.startsWith('{role}')"))
    }

    fn report(&mut self) -> Result<String, String> {
        // In this tab, since the driver follows no other.
        self.browser
            .eval("window.open = () => null; document.querySelector('footer a').click()")?;
        self.browser.wait(
            "the outcome",
            "document.querySelector('h1.good')?.textContent === 'complete'",
        )?;
        self.picture("report")?;
        self.accessible("report")?;
        self.browser.dark(true)?;
        self.picture("report-dark")?;
        self.accessible("report in the dark")?;
        self.browser.dark(false)?;
        let charts = self
            .browser
            .eval("return document.querySelectorAll('svg[role=img] rect').length")?;
        Ok(format!("{charts} marks in the charts"))
    }
}

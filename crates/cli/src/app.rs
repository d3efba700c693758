//! What every command needs: where the project is, which language is spoken,
//! what the terminal can show, and where to write.

use std::borrow::Cow;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ralph_core::config;
use ralph_core::display::{Screen, Style};
use ralph_core::lang::{Lang, Say};
use ralph_core::text::{redact, redact_values};
use ralph_core::tr;
use ralph_engine::{git, lanes};
use ralph_store::home::StateHome;
use ralph_store::layout::Layout;
use serde_json::Value;

use crate::args::Global;
use crate::{FAILED, out, settings};

#[derive(Debug, Clone)]
pub struct App {
    pub root: PathBuf,
    pub home: StateHome,
    /// The person has said so with the command.
    pub trusts: bool,
    pub screen: Screen,
}

impl App {
    /// `Err` where there is no place to keep anything, once that is said.
    pub fn new(global: &Global) -> Result<App, u8> {
        let root = match &global.root {
            Some(root) => std::path::absolute(root).unwrap_or_else(|_| root.clone()),
            None => {
                let here = std::env::current_dir().unwrap_or_default();
                git::find_root(&here).unwrap_or(here)
            }
        };
        let lang = lang_of(global, &root);
        let style = Style {
            unicode: locale_is_utf8(),
            color: stdout_has_color(),
        };
        let Some(home) = StateHome::of_process() else {
            out::error(&format!("ralph: {}", no_home(lang)));
            return Err(FAILED);
        };
        let app = App {
            root,
            home,
            trusts: global.trust_project,
            screen: Screen {
                lang,
                style,
                width: terminal_width(),
            },
        };
        match global.lane {
            None => Ok(app),
            Some(lane) => app.in_lane(lane),
        }
    }

    /// A lane is an ordinary run in a tree of its own.
    fn in_lane(self, lane: u32) -> Result<App, u8> {
        let layout = self.layout();
        let run = layout.last_written().ok().flatten();
        match run.and_then(|run| lanes::project_in(&layout, &run.id, lane)) {
            Some(root) => Ok(App { root, ..self }),
            None => self.refuse(&tr!(
                self.lang(),
                "there is no lane {lane} here; `ralph lanes` shows those that are"
            )),
        }
    }

    /// Where everything of this project stands.
    pub fn layout(&self) -> Layout {
        Layout::new(&self.root, &self.home)
    }

    /// The language that a run was started with, unless a flag says another.
    pub fn with_lang(mut self, global: &Global, setting: &str) -> App {
        if global.lang.is_none()
            && let Some(lang) = Lang::from_name(setting)
        {
            self.screen.lang = lang;
        }
        self
    }

    /// What a program reads is never translated.
    pub fn in_english(mut self) -> App {
        self.screen.lang = Lang::En;
        self
    }

    pub fn lang(&self) -> Lang {
        self.screen.lang
    }

    /// A text for a person. No secret is shown, whoever wrote it (XCUT-06).
    pub fn tell(&self, text: &str) {
        let text = self.screen.in_style(text);
        out::people(&ended(&redact(&text)), self.screen.style.color);
    }

    /// A text for a program or a file, as it is.
    pub fn print(&self, text: &str) {
        out::data(&ended(text));
    }

    pub fn json(&self, value: &Value) {
        let mut value = value.clone();
        redact_values(&mut value);
        out::json(&value);
    }

    pub fn warn(&self, text: &str) {
        let text = self.screen.in_style(text);
        out::error(&format!("ralph: {}", redact(&text)));
    }

    /// Ends a command that can't do what was asked, once it is said why.
    pub fn refuse<T>(&self, why: &str) -> Result<T, u8> {
        self.warn(why);
        Err(FAILED)
    }

    pub fn fail<T>(&self, problem: &dyn Say) -> Result<T, u8> {
        self.refuse(&problem.say(self.lang()))
    }

    /// Ends a command whose last word this is.
    pub fn done(&self, text: &str) -> Exit {
        self.tell(text);
        Ok(0)
    }

    /// JSON for a program, words for a person.
    pub fn answer(
        &self,
        json: bool,
        value: impl FnOnce() -> Value,
        words: impl FnOnce() -> String,
    ) -> Exit {
        match json {
            true => self.json(&value()),
            false => self.tell(&words()),
        }
        Ok(0)
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, u8> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.or_else(|error| self.refuse(&error.to_string()))?;
        let done = runtime.block_on(work);
        // A thread that still waits for a key press must not hold the end up.
        runtime.shutdown_background();
        Ok(done)
    }
}

pub fn no_home(lang: Lang) -> String {
    tr!(
        lang,
        "there is no home directory to keep runs in; set HOME, or XDG_STATE_HOME, to an absolute path"
    )
}

/// The exit code of a command; an `Err` is one whose reason has been said.
pub type Exit = Result<u8, u8>;

pub trait OrFail<T> {
    /// Says what is wrong, if anything is.
    fn or_fail(self, app: &App) -> Result<T, u8>;
}

impl<T, E: Say> OrFail<T> for Result<T, E> {
    fn or_fail(self, app: &App) -> Result<T, u8> {
        self.or_else(|error| app.fail(&error))
    }
}

fn ended(text: &str) -> Cow<'_, str> {
    match text.ends_with('\n') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{text}\n")),
    }
}

/// One line of an answer; `None` at the end of the input.
pub fn ask(question: &str) -> Option<String> {
    out::people(question, stdout_has_color());
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(n) if n > 0 => Some(line.trim().to_owned()),
        _ => None,
    }
}

pub fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Whether somebody can be asked: both ends are a terminal.
pub fn is_interactive() -> bool {
    stdin_is_terminal() && std::io::stdout().is_terminal()
}

/// Whether the terminal can be written to anywhere but at its end.
pub fn can_move_the_cursor() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn stdout_has_color() -> bool {
    std::io::stdout().is_terminal()
        && can_move_the_cursor()
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// The flag, else the settings, else the locale.
fn lang_of(global: &Global, root: &Path) -> Lang {
    if let Some(name) = &global.lang {
        return Lang::from_name(name).unwrap_or_else(locale_lang);
    }
    config::lang(&settings::sources(root, Vec::new())).unwrap_or_else(environment_lang)
}

/// What `ralph hook --lang` says; it goes before the settings.
static HOOK_LANG: OnceLock<Lang> = OnceLock::new();

pub fn choose_hook_lang(lang: Option<Lang>) {
    if let Some(lang) = lang {
        HOOK_LANG.get_or_init(|| lang);
    }
}

/// In a hook: its flag, else the settings, else the locale.
pub fn hook_lang(configured: &str) -> Lang {
    let chosen = HOOK_LANG.get().copied();
    let lang = chosen.or_else(|| Lang::from_name(configured));
    lang.unwrap_or_else(environment_lang)
}

/// What is known where no settings could be read.
pub fn environment_lang() -> Lang {
    if let Some(lang) = HOOK_LANG.get() {
        return *lang;
    }
    let chosen = std::env::var("RALPH_LANG").ok();
    chosen
        .as_deref()
        .and_then(Lang::from_name)
        .unwrap_or_else(locale_lang)
}

fn locale() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|v| !v.is_empty())
}

fn locale_lang() -> Lang {
    locale()
        .as_deref()
        .and_then(Lang::from_name)
        .unwrap_or_default()
}

/// Boxes and symbols need UTF-8; no locale at all means the C locale.
pub fn locale_is_utf8() -> bool {
    let ctype = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|v| !v.is_empty())
        .unwrap_or_default();
    let ctype = ctype.to_ascii_lowercase();
    cfg!(windows) || ctype.contains("utf-8") || ctype.contains("utf8")
}

fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns
        .or_else(ralph_engine::terminal::columns)
        .unwrap_or(80)
}

/// As wide as the terminal is by now: somebody may have made it narrower.
pub fn follow_width(screen: &mut Screen) {
    if ralph_engine::terminal::columns().is_some() {
        screen.width = terminal_width();
    }
}

/// This program, for whoever has to start it again.
pub fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "ralph".into())
}

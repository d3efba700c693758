//! `ralph hook EVENT`: what an agent's client asks before and after it acts.
//! This file is the guard as a hook (`pre-tool-use`); `session` answers the
//! events of a loop inside a session.
//!
//! Every tool call of an agent pays for this path, so it is chosen before
//! anything else of the program starts. It ends with an answer in the host's
//! own words whatever happens: a payload that can't be read, a configuration
//! that can't be used and even a panic are verdicts (`guard.fail`), with a
//! message. Exit code 2 is a block and nothing else.

mod answer;
mod args;
mod audit;
mod patience;
mod payload;
mod session;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ralph_core::config::{GuardFailure, GuardSettings};
use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::Event;
use ralph_guard::{Decision, ToolCall, Verdict};
use ralph_store::layout::Layout;

use crate::guard::settings::{self, Loaded};
use crate::guard::{Place, project};
use crate::{BLOCKED, FAILED, app, out};
use answer::Answer;
use args::Options;
pub use args::names;
use payload::Payload;

/// More than any tool call needs; the shell text in it may be far shorter.
const MAX_PAYLOAD: u64 = 4 * 1024 * 1024;
/// What is read of an over-long payload, so that the host can finish writing.
const MAX_DRAINED: u64 = 64 * 1024 * 1024;

/// The rule that is named where the guard itself failed.
const FAILURE: &str = "guard.failure";

/// Whether a failure lets a call pass; known once the settings are.
static FAILS_OPEN: AtomicBool = AtomicBool::new(false);

/// Runs a hook; `args` are those behind `ralph hook`.
pub fn run(args: &[OsString]) -> u8 {
    match args::parse(args) {
        Ok(options) if options.event == Event::PreToolUse => pre_tool_use(&options),
        Ok(options) => session::run(&options),
        Err(usage) => {
            let lang = app::environment_lang();
            out::error(&format!("ralph: {}", usage.say(lang)));
            if is_guard(args) { BLOCKED } else { FAILED }
        }
    }
}

/// Whether words that could not be understood meant the guard: a client lets a
/// call pass whose hook ends with anything but 2.
pub fn is_guard(args: &[OsString]) -> bool {
    args.iter().any(|word| {
        let word = word.to_string_lossy().to_ascii_lowercase();
        word.replace(['-', '_'], "") == "pretooluse"
    })
}

fn pre_tool_use(options: &Options) -> u8 {
    std::panic::set_hook(Box::new(answer_a_panic));
    let bytes = read_payload();
    patience::watch(bytes.as_ref().map_or(0, Vec::len));
    let payload = bytes.and_then(|bytes| Payload::decode(&bytes, options.host));
    #[cfg(debug_assertions)]
    assert!(
        std::env::var_os("RALPH_HOOK_PANIC").is_none(),
        "as the test wanted"
    );
    let root = root_of(options, payload.as_ref().ok());
    let loaded = settings::load(&root);
    let settled = loaded.as_ref().ok().and_then(|loaded| loaded.lang);
    let lang = options.lang.or(settled);
    let lang = lang.unwrap_or_else(app::environment_lang);
    if let Ok(loaded) = &loaded {
        let open = loaded.settings.fail == GuardFailure::Open;
        FAILS_OPEN.store(open, Ordering::Relaxed);
    }
    let home = options.state_home();
    let call = Call {
        layout: home.map(|home| Layout::new(&root, &home)),
        root: &root,
        payload: payload.as_ref().ok(),
    };
    let judged = match (&payload, loaded) {
        (Err(bad), loaded) => Judged::failed(bad.say(lang), fail_of(loaded.as_ref().ok())),
        (Ok(payload), Err(trouble)) if payload.only_reads() => {
            // Nothing is lost by reading: the built-in rules judge it.
            let mut judged = call.judge(payload, &GuardSettings::default());
            judged.note = trouble.say(lang);
            judged
        }
        (Ok(_), Err(trouble)) => Judged::failed(trouble.say(lang), GuardFailure::Closed),
        (Ok(_), Ok(loaded)) if !loaded.settings.enabled => Judged::default(),
        (Ok(payload), Ok(loaded)) => {
            let mut judged = call.judge(payload, &loaded.settings);
            judged.shadow = loaded.settings.shadow;
            judged.note = loaded.note(lang);
            judged
        }
    };
    let host = options.host.or(payload.as_ref().ok().map(|p| p.host));
    let dialect = payload.as_ref().map(|p| p.dialect).unwrap_or_default();
    let mut answer = judged.answer(lang);
    if let (Answer::Allow | Answer::Warn(_), Ok(payload)) = (&answer, &payload)
        && let Some(layout) = &call.layout
        && let Some(of_role) = session::roles::before(payload, layout, lang)
    {
        answer = of_role;
    }
    if let (Answer::Allow, Ok(payload)) = (&answer, &payload)
        && let Some(briefed) = session::context::before(payload, &root, lang)
    {
        answer = briefed;
    }
    audit::asked(&call);
    let output = answer.output(host.unwrap_or_default(), dialect, is_headless(), lang);
    let _ = std::io::stdout().lock().write_all(output.stdout.as_bytes());
    let _ = std::io::stdout().lock().flush();
    let _ = std::io::stderr().lock().write_all(output.stderr.as_bytes());
    audit::record(&call, &judged, host.unwrap_or_default());
    output.code
}

/// The call that is judged, and where it belongs.
struct Call<'a> {
    root: &'a Path,
    /// `None` where the person has no home.
    layout: Option<Layout>,
    payload: Option<&'a Payload>,
}

/// What became of it.
#[derive(Default)]
struct Judged {
    verdict: Verdict,
    /// Set where the guard itself failed.
    failure: Option<(GuardFailure, String)>,
    shadow: bool,
    /// Something about the settings that the answer has to say.
    note: String,
}

impl Call<'_> {
    fn judge(&self, payload: &Payload, settings: &GuardSettings) -> Judged {
        let place = Place::new(self.root);
        let cwd = match &payload.cwd {
            Some(cwd) => project::real(Path::new(cwd)),
            None => self.root.to_owned(),
        };
        let call = ToolCall {
            tool: &payload.tool,
            input: &payload.input,
            cwd: &cwd.to_string_lossy(),
        };
        Judged {
            verdict: ralph_guard::judge(&call, &place.context(settings)),
            ..Judged::default()
        }
    }
}

impl Judged {
    fn failed(why: String, fail: GuardFailure) -> Judged {
        Judged {
            failure: Some((fail, why)),
            ..Judged::default()
        }
    }

    /// Whether the call is to be held up, had it not been for shadow mode.
    fn blocks(&self) -> bool {
        match &self.failure {
            Some((fail, _)) => *fail == GuardFailure::Closed,
            None => self.verdict.decision > Decision::Allow,
        }
    }

    fn answer(&self, lang: Lang) -> Answer {
        if let Some((fail, why)) = &self.failure {
            return match fail {
                GuardFailure::Closed => Answer::Deny(closed(why, lang)),
                GuardFailure::Open => Answer::Warn(open(why, lang)),
            };
        }
        if self.verdict.rule.is_none() || self.shadow {
            return Answer::Allow;
        }
        let message = self.verdict.say(lang);
        match self.verdict.decision {
            Decision::Allow => Answer::Warn(message.replacen("BLOCKED", "WARNING", 1)),
            Decision::Ask => Answer::Ask(self.with_note(message)),
            Decision::Block => Answer::Deny(self.with_note(message)),
        }
    }

    fn with_note(&self, message: String) -> String {
        if self.note.is_empty() {
            return message;
        }
        format!("{message}\n{}", self.note)
    }
}

fn fail_of(loaded: Option<&Loaded>) -> GuardFailure {
    loaded.map_or(GuardFailure::Closed, |loaded| loaded.settings.fail)
}

fn closed(why: &str, lang: Lang) -> String {
    tr!(
        lang,
        "BLOCKED: the guard could not judge this call - {why} [{FAILURE}]\nTell the person who runs this; other calls may work."
    )
}

fn open(why: &str, lang: Lang) -> String {
    tr!(
        lang,
        "WARNING: the guard could not judge this call and let it pass (guard.fail is open) - {why} [{FAILURE}]"
    )
}

/// Why no call could be read.
#[derive(Debug, PartialEq, Eq, Say)]
pub enum Bad {
    #[say("its payload can't be read: {kind}", kind = _0)]
    Unreadable(std::io::ErrorKind),
    #[say("its payload is longer than 4 MiB; split the call")]
    TooLong,
    #[say("its payload is no JSON object; a hook of an agent gives it on standard input")]
    NotJson,
    #[say("its payload names no tool")]
    NoTool,
}

fn read_payload() -> Result<Vec<u8>, Bad> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock();
    let read = stdin.by_ref().take(MAX_PAYLOAD + 1).read_to_end(&mut bytes);
    match read {
        Err(error) => Err(Bad::Unreadable(error.kind())),
        Ok(_) if bytes.len() as u64 > MAX_PAYLOAD => {
            let rest = &mut stdin.take(MAX_DRAINED);
            let _ = std::io::copy(rest, &mut std::io::sink());
            Err(Bad::TooLong)
        }
        Ok(_) => Ok(bytes),
    }
}

/// What the command line says, else what the host says about its project,
/// else where it stands. The directory of the call comes last: an agent can
/// change it.
fn root_of(options: &Options, payload: Option<&Payload>) -> PathBuf {
    if let Some(root) = &options.root {
        return project::real(root);
    }
    let host = options.host.or(payload.map(|p| p.host)).unwrap_or_default();
    let named = host
        .hooks()
        .project
        .and_then(std::env::var_os)
        .map(PathBuf::from)
        .or_else(|| payload?.project.clone().map(PathBuf::from))
        .or_else(|| payload?.cwd.clone().map(PathBuf::from))
        .filter(|path| path.is_absolute());
    let start = named.or_else(|| std::env::current_dir().ok());
    project::root_above(&start.unwrap_or_else(|| PathBuf::from("/")))
}

/// Whether nobody is there to be asked.
fn is_headless() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("RALPH_RUN_ID")
        || std::env::var("CLAUDE_CODE_SESSION_ATTENDED").is_ok_and(|value| value == "0")
}

/// A release build aborts at a panic, which most hosts take for consent. So
/// the answer is given here, before: every host takes exit code 2 for a block.
fn answer_a_panic(panic: &PanicHookInfo<'_>) {
    let lang = app::environment_lang();
    let place = panic
        .location()
        .map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    let why = tr!(lang, "the guard has a fault{place}; please report it");
    let is_open = FAILS_OPEN.load(Ordering::Relaxed);
    let text = if is_open {
        open(&why, lang)
    } else {
        closed(&why, lang)
    };
    let _ = writeln!(std::io::stderr(), "{text}");
    std::process::exit(if is_open { 0 } else { i32::from(BLOCKED) });
}

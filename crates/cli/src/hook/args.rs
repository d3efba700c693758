//! The command line of a hook, read by hand: a parser of arguments costs more
//! than the verdict.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use ralph_core::lang::{Lang, Say};
use ralph_engine::agents::Client;
use ralph_engine::agents::hooks::Event;
use ralph_store::home::StateHome;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub event: Event,
    pub host: Option<Client>,
    pub root: Option<PathBuf>,
    /// Say a block with exit code 2 and standard error, not with JSON
    /// (STOP-03).
    pub exit_code_mode: bool,
    pub lang: Option<Lang>,
    /// Where the person's state is, as whoever wrote the entry knows it: a
    /// client may set variables that the repository chose.
    pub state: Option<PathBuf>,
    /// After so long the client ends the hook, as `ralph init` wrote it.
    pub within: Option<Duration>,
}

#[derive(Debug, PartialEq, Eq, Say)]
pub enum Usage {
    #[say("there is no host \"{name}\"; use one of: {known}", name = _0, known = names(Client::HOSTS))]
    UnknownHost(String),
    #[say("there is no hook \"{name}\"; write `ralph hook [--host HOST] EVENT` with one of: {known}", name = _0, known = names(Event::ALL))]
    UnknownEvent(String),
    #[say("{what} is missing; write `ralph hook [--host HOST] EVENT` with one of: {known}", what = _0, known = names(Event::ALL))]
    Missing(&'static str),
}

/// What can be chosen, for a sentence.
pub fn names<T: Copy + Into<&'static str>>(all: &[T]) -> String {
    let names: Vec<&str> = all.iter().map(|&it| it.into()).collect();
    names.join(", ")
}

impl Options {
    pub fn state_home(&self) -> Option<StateHome> {
        let told = self.state.as_ref().filter(|dir| dir.is_absolute());
        told.map(StateHome::at).or_else(StateHome::of_process)
    }
}

pub fn parse(args: &[OsString]) -> Result<Options, Usage> {
    let mut options = Options::default();
    let mut event = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_ref(), None),
        };
        let mut next = || {
            let given = value
                .take()
                .or_else(|| words.next().map(|word| word.to_string_lossy().into_owned()));
            given.filter(|text| !text.is_empty())
        };
        match name {
            "--host" => {
                let name = next().ok_or(Usage::Missing("HOST"))?;
                let host = Client::host(&name).ok_or(Usage::UnknownHost(name))?;
                options.host = Some(host);
            }
            "--root" => options.root = Some(next().ok_or(Usage::Missing("DIR"))?.into()),
            "--lang" => {
                // One that nobody speaks is no reason to judge nothing.
                let name = next().ok_or(Usage::Missing("LANG"))?;
                options.lang = Lang::from_name(&name);
            }
            "--state" => options.state = Some(next().ok_or(Usage::Missing("DIR"))?.into()),
            "--exit-code-mode" => options.exit_code_mode = true,
            "--within" => {
                let seconds = next().and_then(|text| text.parse().ok());
                let seconds = seconds.ok_or(Usage::Missing("SECONDS"))?;
                options.within = Some(Duration::from_secs(seconds));
            }
            name => match name.parse() {
                Ok(named) => event = Some(named),
                Err(_) => return Err(Usage::UnknownEvent(word.into_owned())),
            },
        }
    }
    options.event = event.ok_or(Usage::Missing("EVENT"))?;
    Ok(options)
}

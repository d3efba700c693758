//! Runs one command of a client and takes its answer, within bounds.

use std::io;
use std::path::Path;
use std::time::Duration;

use ralph_core::forge::{Trouble, TroubleKind};
use tokio::sync::watch;

use crate::excerpt::shortened;
use crate::git::Apart;
use crate::supervise::{self, Ending, Sink, Spec, Stop};

pub(super) struct Runner<'a> {
    pub root: &'a Path,
    pub env: &'a [(String, String)],
    pub stop: watch::Receiver<Stop>,
    pub patience: Duration,
}

/// What a client said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A list of checks or a log is smaller than this; more is not read.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;
/// How long a client may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A client must neither ask, nor page, nor colour, nor look for updates.
const QUIET: [(&str, &str); 9] = [
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GH_PAGER", "cat"),
    ("PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CLICOLOR_FORCE", "0"),
    ("NO_PROMPT", "1"),
    ("GLAB_CHECK_UPDATE", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// A person's own configuration may name hooks by a path from the project.
const NO_HOOKS: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_0", "/dev/null"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

impl Runner<'_> {
    /// Runs a command to its end; an exit code is for the caller to judge.
    pub async fn run(&self, program: &str, args: &[String]) -> Result<Said, Trouble> {
        let quiet = QUIET.iter().map(|(k, v)| (k.into(), v.into()));
        let given = self.env.iter().map(|(k, v)| (k.into(), v.into()));
        let trouble = |kind, words: String| Trouble {
            kind,
            program: program.into(),
            words: shortened(words.trim(), 600),
        };
        // Clients ask `git` too, and pushing starts hooks and `ssh`: none of
        // them is shown the configuration that lies in the project.
        let apart = Apart::of(self.root).ok_or_else(|| {
            let words = "git does not know this folder".into();
            trouble(TroubleKind::NoRepository, words)
        })?;
        let apart_of = (apart.variables().into_iter()).map(|(k, v)| (k.into(), v.to_owned()));
        let no_hooks = NO_HOOKS.iter().map(|(k, v)| (k.into(), v.into()));
        let spec = Spec {
            args: args.iter().map(Into::into).collect(),
            env: quiet.chain(given).chain(apart_of).chain(no_hooks).collect(),
            env_remove: vec!["GH_FORCE_TTY".into(), "GH_DEBUG".into(), "DEBUG".into()],
            grace: GRACE,
            ..Spec::plain(program.into(), self.root, self.patience)
        };
        let mut output = Output::default();
        let report = supervise::run(spec, &mut output, self.stop.clone()).await;
        match report.ending {
            Ending::Exited(code) if output.cut => Err(trouble(
                TroubleKind::Strange,
                format!("exit code {code}, and more output than anybody reads"),
            )),
            Ending::Exited(code) => Ok(Said {
                code,
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            }),
            Ending::SpawnFailed {
                missing: true,
                message,
            } => Err(trouble(TroubleKind::Missing, message)),
            Ending::SpawnFailed { message, .. } => Err(trouble(TroubleKind::Strange, message)),
            Ending::TimedOut => Err(trouble(
                TroubleKind::Silent,
                format!("no answer within {} s", self.patience.as_secs()),
            )),
            Ending::Stopped => Err(trouble(TroubleKind::Silent, "stopped".into())),
            Ending::Signalled(signal) => {
                Err(trouble(TroubleKind::Strange, format!("signal {signal}")))
            }
        }
    }
}

#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    cut: bool,
}

fn take(into: &mut Vec<u8>, cut: &mut bool, chunk: &[u8]) {
    if into.len() + chunk.len() > LONGEST_ANSWER {
        *cut = true;
    } else {
        into.extend_from_slice(chunk);
    }
}

impl Sink for Output {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        take(&mut self.stdout, &mut self.cut, chunk);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        take(&mut self.stderr, &mut self.cut, chunk);
        Ok(())
    }
}

//! What the clients of all forges share: an answer in JSON, an exit code, the
//! words of a failure.

use ralph_core::forge::{Trouble, TroubleKind};
use serde_json::Value;

use super::runner::{Runner, Said};

/// The client of a forge: its name, and how its failures are told apart.
pub(super) struct Client {
    pub program: &'static str,
    pub kind_of: fn(&Said) -> (TroubleKind, String),
}

impl Client {
    /// Whatever the client said, an exit code of its own included.
    pub async fn run(&self, runner: &Runner<'_>, args: &[String]) -> Result<Said, Trouble> {
        runner.run(self.program, args).await
    }

    /// What the client printed, where it succeeded.
    pub async fn done(&self, runner: &Runner<'_>, args: &[String]) -> Result<String, Trouble> {
        let said = self.run(runner, args).await?;
        match said.code {
            0 => Ok(said.stdout),
            _ => Err(self.trouble(&said)),
        }
    }

    /// The same, as JSON.
    pub async fn ask(&self, runner: &Runner<'_>, args: &[String]) -> Result<Value, Trouble> {
        let answer = self.done(runner, args).await?;
        serde_json::from_str(&answer).map_err(|error| self.strange(&error.to_string()))
    }

    pub fn trouble(&self, said: &Said) -> Trouble {
        let (kind, words) = (self.kind_of)(said);
        Trouble {
            kind,
            program: self.program.into(),
            words,
        }
    }

    /// An answer that does not say what it should.
    pub fn strange(&self, words: &str) -> Trouble {
        Trouble {
            kind: TroubleKind::Strange,
            program: self.program.into(),
            words: words.into(),
        }
    }
}

/// A text that is there and not empty.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The last address among words.
pub(super) fn address(words: &str) -> Option<String> {
    let is_address = |word: &&str| word.starts_with("https://") || word.starts_with("http://");
    let found = words.split_whitespace().rev().find(is_address);
    found.map(str::to_owned)
}

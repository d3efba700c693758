//! Which agents are installed here, and in which version.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;

use super::find::find_program;
use super::known::Client;
use crate::excerpt::Excerpt;
use crate::supervise::{self, Sink, Spec, Stop};

/// A client as it is found here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub client: Client,
    pub path: Option<PathBuf>,
    /// What it said when it was asked; nothing where it did not say.
    pub version: Option<String>,
}

/// A client that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(1);

/// Looks for every known client and asks each for its version, all at once.
pub async fn installed(root: &Path) -> Vec<Installed> {
    let asked: Vec<_> = Client::ALL
        .iter()
        .map(|&client| {
            let path = find_program(client.facts().program.as_ref(), root);
            let version = path
                .clone()
                .map(|path| tokio::spawn(version(path, root.to_owned())));
            (client, path, version)
        })
        .collect();
    let mut found = Vec::new();
    for (client, path, version) in asked {
        let version = match version {
            Some(asked) => asked.await.ok().flatten(),
            None => None,
        };
        found.push(Installed {
            client,
            path,
            version,
        });
    }
    found
}

async fn version(program: PathBuf, cwd: PathBuf) -> Option<String> {
    let mut said = Said(Excerpt::new(1_000));
    let spec = Spec {
        args: vec!["--version".into()],
        grace: GRACE,
        ..Spec::plain(program.into(), &cwd, PATIENCE)
    };
    let never = watch::Sender::new(Stop::No);
    supervise::run(spec, &mut said, never.subscribe()).await;
    version_in(&said.0.text()).map(str::to_owned)
}

struct Said(Excerpt);

impl Sink for Said {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0.push(chunk);
        Ok(())
    }

    fn stderr(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// The first word that looks like a version: `2.1.325 (Claude Code)`,
/// `codex-cli 0.166.0`, `v1.0`.
fn version_in(text: &str) -> Option<&str> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches('v').trim_end_matches([',', '.']))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn a_version_is_found_in_what_clients_say() {
        for (text, want) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: 12", Some("1.0.102")),
            ("v1.18.33", Some("1.18.33")),
            ("2026.10.01-abc", Some("2026.10.01-abc")),
            ("no version, 7 of them", None),
            ("", None),
        ] {
            assert_eq!(version_in(text), want, "{text}");
        }
    }
}

//! One attempt to tell somebody.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};

use ralph_core::notify::{Message, Post};
use ralph_core::text;
use tokio::sync::watch;

use super::{Notifier, Way};
use crate::supervise::{self, Ending, SHELL, Sink, Spec, Stop};

/// What came of an attempt.
pub(super) enum Delivery {
    Done,
    /// Nobody got it, and it may work the next time.
    NotReached(String),
    /// It will not work, or somebody may have got it already.
    Refused(String),
}

pub(super) async fn once(notifier: &Notifier, way: &Way, message: &Message) -> Delivery {
    match way {
        Way::Command(line) => command(notifier, line, message).await,
        Way::Webhook { url, form, chat } => {
            webhook(notifier, &message.post(*form, url, chat)).await
        }
        Way::Mail { to, program } => mail(notifier, program, &message.mail(to)).await,
        Way::Desktop => desktop(notifier, message).await,
    }
}

async fn command(notifier: &Notifier, line: &str, message: &Message) -> Delivery {
    let (program, flag) = SHELL;
    let text = with_facts(message).join("\n");
    let env = [
        ("RALPH_NOTIFY_ID", message.id.as_str()),
        ("RALPH_NOTIFY_TOPIC", message.topic.into_str()),
        ("RALPH_NOTIFY_EVENT", message.event),
        ("RALPH_NOTIFY_RUN", &message.run_id),
        ("RALPH_NOTIFY_TITLE", &message.title),
        ("RALPH_NOTIFY_TEXT", &text),
        ("RALPH_NOTIFY_NEXT", message.next.as_deref().unwrap_or("")),
    ];
    let stdin = format!("{}\n", message.json());
    let done = start(notifier, program, &[flag, line], &env, &stdin).await;
    match done.ending {
        Ending::Exited(0) => Delivery::Done,
        Ending::Exited(code) => Delivery::NotReached(done.words(&format!("exit code {code}"))),
        ending => unclear(ending, &done.said),
    }
}

/// The words, and what somebody has to know to act on them (U-12).
fn with_facts(message: &Message) -> Vec<&str> {
    let facts = message.facts.iter().map(String::as_str);
    std::iter::once(message.text.as_str())
        .chain(facts)
        .collect()
}

/// With `curl`: it knows TLS and proxies. Address and message go through its
/// standard input, so that no list of processes shows them.
async fn webhook(notifier: &Notifier, post: &Post) -> Delivery {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let seconds = notifier.timeout.as_secs().max(1).to_string();
    let args = [
        "--silent",
        "--show-error",
        "--proto",
        "=http,https",
        "--max-time",
        &seconds,
        "--output",
        null,
        "--write-out",
        "%{http_code} %{time_pretransfer}",
        "--config",
        "-",
    ];
    let stdin = format!(
        "url = {}\nheader = \"Content-Type: application/json\"\ndata-binary = {}\n",
        quoted(&post.url),
        quoted(&post.body.to_string())
    );
    let done = start(notifier, "curl", &args, &[], &stdin).await;
    let mut told = done.said.split_whitespace();
    let status: u32 = told.next().and_then(|code| code.parse().ok()).unwrap_or(0);
    let sent = told
        .next()
        .is_some_and(|time| time.parse().is_ok_and(|t: f64| t > 0.0));
    match done.ending {
        Ending::Exited(0) => answered(status),
        // Nothing was sent: it could not be resolved, reached or trusted.
        Ending::Exited(code) if !sent => {
            Delivery::NotReached(done.words(&format!("curl: exit code {code}")))
        }
        Ending::Exited(code) => Delivery::Refused(done.words(&format!("curl: exit code {code}"))),
        ending => unclear(ending, &done.said),
    }
}

fn answered(status: u32) -> Delivery {
    match status {
        200..300 => Delivery::Done,
        429 | 500..600 => Delivery::NotReached(format!("HTTP {status}")),
        status => Delivery::Refused(format!("HTTP {status}")),
    }
}

async fn mail(notifier: &Notifier, program: &str, mail: &str) -> Delivery {
    let done = start(notifier, program, &["-t", "-oi"], &[], mail).await;
    match done.ending {
        Ending::Exited(0) => Delivery::Done,
        Ending::Exited(code) => Delivery::NotReached(done.words(&format!("exit code {code}"))),
        ending => unclear(ending, &done.said),
    }
}

async fn desktop(notifier: &Notifier, message: &Message) -> Delivery {
    let mut lines = with_facts(message);
    lines.extend(message.next.as_deref());
    let text = lines.join("\n");
    let args = ["--app-name=Ralph", "--", &message.title, &text];
    let done = start(notifier, "notify-send", &args, &[], "").await;
    match done.ending {
        Ending::Exited(0) => Delivery::Done,
        Ending::Exited(code) => Delivery::NotReached(done.words(&format!("exit code {code}"))),
        ending => unclear(ending, &done.said),
    }
}

/// What was ended in the middle may have been heard.
fn unclear(ending: Ending, said: &str) -> Delivery {
    Delivery::Refused(match ending {
        Ending::TimedOut => "timed out".into(),
        Ending::SpawnFailed { message, .. } => message,
        ending => format!("{ending:?} {said}"),
    })
}

struct Done {
    ending: Ending,
    said: String,
    complained: String,
}

impl Done {
    /// The last words, without secrets, behind what is certain.
    fn words(&self, fact: &str) -> String {
        let last = self.complained.lines().rev().find(|l| !l.trim().is_empty());
        match last {
            Some(words) => format!("{fact}: {}", text::redact(&text::sanitize(words))),
            None => fact.to_owned(),
        }
    }
}

async fn start(
    notifier: &Notifier,
    program: &str,
    args: &[&str],
    env: &[(&str, &str)],
    stdin: &str,
) -> Done {
    let mut heard = Heard::default();
    let failed = |error: io::Error| Done {
        ending: Ending::SpawnFailed {
            missing: false,
            message: error.to_string(),
        },
        said: String::new(),
        complained: String::new(),
    };
    let stdin = match readable(stdin) {
        Ok(stdin) => stdin,
        Err(error) => return failed(error),
    };
    let spec = Spec {
        args: args.iter().map(OsString::from).collect(),
        env: env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
        spared: true,
        stdin: Some(stdin),
        timeout: Some(notifier.timeout).filter(|t| !t.is_zero()),
        ..Spec::plain(program.into(), &notifier.root, notifier.timeout)
    };
    // The run's own end does not end it: the courier decides how long.
    let (_never, stop) = watch::channel(Stop::No);
    let report = supervise::run(spec, &mut heard, stop).await;
    Done {
        ending: report.ending,
        said: String::from_utf8_lossy(&heard.said).into_owned(),
        complained: String::from_utf8_lossy(&heard.complained).into_owned(),
    }
}

/// A pipe that holds a short text already.
fn readable(text: &str) -> io::Result<File> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(text.as_bytes())?;
    drop(writer);
    #[cfg(unix)]
    return Ok(File::from(std::os::fd::OwnedFd::from(reader)));
    #[cfg(windows)]
    return Ok(File::from(std::os::windows::io::OwnedHandle::from(reader)));
}

/// A text as `curl` reads it in its configuration.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The beginning of what it says: nobody reads more.
#[derive(Default)]
struct Heard {
    said: Vec<u8>,
    complained: Vec<u8>,
}

const MOST_HEARD: usize = 4096;

fn keep(kept: &mut Vec<u8>, chunk: &[u8]) {
    let room = MOST_HEARD.saturating_sub(kept.len());
    kept.extend(chunk.iter().take(room));
}

impl Sink for Heard {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        keep(&mut self.said, chunk);
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        keep(&mut self.complained, chunk);
        Ok(())
    }
}

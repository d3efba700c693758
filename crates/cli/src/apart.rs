//! What can be typed, done in a process of its own: there is one way to do each
//! thing, whoever asks for it.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ralph_core::lang::Lang;
use ralph_core::text::{redact, sanitize};
use ralph_store::layout::{Layout, RunId};

/// How long a run that is started may need until it holds the lock.
const START: Duration = Duration::from_secs(20);

/// Whether it worked, and what it said.
#[derive(Debug)]
pub struct Said {
    pub ok: bool,
    pub words: String,
}

impl Said {
    fn of(output: &Output) -> Said {
        let ok = output.status.success();
        let said = if ok { &output.stdout } else { &output.stderr };
        Said {
            ok,
            words: words_of(said),
        }
    }

    /// What it did stands there.
    pub fn last_line(&self) -> &str {
        self.words.lines().last().unwrap_or_default()
    }
}

/// What our program said, without its name in front and without what a terminal
/// would obey.
pub fn words_of(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let said = said.trim().trim_start_matches("ralph: ");
    redact(&sanitize(said)).into_owned()
}

fn command(root: &Path, typed: &[String], lang: Lang) -> Command {
    let mut command = Command::new(crate::app::own_program());
    command
        .arg("--root")
        .arg(root)
        .args(["--lang", lang.into_str()])
        .args(typed)
        .stdin(Stdio::null());
    command
}

/// Does it, and says what came of it.
pub fn typed_apart(root: &Path, typed: &[String], lang: Lang) -> io::Result<Said> {
    let output = command(root, typed, lang).output()?;
    Ok(Said::of(&output))
}

/// Starts a run that outlives this process. Gives `None` once one is up, or
/// what it said where it ended before.
pub fn start_apart(
    layout: &Layout,
    typed: &[String],
    lang: Lang,
    is_it: impl Fn(&RunId) -> bool,
) -> io::Result<Option<Said>> {
    let mut command = command(layout.root(), typed, lang);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl+C at our terminal is not meant for it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let until = Instant::now() + START;
    while Instant::now() < until {
        let alive = layout.current_run().ok().flatten();
        if alive.is_some_and(|alive| is_it(&alive.id)) {
            break;
        }
        if child.try_wait()?.is_some() {
            let output = child.wait_with_output()?;
            // One that is over in no time has run, too.
            let refused = output.status.code() == Some(i32::from(crate::FAILED));
            let said = Said::of(&output);
            return Ok(Some(Said {
                ok: !refused,
                ..said
            }));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    leave_alone(child);
    Ok(None)
}

/// Reads what it says to its end, since nobody else does: what matters stands
/// in the log.
fn leave_alone(child: Child) {
    std::thread::spawn(move || child.wait_with_output());
}

//! Commands that a program carries which we do not know: nobody can list all
//! the programs that run what they are given, but what is given to them is
//! plain to see.

use super::command::Command;
use super::env::{Env, Flow};
use super::walker::Walker;
use super::{interpret, known};
use crate::words::Words;

/// Programs whose words are texts, names or patterns, and those that are
/// taken apart elsewhere.
static SPEAKERS: Words = Words::new(words!(
    "[ ack ag apropos apt apt-get awk banner brew cargo cat claude codex cowsay declare docker
     docker-compose echo egrep eval export expr fgrep figlet find gawk gemini gh git glab grep
     help info jq kubectl let local logger ls lxc man nerdctl notify-send oc podman printf
     ralph read rg say sed set shfmt ssh test tldr toilet trap type ugrep whatis whereis which
     yq"
));

/// Options whose value is a command for many programs.
const RUNS: &[&str] = words!(
    "-c -e -x --cmd --command --exec --execute --hook --on-change --on-success --run --script
     --shell --then"
);

impl Walker<'_> {
    /// Judges the command within the arguments of any other program.
    pub fn carried(&mut self, command: &Command, env: &Env) {
        // An interpreter's code is read as such.
        let speaks =
            SPEAKERS.contains(&command.name) || interpret::language(command.name).is_some();
        if speaks || command.name.is_empty() {
            return;
        }
        let args = command.args;
        for at in 0..args.len() {
            let tail = args.get(at..).unwrap_or_default();
            if is_command(tail) {
                self.trace.unwrapped(command.name);
                self.run(tail, &mut env.clone(), &Flow::Unknown);
                return;
            }
        }
        for (flag, text) in args.iter().zip(args.iter().skip(1)) {
            let starts = text.split_once(' ').map(|(first, _)| first);
            if RUNS.contains(&flag.as_str()) && starts.is_some_and(known::is_dangerous_program) {
                self.trace.unwrapped(command.name);
                self.aside(text, env);
            }
        }
    }
}

/// Words that nobody writes but to run them.
fn is_command(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let first = args.first().map_or("", String::as_str);
    let flag = |letters: &str| {
        first.starts_with('-')
            && !first.starts_with("--")
            && first.contains(|c| letters.contains(c))
    };
    match name {
        "rm" => flag("rRf") || first == "--recursive" || first == "--force",
        "dd" => first.starts_with("if=") || first.starts_with("of="),
        "git" => matches!(first, "push" | "reset" | "clean"),
        "chmod" | "chown" => flag("R"),
        _ => known::is_shell(name) && flag("c") && args.len() > 1,
    }
}

//! Programs that administer a machine, and servers of its files.

use super::pattern::Call;
use super::table::{ADMIN, WINDOWS};
use crate::RuleId;
use crate::meaning::{Command, Env, NO_VALUES, Walker, files};
use crate::words::Words;

/// Servers of files.
static SERVERS: Words = Words::new(words!(
    "serve http-server live-server darkhttpd thttpd miniserve php caddy httpd webfsd"
));

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    if WINDOWS.knows(command.name) && !command.has("/?") {
        let words = command.words();
        if let Some(rule) = WINDOWS.broken(command.name, Call::of(&words, command.args)) {
            walker.report(rule, &command.line());
        }
    }
    let starts_service = command.program.starts_with("/etc/init.d/");
    let known = starts_service || ADMIN.knows(command.name) || SERVERS.contains(&command.name);
    if !known || command.args.is_empty() || command.has("--help|--version|-V|-h") {
        return;
    }
    let call = Call {
        words: command.args,
        ignore_case: true,
        ..Call::default()
    };
    if let Some(rule) = ADMIN.broken(command.name, call) {
        walker.report(rule, &command.line());
    }
    if starts_service && !command.has("status") {
        walker.report(RuleId::SystemService, &command.line());
    }
    serves(walker, command, env);
}

/// A server of files shows whoever asks what lies below its directory.
fn serves(walker: &mut Walker, command: &Command, env: &Env) {
    if !SERVERS.contains(&command.name) {
        return;
    }
    let directories: Vec<&str> = if one_of!(command.name, "php caddy httpd webfsd") {
        let args = command.read(takes!("hrtpl", "root docroot listen port"));
        if command.name == "php" && !args.short('S') {
            return;
        }
        args.values(&["t", "h", "r", "root"]).collect()
    } else {
        command.read(NO_VALUES).operands
    };
    files::read_all(walker, directories, env);
}

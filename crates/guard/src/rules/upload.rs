//! Whole directories that leave the machine for a store elsewhere.

use crate::RuleId;
use crate::meaning::{Command, Env, Flow, NO_VALUES, Walker, files};
use crate::paths;

pub fn judge(walker: &mut Walker, command: &Command, env: &Env) {
    if !one_of!(
        command.name,
        "rclone aws gsutil s3cmd mc azcopy gcloud croc wormhole sftp lftp ftp"
    ) {
        return;
    }
    let operands = command.read(NO_VALUES).operands;
    let sources: &[&str] = match (command.name, operands.as_slice()) {
        ("rclone", ["copy" | "sync" | "move" | "copyto", rest @ ..])
        | ("aws", ["s3", "cp" | "sync" | "mv", rest @ ..])
        | ("gsutil", ["cp" | "rsync" | "mv", rest @ ..])
        | ("s3cmd" | "mc", ["put" | "sync" | "cp" | "mirror", rest @ ..])
        | ("azcopy", ["copy" | "sync", rest @ ..])
        | ("gcloud", ["storage", "cp" | "rsync", rest @ ..])
        | ("croc" | "wormhole", ["send", rest @ ..]) => rest,
        ("sftp" | "lftp" | "ftp", _) => {
            let options = command.read(takes!("ceb", ""));
            for text in options.values(&["c", "e"]) {
                given_to_client(walker, &text.replace(';', "\n"), env);
            }
            if let Flow::Text(text) = command.stdin {
                given_to_client(walker, text, env);
            }
            return;
        }
        _ => return,
    };
    for source in sources.iter().filter(|source| !source.contains(':')) {
        let home = walker.home();
        let holds_home = |path: &String| paths::is_within(home, path);
        if walker.absolute(source, env).iter().any(holds_home) {
            walker.report(RuleId::SecretSend, source);
        }
    }
}

/// `put FILE` and its like in the commands of a file-transfer client.
fn given_to_client(walker: &mut Walker, text: &str, env: &Env) {
    for line in text.lines() {
        if let Some(text) = line.trim_start().strip_prefix('!') {
            walker.escaped(text, env);
        }
        let mut words = line.split_whitespace();
        let puts = matches!(words.next(), Some("put" | "mput" | "reput" | "send"));
        files::read_all(
            walker,
            words.filter(|word| puts && !word.starts_with('-')),
            env,
        );
    }
}

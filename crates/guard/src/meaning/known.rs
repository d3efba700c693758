//! What is known of programs and variables by their names alone.

use super::args::{Args, NO_VALUES, Takes};
use crate::mark;
use crate::words::{Words, is_one_of};

static SHELLS: Words = Words::new(words!(
    "sh bash zsh dash ksh ash mksh fish rbash yash csh tcsh hush posh nu xonsh elvish"
));

pub fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&name)
}

/// A program that deletes, overwrites or runs what it is given.
pub fn is_dangerous_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    one_of!(
        name,
        "rm rmdir dd mkfs shred sudo su doas bash sh zsh python python3 node perl ruby git find
         xargs chmod chown mv cp curl wget cat eval env kill pkill make npm cargo npx"
    )
}

/// Programs without which the machine or the loop itself stops.
const VITAL: &[&str] = words!(
    "systemd init sshd ssh dockerd containerd kubelet launchd Xorg gnome-shell WindowServer
     ralph claude codex gemini cursor-agent dbus-daemon NetworkManager loginwindow Finder bash
     opencode lsass csrss winlogon wininit smss services svchost explorer dwm"
);

/// Those of them that belong to the loop, whatever they were told to do.
const LOOP: &[&str] = words!("ralph claude codex gemini cursor-agent opencode");

/// Does the machine or the loop need this program?
pub fn is_vital(name: &str) -> bool {
    let name = name.trim_matches(['^', '$']).trim_end_matches(".exe");
    let program = name.split(' ').next().unwrap_or(name);
    // `bash build.sh` is somebody's script, `ralph run` is the loop.
    VITAL.contains(&name) || program != name && LOOP.contains(&program)
}

/// A function that a shell calls without being asked.
pub fn is_handler(name: &str) -> bool {
    one_of!(
        name,
        "command_not_found_handle command_not_found_handler fish_command_not_found fish_prompt
         fish_right_prompt fish_greeting precmd preexec chpwd periodic zshexit zshaddhistory
         TRAPEXIT TRAPDEBUG TRAPERR TRAPZERR TRAPINT TRAPTERM TRAPHUP TRAPQUIT TRAPALRM TRAPCHLD"
    )
}

/// Words that make a variable's name the name of a secret, as its last part.
const SECRET_WORDS: &[&str] = words!(
    "SECRET KEY PASSWORD PASSWD TOKEN CREDENTIALS CREDENTIAL APIKEY PASS PWD PASSPHRASE PAT"
);

/// Names that end like a secret and are none.
const HARMLESS: &[&str] = words!(
    "PWD OLDPWD PRIMARY_KEY PUBLIC_KEY CACHE_KEY SORT_KEY FOREIGN_KEY PARTITION_KEY KEY
     INIT_CWD"
);

pub fn is_secret_variable(name: &str) -> bool {
    if HARMLESS.contains(&name) || name.is_empty() || name.len() > 80 {
        return false;
    }
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return false;
    }
    let parts: Vec<&str> = name.split('_').collect();
    let last = parts.last().copied().unwrap_or_default();
    if last == "PWD" || last == "PAT" || last == "PASS" {
        return parts.len() > 1 && name != "OLD_PWD";
    }
    SECRET_WORDS.contains(&last)
        || parts.contains(&"SECRET")
        || name.ends_with("PASSWORD")
        || name.ends_with("PASSWD")
        || name.ends_with("SECRET")
        || parts.contains(&"PASSWORD")
        || name.ends_with("APIKEY")
        || name.ends_with("SECRETKEY")
        || name == "DATABASE_URL"
        || name.starts_with("AWS_SECRET")
}

/// Does this filter let only lines through that hold no secret?
pub fn keeps_only_harmless_lines(name: &str, args: &[String]) -> bool {
    // `echo "$TOKEN" | docker login --password-stdin` keeps it off the screen.
    let has = |words: &str| args.iter().any(|word| is_one_of(words, word));
    if has("--password-stdin|--with-token") {
        return true;
    }
    match name {
        "wc" => true,
        "grep" | "egrep" | "rg" | "fgrep" => {
            let args = Args::read(args, NO_VALUES);
            if args.short('v') || args.long("invert-match") {
                return false;
            }
            if args.has('c', "count") || args.has('q', "quiet") {
                return true;
            }
            args.operands.first().is_some_and(|pattern| {
                let upper = mark::unmark(pattern).to_ascii_uppercase();
                let vague = upper.chars().filter(char::is_ascii_alphabetic).count() < 3;
                let wanted = [
                    "SECRET", "KEY", "TOKEN", "PASS", "CRED", "AUTH", "API", "AWS", "PWD", "PRIV",
                ];
                !vague && !wanted.iter().any(|word| upper.contains(word))
            })
        }
        "cut" => has("-f1|-f") && has("-d=|=|-d"),
        _ => false,
    }
}

pub fn client_takes(name: &str) -> Takes {
    match name {
        "wget" => takes!(
            "OoaPUtTQeiD",
            "output-document output-file directory-prefix user-agent header post-data post-file
             body-data body-file tries timeout input-file execute save-cookies warc-file"
        ),
        "curl" => takes!(
            "oXHdFTuAebcCKmrwxyYzEDPQUt",
            "output request header data data-raw data-binary data-urlencode json form
             form-string upload-file user user-agent referer cookie cookie-jar config max-time
             connect-timeout retry retry-delay write-out proxy output-dir url cacert cert key
             resolve connect-to limit-rate range dump-header interface unix-socket
             retry-max-time doh-url"
        ),
        // Their long options have one dash.
        "lynx" | "w3m" => Takes::default(),
        "nc" | "ncat" | "netcat" => takes!("ecpwsXxiIOPqTVmg", "exec sh-exec source wait"),
        _ => takes!("od", "output out dir"),
    }
}

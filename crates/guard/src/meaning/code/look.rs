//! What a text of code says beside its calls: addresses, variables and names
//! of secrets.

use super::Language;
use super::token::{self, Token};
use crate::RuleId;
use crate::meaning::{Env, Walker};
use crate::rules::{self, files, net};

/// What can be said without knowing the language: URLs, the environment, and
/// names of files that hold secrets.
pub fn everything_else(
    walker: &mut Walker,
    language: Language,
    text: &str,
    tokens: &[Token],
    env: &mut Env,
) {
    let code = token::without_strings(tokens);
    let compact: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let prints_environment = match language {
        Language::Python => {
            let mut found = compact.contains("print(os.environ)")
                || compact.contains("print(dict(os.environ))")
                || compact.contains("dumps(dict(os.environ")
                || compact.contains("dumps(os.environ");
            let filtered = compact.contains("startswith(")
                && !tokens
                    .iter()
                    .any(|token| matches!(token, Token::Text(text) if wants_secrets(text)));
            found |= compact.contains("os.environ.items()") && !filtered;
            found
        }
        Language::JavaScript => {
            compact.contains("(process.env)")
                || compact.contains("process.env,")
                || compact.trim_end_matches(';').ends_with("process.env")
                || compact.contains("entries(process.env")
                || compact.contains("Deno.env.toObject")
                || compact.contains("(Bun.env)")
                || compact.contains("for(") && compact.contains("inprocess.env)")
        }
        Language::Ruby => {
            compact.contains("putsENV.to_h")
                || compact.contains("pENV")
                || compact.contains("ENV.to_h")
                || compact.contains("ENV.inspect")
        }
        Language::Perl => compact.contains("%ENV"),
        Language::Php => {
            text.contains("getenv()")
                || compact.contains("($_ENV)")
                || compact.contains("($_SERVER)")
        }
        Language::Awk => compact.contains("inENVIRON"),
        Language::Other => has_any!(
            text,
            "Sys.getenv() (ENV) System.get_env() os:getenv() System.getenv()
             ProcessInfo.processInfo.environment"
        ),
        _ => false,
    };
    if prints_environment {
        walker.report(RuleId::SecretEnvironment, text);
    }
    let reads_names = has_any!(
        code,
        "os.environ os.getenv process.env ENV[ getenv( $ENV{ ENVIRON[ Deno.env get_env("
    );
    let sends = has_any!(code, "urlopen requests. fetch( http.request https.request Net::HTTP curl_exec socket.
         URI.open HTTPConnection httpx. axios")
        || compact.contains(").get(")
            && tokens.iter().any(|token| {
                matches!(token, Token::Text(text) if matches!(text.trim_start_matches("node:"), "http" | "https"))
            });
    let reads_files = has_any!(
        compact,
        "open read File load file Path( slurp cat dotenv config( <"
    );
    let whole_environment = words!(
        "dict(os.environ os.environ) os.environ, os.environ.copy() (process.env process.env)
         process.env} ENV.to_h"
    );
    let named_only = has_any!(compact, "process.env.");
    if sends && !named_only && whole_environment.iter().any(|word| compact.contains(word)) {
        walker.report(RuleId::SecretSend, text);
    }
    if sends && has_any!(compact, "(eval) eval( exec( Function( evalURI _eval") {
        walker.report(RuleId::NetRunRemoteCode, text);
    }
    if has_any!(compact, "evalpack( evalunpack( eval(pack( eval(unpack(") {
        walker.report(RuleId::OpaqueCode, text);
    }
    if language == Language::Perl && compact.contains("evalget(") {
        walker.report(RuleId::NetRunRemoteCode, text);
    }
    if has_any!(compact, "setuid(0 seteuid(0 setreuid(0") {
        walker.report(RuleId::PrivilegeEscalate, text);
    }
    if language == Language::Perl && has_any!(compact, "chmod0777 chmod0666 chmod(0777") {
        walker.report(RuleId::PermWorldWritable, text);
    }
    for token in tokens {
        let Token::Text(text) = token else { continue };
        if reads_names && rules::secret::is_secret_variable(text) {
            walker.report(RuleId::SecretEnvironment, text);
        }
        if text.contains("://") {
            net::fetch(walker, text);
        } else if reads_files && text.len() < 200 && !text.contains([' ', '\n']) {
            files::mentioned(walker, text, env);
        }
    }
    let secret_property = ["process.env.", "ENV.", "ENV{"].iter().any(|word| {
        compact.match_indices(word).any(|(at, _)| {
            let name: String = compact
                .get(at + word.len()..)
                .unwrap_or_default()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            rules::secret::is_secret_variable(&name)
        })
    });
    if secret_property
        && (sends
            || compact.contains("console.log")
            || compact.starts_with("process.env.") && !compact.contains('=')
            || compact.contains("puts")
            || compact.contains("print"))
    {
        walker.report(RuleId::SecretEnvironment, text);
    }
    if compact.contains("socket.socket") && compact.contains("os.dup2")
        || compact.contains("pty.spawn") && compact.contains("connect")
    {
        walker.report(RuleId::NetReverseShell, text);
    }
    let runs = has_any!(
        compact,
        "system exec popen spawn subprocess child_ shell getattr __import__ getline |&"
    );
    let connects =
        has_any!(compact, "socket Socket fsockopen inet_aton") || text.contains("/inet/tcp/");
    if connects
        && (runs || text.contains("/bin/sh") || text.contains("/bin/bash"))
        && (text.contains("sh -i")
            || text.contains("dup2")
            || text.contains("/bin/")
            || text.contains("popen")
            || text.contains("getline"))
    {
        walker.report(RuleId::NetReverseShell, text);
    }
    // A string that is a dangerous command, where something runs strings.
    for token in tokens.iter().filter(|_| runs) {
        if let Token::Text(text) = token
            && let Some(first) = text.trim().split(' ').next()
            && (language == Language::Awk || first.len() < text.trim().len())
            && rules::is_dangerous_program(first)
        {
            walker.aside(text, env);
        }
    }
    if language == Language::Other {
        let starts = ["spawn ", "exec ", "shell "];
        for line in text.lines().map(str::trim) {
            if let Some(command) = starts.iter().find_map(|start| line.strip_prefix(start)) {
                walker.escaped(command.split(';').next().unwrap_or(command), env);
            }
        }
    }
    quoted_commands(walker, language, text, env);
    let ends = ["shut down", "restart", "log out"];
    if language == Language::AppleScript && ends.iter().any(|word| text.contains(word)) {
        walker.report(RuleId::SystemPower, text);
    }
    processes(walker, &compact);
    if language == Language::Other && compact.contains('!') {
        for (_, rest) in text.split('\n').filter_map(|line| line.split_once('!')) {
            walker.escaped(rest, env);
        }
    }
}

/// Does a filter for variables of this name let secrets through?
fn wants_secrets(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    has_any!(upper, "AWS SECRET TOKEN KEY PASS API")
}

/// `qx(…)` of Perl and `%x{…}` of Ruby run what they quote.
fn quoted_commands(walker: &mut Walker, language: Language, text: &str, env: &Env) {
    let operator = match language {
        Language::Perl => "qx",
        Language::Ruby => "%x",
        _ => return,
    };
    for (at, _) in text.match_indices(operator) {
        let mut rest = text.get(at + operator.len()..).unwrap_or_default().chars();
        let close = match rest.next() {
            Some('(') => ')',
            Some('{') => '}',
            Some('[') => ']',
            Some('<') => '>',
            Some(same) if same.is_ascii_punctuation() && !matches!(same, '=' | ',' | ';') => same,
            _ => continue,
        };
        if let Some((command, _)) = rest.as_str().split_once(close) {
            walker.aside(command, env);
        }
    }
}

/// Code that ends everything, the loop above it, or forks without end.
fn processes(walker: &mut Walker, compact: &str) {
    for call in ["process.kill(", "os.kill("] {
        for (_, rest) in compact
            .match_indices(call)
            .filter_map(|(at, _)| compact.split_at_checked(at + call.len()))
        {
            let whom = rest.split([',', ')', '(']).next().unwrap_or_default();
            if matches!(whom, "1" | "-1" | "0" | "os.getppid" | "process.ppid") {
                walker.report(RuleId::SystemProcess, whom);
            }
        }
    }
    let endless = words!("while1 whileTrue while(1) while(true) for(;;) loop{");
    if compact.contains("fork") && endless.iter().any(|word| compact.contains(word)) {
        walker.report(RuleId::SystemForkBomb, "fork");
    }
}

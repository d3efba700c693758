//! What a text of code says beside its calls: addresses, variables and names
//! of secrets.

use super::Language;
use super::signs::{ENDS, Look, SHELLS, Sign, WHOLE};
use super::token::{self, Token};
use crate::RuleId;
use crate::meaning::{Env, Walker, files, hosts, known};

/// The code of a text by itself.
pub struct Facts {
    code: String,
    /// Without its blanks.
    compact: String,
    sends: bool,
}

impl Facts {
    pub fn of(tokens: &[Token]) -> Self {
        let code = token::without_strings(tokens);
        let compact: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let is_client = |text: &str| matches!(text.trim_start_matches("node:"), "http" | "https");
        let sends = has_any!(
            code,
            "urlopen requests. fetch( http.request https.request Net::HTTP curl_exec socket.
             URI.open HTTPConnection httpx. axios"
        ) || compact.contains(").get(") && token::strings(tokens).any(is_client);
        Facts {
            code,
            compact,
            sends,
        }
    }

    pub fn look<'a>(&'a self, language: Language, text: &'a str) -> Look<'a> {
        Look {
            language,
            text,
            compact: &self.compact,
            sends: self.sends,
        }
    }
}

/// What can be said without knowing the language: URLs, the environment, and
/// names of files that hold secrets.
pub fn everything_else(
    walker: &mut Walker,
    language: Language,
    text: &str,
    tokens: &[Token],
    env: &mut Env,
) {
    let facts = Facts::of(tokens);
    let look = facts.look(language, text);
    let compact = look.compact;
    if lists_environment(&look, tokens) && !look.rules(WHOLE).contains(&RuleId::SecretEnvironment) {
        walker.report(RuleId::SecretEnvironment, text);
    }
    report(walker, &look, WHOLE);
    let reads_names = has_any!(
        facts.code,
        "os.environ os.getenv process.env ENV[ getenv( $ENV{ ENVIRON[ Deno.env get_env("
    );
    let reads_files = has_any!(
        compact,
        "open read File load file Path( slurp cat dotenv config( <"
    );
    for text in token::strings(tokens) {
        if reads_names && known::is_secret_variable(text) {
            walker.report(RuleId::SecretEnvironment, text);
        }
        if text.contains("://") {
            hosts::fetch(walker, text);
        } else if reads_files && text.len() < 200 && !text.contains([' ', '\n']) {
            files::mentioned(walker, text, env);
        }
    }
    if shows_property(&look) {
        walker.report(RuleId::SecretEnvironment, text);
    }
    report(walker, &look, SHELLS);
    let runs = has_any!(
        compact,
        "system exec popen spawn subprocess child_ shell getattr __import__ getline |&"
    );
    let runs = runs || (language == Language::Awk && pipes(tokens));
    let connects =
        has_any!(compact, "socket Socket fsockopen inet_aton") || text.contains("/inet/tcp/");
    if connects
        && (runs || has_any!(text, "/bin/sh /bin/bash"))
        && (text.contains("sh -i") || has_any!(text, "dup2 /bin/ popen getline"))
    {
        walker.report(RuleId::NetReverseShell, text);
    }
    // A string that is a dangerous command, where something runs strings.
    for text in token::strings(tokens).filter(|_| runs) {
        if let Some(first) = text.trim().split(' ').next()
            && (language == Language::Awk || first.len() < text.trim().len())
            && known::is_dangerous_program(first)
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
    report(walker, &look, ENDS);
    processes(walker, compact);
    if language == Language::Other && compact.contains('!') {
        for (_, rest) in text.split('\n').filter_map(|line| line.split_once('!')) {
            walker.escaped(rest, env);
        }
    }
}

fn report(walker: &mut Walker, look: &Look, signs: &[Sign]) {
    // One variable is not the environment.
    let one_variable = look.compact.contains("process.env.");
    for rule in look.rules(signs) {
        if rule != RuleId::SecretSend || !one_variable {
            walker.report(rule, look.text);
        }
    }
}

/// Does it go through all variables, and not for names that hold no secret?
fn lists_environment(look: &Look, tokens: &[Token]) -> bool {
    match look.language {
        Language::Python => {
            let filtered =
                look.compact.contains("startswith(") && !token::strings(tokens).any(wants_secrets);
            look.compact.contains("os.environ.items()") && !filtered
        }
        Language::JavaScript => look.compact.trim_end_matches(';').ends_with("process.env"),
        _ => false,
    }
}

/// Is a variable that holds a secret sent or shown?
fn shows_property(look: &Look) -> bool {
    let compact = look.compact;
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let is_secret = |rest: &str| {
        let name: String = rest.chars().take_while(is_part).collect();
        known::is_secret_variable(&name)
    };
    let named = |word: &&str| compact.split(word).skip(1).any(is_secret);
    ["process.env.", "ENV.", "ENV{"].iter().any(named)
        && (look.sends
            || has_any!(compact, "console.log puts print")
            || compact.starts_with("process.env.") && !compact.contains('='))
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
    let endless = has_any!(
        compact,
        "while1 whileTrue while(1) while(true) for(;;) loop{"
    );
    if endless && compact.contains("fork") {
        walker.report(RuleId::SystemForkBomb, "fork");
    }
}

/// Whether awk prints into a command that has a name: `print x | c`.
fn pipes(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Code(code) => code.replace("||", "").contains('|'),
        _ => false,
    })
}

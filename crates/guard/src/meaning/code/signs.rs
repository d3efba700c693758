//! Words in code that say by themselves what it does. Each sign has an example
//! that it is meant for, and one that looks like it and is not.

use super::Language::{self, AppleScript, Awk, JavaScript, Other, Perl, Php, Python, Ruby};
use crate::RuleId;

/// Where the words are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// The code without its strings and blanks.
    Code,
    /// The same, in code that also sends something away.
    SendingCode,
    Text,
}
use Within::{Code, SendingCode, Text};

#[derive(Debug)]
pub struct Sign {
    pub rule: RuleId,
    /// The languages in which it means that; none for any.
    pub languages: &'static [Language],
    pub within: Within,
    /// One word of each list stands there.
    pub says: &'static [&'static [&'static str]],
    #[cfg(test)]
    examples: (&'static str, &'static str),
}

/// `Rule [Languages] Within: one of these, and one of these => "example", "no example";`
macro_rules! signs {
    ($($(#[$doc:meta])+ $name:ident = $($rule:ident [$($language:ident)*] $within:ident:
        $($words:expr),+ => $yes:literal, $no:literal;)*)*) => {
        $($(#[$doc])+ pub const $name: &[Sign] = &[$(Sign {
            rule: RuleId::$rule,
            languages: &[$($language),*],
            within: $within,
            says: &[$($words),+],
            #[cfg(test)]
            examples: ($yes, $no),
        },)*];)*
    };
}

signs! {
/// What the code as a whole gives away or takes.
WHOLE =
SecretEnvironment [Python] Code:
    words!("print(os.environ) print(dict(os.environ)) dumps(dict(os.environ dumps(os.environ")
    => "import os; print(os.environ)", "import os; print(os.environ['PATH'])";
SecretEnvironment [JavaScript] Code:
    words!("(process.env) process.env, entries(process.env Deno.env.toObject (Bun.env)")
    => "console.log(process.env)", "console.log(process.env.PATH)";
SecretEnvironment [JavaScript] Code: &["for("], &["inprocess.env)"]
    => "for (k in process.env) f(k)", "for (k in process.argv) f(k)";
SecretEnvironment [Ruby] Code: words!("pENV ENV.to_h ENV.inspect")
    => "p ENV", "p MyENV['A']";
SecretEnvironment [Perl] Code: &["%ENV"] => "print %ENV", "print $ENV{PATH}";
SecretEnvironment [Php] Text: &["getenv()"] => "print_r(getenv());", "echo getenv('PATH');";
SecretEnvironment [Php] Code: words!("($_ENV) ($_SERVER)")
    => "print_r($_ENV);", "echo $_ENV['PATH'];";
SecretEnvironment [Awk] Code: &["inENVIRON"]
    => "BEGIN { for (k in ENVIRON) print k }", "BEGIN { print ENVIRON[\"PATH\"] }";
SecretEnvironment [Other] Text:
    words!("Sys.getenv() (ENV) System.get_env() os:getenv() System.getenv()
            ProcessInfo.processInfo.environment")
    => "print(Sys.getenv())", "Sys.getenv('HOME')";
SecretSend [] SendingCode:
    words!("dict(os.environ os.environ) os.environ, os.environ.copy() (process.env process.env)
            process.env} ENV.to_h")
    => "requests.post(u, json=dict(os.environ))", "json.load(f, dict(os.environ))";
NetRunRemoteCode [] SendingCode: words!("(eval) eval( exec( Function( evalURI _eval")
    => "exec(urlopen(u).read())", "exec(open(f).read())";
OpaqueCode [] Code: words!("evalpack( evalunpack( eval(pack( eval(unpack(")
    => "eval(pack('H*', x))", "send(pack('H*', x))";
NetRunRemoteCode [Perl] Code: &["evalget("] => "eval get($u)", "print get($u)";
PrivilegeEscalate [] Code: words!("setuid(0 seteuid(0 setreuid(0")
    => "os.setuid(0)", "os.setuid(1000)";
PermWorldWritable [Perl] Code: words!("chmod0777 chmod0666 chmod(0777")
    => "chmod 0777, 'x'", "chmod 0755, 'x'";

/// A shell for whoever is on the other side.
SHELLS =
NetReverseShell [] Code: &["socket.socket"], &["os.dup2"]
    => "s = socket.socket(); os.dup2(s.fileno(), 0)", "s = socket.socket(); s.close()";
NetReverseShell [] Code: &["pty.spawn"], &["connect"]
    => "s.connect(a); pty.spawn(b)", "pty.spawn('ls')";

/// What ends the session.
ENDS =
FsDeleteOutside [AppleScript] Text: &["\"Finder\" to delete", "empty trash", "empty the trash"]
    => "tell application \"Finder\" to delete every item of home",
       "tell application \"Finder\" to get every item of home";
SystemPower [AppleScript] Text: &["shut down", "restart", "log out"]
    => "tell application \"System Events\" to shut down", "tell application \"Finder\" to quit";
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub language: Language,
    pub text: &'a str,
    /// The code without its strings and blanks.
    pub compact: &'a str,
    pub sends: bool,
}

impl Look<'_> {
    /// The rules that the signs name, each but once in a row.
    pub fn rules(&self, signs: &[Sign]) -> Vec<RuleId> {
        let shown = signs.iter().filter(|sign| self.shows(sign));
        let mut rules: Vec<RuleId> = shown.map(|sign| sign.rule).collect();
        rules.dedup();
        rules
    }

    fn shows(&self, sign: &Sign) -> bool {
        let within = match sign.within {
            SendingCode if !self.sends => return false,
            SendingCode | Code => self.compact,
            Text => self.text,
        };
        let any = sign.languages.is_empty();
        (any || sign.languages.contains(&self.language))
            && sign
                .says
                .iter()
                .all(|words| words.iter().any(|word| within.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::look::Facts;
    use super::*;

    #[test]
    fn every_sign_keeps_its_examples() {
        for sign in WHOLE.iter().chain(SHELLS).chain(ENDS) {
            let language = sign.languages.first().copied().unwrap_or(Python);
            let shows = |text: &str| {
                let tokens = super::super::token::tokens(language, text);
                let facts = Facts::of(&tokens);
                facts.look(language, text).shows(sign)
            };
            let (yes, no) = sign.examples;
            assert!(shows(yes), "{sign:?} is meant for {yes}");
            assert!(!shows(no), "{sign:?} is not meant for {no}");
        }
    }
}

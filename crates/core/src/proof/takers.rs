//! Scripts that judge and take the product into their own process: it may end
//! that with success before everything was asked. So they are made to fail
//! where honest work always comes: at their end where nothing else ends them,
//! else right behind what they take in.

pub mod recipes;
pub mod typed;

use super::canary::{javascript_failing, named, shell_failing};
use super::scripts::{Language, language};

/// The script with that failure; `None` for one that takes nothing in, or of
/// which that is not plain to see.
pub(super) fn spoiled(path: &str, content: &[u8], mark: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(content).ok()?;
    if recipes::is_one(path) {
        return recipes::spoiled(path, text, mark).map(String::into_bytes);
    }
    let language = language(path, text)?;
    let (says, fails) = match language {
        Language::Shell => (format!("echo {mark}"), shell_failing(text)),
        Language::Python => (
            format!("print('{mark}')"),
            format!("raise AssertionError('{mark}')\n"),
        ),
        Language::JavaScript => (
            format!(";console.log('{mark}');"),
            format!(";{};\n", javascript_failing(text, mark)),
        ),
        Language::Ruby => (format!("warn '{mark}'"), format!("raise '{mark}'\n")),
        Language::Perl => (
            format!("BEGIN {{ print STDERR \"{mark}\\n\" }}"),
            format!("die '{mark}';\n"),
        ),
        Language::PowerShell | Language::Php => return None,
    };
    let behind = behind_taken(language, text)?;
    let spoiled = match ends_by_itself(language, text) {
        true => {
            let first = ["#", "//", "'use ", "\"use "];
            format!("{}\n{fails}", named(text, &says, &first))
        }
        false => {
            let (before, after) = text.split_at_checked(behind)?;
            let line = if before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{line}{says}\n{fails}{after}")
        }
    };
    Some(spoiled.into_bytes())
}

/// Where the last of what it takes in ends.
fn behind_taken(language: Language, text: &str) -> Option<usize> {
    let takes = takes(language);
    let (mut at, mut end, mut is_open) = (0, None, false);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if is_open || takes(line) {
            // `from a import (` goes on.
            let opens = line.contains('(') && !line.contains(')');
            is_open = opens || is_open && !line.contains(')');
            end = Some(at);
        }
    }
    end
}

/// Whether a line takes something in.
fn takes(language: Language) -> fn(&str) -> bool {
    match language {
        Language::Shell => sources,
        Language::Python => imports,
        Language::JavaScript => requires,
        Language::Ruby => loads,
        _ => uses,
    }
}

/// Whether it goes on to its last line where nothing fails.
fn ends_by_itself(language: Language, text: &str) -> bool {
    let ends: &[&str] = match language {
        Language::Python => &[
            "exit", "Exit", "quit(", "unittest", "__main__", "__future__",
        ],
        Language::Shell => &["exec ", "return"],
        Language::JavaScript => &["exit"],
        _ => &[
            "exit", "__END__", "__DATA__", "done_testing", "Minitest", "=head", "=pod",
        ],
    };
    // Only a failure ends a plain script of the shell.
    let is_failure = |rest: &str| {
        let code = rest.strip_prefix(' ').unwrap_or_default();
        code.starts_with(|c: char| ('1'..='9').contains(&c))
    };
    let only_failures = || text.split("exit").skip(1).all(is_failure);
    ends.iter().all(|word| !text.contains(word)) && (language != Language::Shell || only_failures())
}

fn begins(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

fn sources(line: &str) -> bool {
    begins(line, &[". ", "source "])
}

fn imports(line: &str) -> bool {
    begins(line, &["import ", "from ", "exec("]) && !line.contains("__future__")
}

fn requires(line: &str) -> bool {
    let is_whole = !line.starts_with([' ', '\t', '/', '*']);
    begins(line, &["import ", "} from "]) || is_whole && line.contains("require(")
}

fn loads(line: &str) -> bool {
    begins(line, &["require ", "require_relative ", "load "])
}

fn uses(line: &str) -> bool {
    begins(line, &["use ", "require ", "do "])
}

#[cfg(test)]
mod tests {
    use super::spoiled;

    fn spoil(path: &str, text: &str) -> Option<String> {
        spoiled(path, text.as_bytes(), "Kx7").map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_script_fails_where_honest_work_comes() {
        for (path, text, want) in [
            (
                "gate.sh",
                ". ./lib.sh\n[ $a = 1 ] || exit 1\n",
                "echo Kx7\n. ./lib.sh\n[ $a = 1 ] || exit 1\n\n[ 1 = 2 ] || exit 1\n",
            ),
            (
                "gate",
                "#!/bin/sh\n. ./lib.sh\na && exit 0\nexit 1\n",
                "#!/bin/sh\n. ./lib.sh\necho Kx7\nexit 1\na && exit 0\n",
            ),
            (
                "check.py",
                "from calc import (\n    add,\n)\nassert add()\n",
                "assert add()\n\nraise AssertionError('Kx7')\n",
            ),
            (
                "check.py",
                "from calc import (\n    add,\n)\nexit(add())\n",
                ")\nprint('Kx7')\nraise AssertionError('Kx7')\nexit",
            ),
            (
                "check.js",
                "const c = require('./c.js');\nc();\n",
                "c();\n\n;throw new Error('Kx7');\n",
            ),
            (
                "check.mjs",
                "import {\n  a\n} from './a.mjs';\nprocess.exit(a());\n",
                "mjs';\n;console.log('Kx7');\n;throw new Error('Kx7');\nprocess",
            ),
            (
                "check.rb",
                "require_relative 'a'\na\n",
                "a\n\nraise 'Kx7'\n",
            ),
            (
                "check.pl",
                "use strict;\nrequire './a.pl';\nexit a();",
                "pl';\nBEGIN { print STDERR \"Kx7\\n\" }\ndie 'Kx7';\nexit",
            ),
        ] {
            let spoiled = spoil(path, text).unwrap();
            assert!(spoiled.contains(want), "{path}: {spoiled}");
        }
        for (path, text) in [("gate.sh", "sh hello.sh\n"), ("Makefile", "test:\n")] {
            assert_eq!(spoil(path, text), None);
        }
    }
}

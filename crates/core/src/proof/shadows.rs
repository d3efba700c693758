//! New files that take the place of what the checks mean by a name: a package
//! in front of the module of a check, a module in front of Python's own.

use std::collections::HashSet;

use super::files::{Then, kind_of, reached};
use super::judges::Judges;

/// The files that belong to the checks although their names do not say so:
/// what the commands reach, and what stands in front of that. `armed` and `now`
/// are the files of then and of now.
pub fn of_checks(
    commands: &[String],
    armed: &[String],
    now: &[String],
    read: &dyn Fn(&str) -> Option<String>,
) -> Judges {
    let then = Then { files: armed, read };
    let Judges {
        files: mut found,
        made,
    } = reached(commands, &then);
    let known: HashSet<&str> = armed.iter().map(String::as_str).collect();
    let is_new = |path: &&str| !known.contains(path);
    let new: Vec<&str> = now.iter().map(String::as_str).filter(is_new).collect();
    if !new.is_empty() {
        let is_check = |path: &&str| kind_of(path).is_check() || found.iter().any(|f| f == path);
        let checks: Vec<&str> = known.iter().copied().filter(is_check).collect();
        let shadows = shadows(&new, &checks, &found, read);
        // A folder is in the way of a recipe as a file is.
        let is_in_the_way = |path: &&&str| {
            let below = |name: &String| path.strip_prefix(name.as_str()).is_some_and(is_below);
            made.iter().any(below)
        };
        let in_the_way = new.iter().filter(is_in_the_way);
        let in_the_way: Vec<String> = in_the_way.map(|path| (*path).to_owned()).collect();
        found.extend(shadows.into_iter().chain(in_the_way));
    }
    Judges { files: found, made }
}

fn is_below(rest: &str) -> bool {
    rest.starts_with('/')
}

/// Of the files that were not there when the loop was armed, those that stand
/// in front of something that the checks take in. `checks` were there, `read`
/// gives the text of a file as it was then; `judges` are those of the checks
/// whose names do not say so.
fn shadows(
    new: &[&str],
    checks: &[&str],
    judges: &[String],
    read: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut said, mut asked) = (None, None);
    for path in new {
        let is_twin = checks.iter().any(|check| stands_before(path, check))
            || judges.iter().any(|judge| is_namesake(path, judge));
        let is_module = module_of(path).is_some_and(|name| {
            let asked: &mut HashSet<String> = asked.get_or_insert_with(|| asked_for(read));
            let said: &mut HashSet<String> = said.get_or_insert_with(|| words_of(checks, read));
            (STANDARD.contains(&name) || asked.contains(name)) && said.contains(name)
        });
        if is_twin || is_module {
            found.push((*path).to_owned());
        }
    }
    found
}

/// Whether it is another module of the name of one that judges: which of them
/// is loaded is a question of the way.
fn is_namesake(path: &str, judge: &str) -> bool {
    let ends = path.rsplit('/').next() == judge.rsplit('/').next();
    judge.ends_with(".py") && path != judge && ends
}

/// More than any project needs to say what it takes in.
const MOST_READ: usize = 500;

const SCRIPTS: [&str; 8] = ["", "js", "json", "node", "mjs", "cjs", "ts", "mts"];

/// `runner/__init__.py` is loaded before `runner.py`, `lib.js` before
/// `lib/index.js`, `runner` before `runner.js`, `want.js` before `want.json`.
fn stands_before(path: &str, check: &str) -> bool {
    let (stem, extension) = split(check);
    match extension {
        "py" => path
            .strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with('/') && rest.ends_with(".py")),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => {
            let meant = stem.strip_suffix("/index").unwrap_or(stem);
            let (own, end) = split(path);
            let is_folder = path
                .strip_prefix(meant)
                .is_some_and(|rest| rest.starts_with("/index.") || rest == "/package.json");
            path != check && (own == meant && SCRIPTS.contains(&end) || is_folder)
        }
        "json" => [stem, &format!("{stem}.js")].contains(&path),
        _ => false,
    }
}

/// The path without its extension, and that.
fn split(path: &str) -> (&str, &str) {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => (&path[..path.len() - end.len() - 1], end),
        _ => (path, ""),
    }
}

/// The name under which Python finds a file, if it looks beside the tests or
/// in the folder of the project.
fn module_of(path: &str) -> Option<&str> {
    let (stem, extension) = split(path);
    if extension != "py" {
        return None;
    }
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    stem.rsplit('/').next()
}

/// The modules of others that the project asks for, as Python names them.
fn asked_for(read: &dyn Fn(&str) -> Option<String>) -> HashSet<String> {
    const ASKED_IN: [&str; 4] = [
        "requirements.txt", "requirements-dev.txt", "requirements-test.txt",
        "requirements/test.txt",
    ];
    let name = |line: &str| {
        let end = line.find(|c: char| !c.is_alphanumeric() && !"-_.".contains(c));
        let asked = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
        asked.replace('-', "_").to_lowercase()
    };
    let texts = ASKED_IN.iter().filter_map(|file| read(file));
    let names = |text: String| -> Vec<String> { text.lines().map(name).collect() };
    texts.flat_map(names).collect()
}

/// The words of the checks: one can be imported in many ways.
fn words_of(checks: &[&str], read: &dyn Fn(&str) -> Option<String>) -> HashSet<String> {
    let python = checks.iter().filter(|check| check.ends_with(".py"));
    let texts = python.take(MOST_READ).filter_map(|check| read(check));
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let words = |text: String| -> Vec<String> { text.split(is_end).map(str::to_owned).collect() };
    texts.flat_map(words).collect()
}

/// The modules of Python itself that a check may take in.
const STANDARD: [&str; 213] = [
    "abc", "aifc", "argparse", "array", "ast", "asynchat", "asyncio", "asyncore", "atexit",
    "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar",
    "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys",
    "compileall", "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg",
    "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib",
    "dis", "distutils", "doctest", "email", "encodings", "ensurepip", "enum", "errno",
    "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools",
    "gc", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip",
    "hashlib", "heapq", "hmac", "html", "http", "imaplib", "imghdr", "imp", "importlib", "inspect",
    "io", "ipaddress", "itertools", "json", "keyword", "lib2to3", "linecache", "locale", "logging",
    "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap", "modulefinder", "msilib",
    "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt", "ntpath", "nturl2path",
    "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle",
    "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath",
    "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data",
    "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter",
    "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
    "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver", "spwd", "sqlite3",
    "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics", "string",
    "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog",
    "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "threading", "time",
    "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback", "tracemalloc",
    "tty", "turtle", "types", "typing", "unicodedata", "unittest", "urllib", "uu", "uuid", "venv",
    "warnings", "wave", "weakref", "webbrowser", "winreg", "winsound", "wsgiref", "xdrlib", "xml",
    "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(new: &[&str], want: &[&str]) {
        let files = [
            ("check.py", "import sys, runner\nsys.exit(runner.run())"),
            ("runner.py", "import os"),
            (
                "tests/test_a.py",
                "from filecmp import cmp\nimport responses as r, calc",
            ),
            ("tools/lib/index.js", ""),
            ("tools/run.js", ""),
            ("requirements.txt", "responses>=0.25\npytest\n"),
        ];
        let read = |name: &str| {
            let found = files.iter().find(|(file, _)| *file == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        let checks = [
            "check.py", "runner.py", "tests/test_a.py", "tools/lib/index.js", "tools/run.js",
            "want.json",
        ];
        let judges = [
            "check.py", "runner.py", "tools/lib/index.js", "tools/run.js",
        ];
        let judges = judges.map(str::to_owned);
        assert_eq!(shadows(new, &checks, &judges, &read), want, "{new:?}");
    }

    #[test]
    fn what_stands_before_a_check_is_none_of_the_work() {
        for shadow in [
            "runner/__init__.py",
            "runner/core.py",
            "check/__main__.py",
            "filecmp.py",
            "lib/runner.py",
            "src/filecmp/__init__.py",
            "responses.py",
            "tools/lib.js",
            "tools/lib",
            "tools/run",
            "tools/run/index.js",
            "tools/run.mjs",
            "tools/lib/package.json",
            "want.js",
        ] {
            check(&[shadow], &[shadow]);
        }
        check(
            &[
                "calc.py", "calc/__init__.py", "statistics.py", "run.js", "tools/runner.js",
                "lib/index.js", "numpy.py", "want.ts", "responses.txt",
            ],
            &[],
        );
    }
}

//! A check that is typed whole on its command line: `python3 -c '…'`,
//! `. ./lib.sh && …`. No file holds it, so that the command itself is made to
//! fail.

use super::{Language, ends_by_itself, takes};
use crate::proof::canary::{javascript_failing, shell_failing};

/// The command with that failure; `None` for one that takes nothing in, and
/// where it is not plain to see that what fails decides.
pub fn spoiled(command: &str, mark: &str) -> Option<String> {
    spoil(command, &|language, code, quote| {
        failing(language, code, mark, quote).map(|parts| parts.join("\n"))
    })
}

/// The same where no line may be added.
pub(super) fn spoiled_on_its_line(command: &str, mark: &str) -> Option<String> {
    spoil(command, &|language, code, quote| {
        let parts = failing(language, code, mark, quote)?;
        in_one_line(language, &parts)
    })
}

fn spoil(
    command: &str,
    failing: &dyn Fn(Language, &str, char) -> Option<String>,
) -> Option<String> {
    let Some(literal) = decisive(command) else {
        return failing(Language::Shell, command, '\'');
    };
    let (before, rest) = command.split_at_checked(literal.at)?;
    let (code, after) = rest.split_at_checked(literal.len)?;
    let code = failing(literal.language, code, literal.free_quote)?;
    Some(format!("{before}{code}{after}"))
}

/// `None` where what comes before would swallow what is put behind it.
fn in_one_line(language: Language, parts: &[String]) -> Option<String> {
    const BLOCKS: [&str; 7] = ["if ", "for ", "while ", "with ", "def ", "class ", "try:"];
    let has_block = |part: &String| {
        let mut statements = part.split(';').map(str::trim_start);
        statements.any(|statement| BLOCKS.iter().any(|block| statement.starts_with(block)))
    };
    let swallows = |part: &String| match language {
        Language::Python => part.contains('#') || has_block(part),
        Language::JavaScript => part.contains("//"),
        _ => part.contains('#'),
    };
    if parts
        .iter()
        .any(|part| part.contains('\n') || swallows(part))
    {
        return None;
    }
    let parts = parts.iter().map(|part| part.trim_matches([' ', ';']));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    Some(parts.join("; "))
}

/// The code with a failure at its end, or right behind what it takes in where
/// it ends itself.
fn failing(language: Language, code: &str, mark: &str, quote: char) -> Option<Vec<String>> {
    let text = format!("{quote}{mark}{quote}");
    let (says, fails) = match language {
        Language::Shell => {
            let fails = shell_failing(code);
            (format!("echo {mark}"), fails.trim_end().to_owned())
        }
        Language::Python => (
            format!("print({text})"),
            format!("raise AssertionError({text})"),
        ),
        Language::JavaScript => {
            let fails = javascript_failing(code, mark).replace('\'', &quote.to_string());
            (format!("console.log({text});"), format!(";{fails};"))
        }
        Language::Ruby => (format!("warn {text}"), format!("raise {text}")),
        Language::Perl => (format!("BEGIN {{ warn {text} }}"), format!(";die {text};")),
        Language::PowerShell | Language::Php => return None,
    };
    let (before, after) = code.split_at_checked(behind_taken(language, code)?)?;
    match (ends_by_itself(language, code), language) {
        (true, _) => Some(vec![says, code.to_owned(), fails]),
        (false, Language::Shell) => None,
        (false, _) => {
            let after = after.trim_start_matches(' ').to_owned();
            Some(vec![says, before.to_owned(), fails, after])
        }
    }
}

/// Where the last statement ends that takes something in.
fn behind_taken(language: Language, code: &str) -> Option<usize> {
    let (mut at, mut end) = (0, None);
    for statement in code.split_inclusive([';', '\n', '&']) {
        at += statement.len();
        if takes(language)(statement.trim_start()) {
            end = Some(at);
        }
    }
    end
}

/// Code between quotes on a command line.
struct Literal {
    language: Language,
    at: usize,
    len: usize,
    /// That which means nothing between its own.
    free_quote: char,
}

/// The last code that an interpreter is given, where nothing but `&&` joins the
/// commands of the line: if it fails, all of it does.
fn decisive(command: &str) -> Option<Literal> {
    let words = words(command)?;
    let given = |number: usize| literal(words.get(number..)?);
    (0..words.len()).rev().find_map(given)
}

/// The code that a command begins with: an interpreter, its options, the code.
fn literal(words: &[(usize, &str)]) -> Option<Literal> {
    let ((_, program), words) = words.split_first()?;
    let (language, flag) = interpreter(program)?;
    let gives_code = |word: &str| word == "--eval" || word.ends_with(flag);
    let options = words.iter().take_while(|(_, word)| word.starts_with('-'));
    let at = options.take_while(|(_, word)| !gives_code(word)).count();
    let (_, option) = words.get(at)?;
    let (at, quoted) = words.get(at + 1).filter(|_| option.starts_with('-'))?;
    let (quote, free_quote) = match quoted.chars().next()? {
        '\'' => ('\'', '"'),
        '"' => ('"', '\''),
        _ => return None,
    };
    let code = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    (!code.contains(quote)).then_some(Literal {
        language,
        at: at + 1,
        len: code.len(),
        free_quote,
    })
}

/// The language of a program, and the letter before its code.
fn interpreter(program: &str) -> Option<(Language, char)> {
    let name = program.rsplit('/').next().unwrap_or(program);
    Some(
        match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "python" | "pypy" => (Language::Python, 'c'),
            "node" | "bun" => (Language::JavaScript, 'e'),
            "ruby" => (Language::Ruby, 'e'),
            "perl" => (Language::Perl, 'e'),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => (Language::Shell, 'c'),
            _ => return None,
        },
    )
}

/// The words as they are written, with where they begin; `None` where more
/// than `&&` joins the commands.
fn words(command: &str) -> Option<Vec<(usize, &str)>> {
    let (mut words, mut start, mut open) = (Vec::new(), None, None);
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (open, c) {
            (Some('"') | None, '\\') => drop(chars.next()),
            (Some(quote), c) if c == quote => open = None,
            (Some(_), _) => continue,
            (None, '\'' | '"') => open = Some(c),
            (None, '&') if command[..at].ends_with('>') => {}
            (None, '&') if chars.next_if(|(_, c)| *c == '&').is_none() => return None,
            (None, '|' | ';' | '\n' | '`' | '(' | ')' | '!') => return None,
            _ => {}
        }
        let is_between = open.is_none() && (c.is_whitespace() || c == '&');
        match (start, is_between) {
            (Some(from), true) => {
                words.push((from, &command[from..at]));
                start = None;
            }
            (None, false) => start = Some(at),
            _ => {}
        }
    }
    words.extend(start.map(|from| (from, &command[from..])));
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::spoiled;

    #[test]
    fn what_is_typed_fails_where_honest_work_comes() {
        for (command, want) in [
            (
                "python3 -c 'import calc; assert calc.add(1, 2) == 3'",
                "python3 -c 'print(\"Kx7\")\nimport calc; assert calc.add(1, 2) == 3\nraise AssertionError(\"Kx7\")'",
            ),
            (
                "cd src && python3 -B -c \"import calc, sys; sys.exit(calc.add(1, 2) != 3)\"",
                "cd src && python3 -B -c \"print('Kx7')\nimport calc, sys;\nraise AssertionError('Kx7')\nsys.exit(calc.add(1, 2) != 3)\"",
            ),
            (
                "node -e 'if (require(\"./calc\")(1) !== 3) throw 1' 2>&1",
                "node -e 'console.log(\"Kx7\");\nif (require(\"./calc\")(1) !== 3) throw 1\n;throw new Error(\"Kx7\");' 2>&1",
            ),
            (
                ". ./lib.sh && [ \"$(add 1 2)\" = 3 ]",
                "echo Kx7\n. ./lib.sh && [ \"$(add 1 2)\" = 3 ]\n[ 1 = 2 ] || exit 1",
            ),
            (
                "bash -c '. ./lib.sh; add 1 || exit 1'",
                "bash -c 'echo Kx7\n. ./lib.sh; add 1 || exit 1\nexit 1'",
            ),
            (
                "ruby -I. -e 'require \"calc\"; raise unless add == 3'",
                "ruby -I. -e 'warn \"Kx7\"\nrequire \"calc\"; raise unless add == 3\nraise \"Kx7\"'",
            ),
            (
                "perl -e 'require \"./a.pl\"; die unless a() == 1'",
                "perl -e 'BEGIN { warn \"Kx7\" }\nrequire \"./a.pl\"; die unless a() == 1\n;die \"Kx7\";'",
            ),
        ] {
            let got = spoiled(command, "Kx7");
            assert_eq!(got.as_deref(), Some(want), "{command}");
        }
        for command in [
            "npm test",
            "sh gate.sh",
            "python3 -c 'print(1)'",
            "python3 -c 'import calc' || true",
            "! python3 -c 'import calc'",
            "test \"$(python3 -c 'import calc; print(calc.add(1, 2))')\" = 3",
            "python3 -c 'import calc'; ./gate.sh",
            ". ./env.sh && exec pytest",
            ". ./env.sh; run; exit 0",
        ] {
            assert_eq!(spoiled(command, "Kx7"), None, "{command}");
        }
    }
}

//! What a row of the table says about a command line, and whether it holds.
//!
//! A pattern is read word by word:
//!
//! | written | meaning |
//! |---|---|
//! | `a\|b` | the next operand is one of these |
//! | `~a\|b` | there is a next operand, and it is none of these |
//! | `$` | no operand is left |
//! | `..a\|b` | some operand is one of these |
//! | `..~a\|b` | some operand is none of these |
//! | `+a\|b` | one of these options stands there, alone or with `=value` |
//! | `!a\|b` | none of these stands there |
//!
//! `_` is any word; a `*` at the start or the end of a word is anything. A
//! pattern without words always holds.

use crate::RuleId;
use crate::meaning::Args;
use crate::words::{Large, is_one_of};

/// Programs, what they are told, and the rule that this breaks.
pub struct Row {
    pub programs: &'static [&'static str],
    pub patterns: &'static [&'static str],
    pub rule: RuleId,
}

/// `Rule { "program other": "pattern", "pattern"; … }` for each rule.
macro_rules! rows {
    ($($(#[$doc:meta])+ $name:ident = $($rule:ident {
        $($programs:literal: $($pattern:literal),+;)*
    })*)*) => {
        $($(#[$doc])+ pub static $name: $crate::rules::pattern::Table = $crate::rules::pattern::Table::new(&[$($(
            $crate::rules::pattern::Row {
                programs: words!($programs),
                patterns: &[$($pattern),+],
                rule: $crate::RuleId::$rule,
            },
        )*)*]);)*
    };
}

/// A command line as the patterns see it.
#[derive(Clone, Copy, Default)]
pub struct Call<'a> {
    pub operands: &'a [&'a str],
    /// All words, among which options are looked for.
    pub words: &'a [String],
    /// Options that were read already: `-xf` is `-x` and `-f`.
    pub options: Option<&'a Args<'a>>,
    /// Words after `!` may be written in capitals, as on Windows.
    pub ignore_case: bool,
}

/// The rows of one family.
pub struct Table {
    rows: &'static [Row],
    programs: Large,
}

impl Table {
    pub const fn new(rows: &'static [Row]) -> Self {
        let mut programs = Large::EMPTY;
        let mut at = 0;
        while at < rows.len() {
            programs = programs.with(rows[at].programs);
            at += 1;
        }
        Table { rows, programs }
    }

    fn about(&self, program: &str) -> impl Iterator<Item = &'static Row> {
        let rows = if self.programs.may_hold(program) {
            self.rows
        } else {
            &[]
        };
        rows.iter()
            .filter(move |row| row.programs.contains(&program))
    }

    /// Is the program in the table at all?
    pub fn knows(&self, program: &str) -> bool {
        self.about(program).next().is_some()
    }

    /// The rule that the call breaks by the first row that holds.
    pub fn broken(&self, program: &str, call: Call) -> Option<RuleId> {
        self.about(program)
            .find(|row| row.patterns.iter().any(|pattern| call.is(pattern)))
            .map(|row| row.rule)
    }
}

impl<'a> Call<'a> {
    pub fn of(operands: &'a [&'a str], words: &'a [String]) -> Self {
        Call {
            operands,
            words,
            ..Call::default()
        }
    }

    pub fn is(&self, pattern: &str) -> bool {
        let mut rest = self.operands.iter();
        pattern.split_ascii_whitespace().all(|part| {
            if let Some(words) = part.strip_prefix("..~") {
                self.operands.iter().any(|word| !is_one_of(words, word))
            } else if let Some(words) = part.strip_prefix("..") {
                self.operands.iter().any(|word| is_one_of(words, word))
            } else if let Some(words) = part.strip_prefix('~') {
                rest.next().is_some_and(|word| !is_one_of(words, word))
            } else if let Some(options) = part.strip_prefix('+') {
                self.has(options)
            } else if let Some(options) = part.strip_prefix('!') {
                !self.has_plain(options) && !self.has_folded(options)
            } else if part == "$" {
                rest.next().is_none()
            } else {
                rest.next().is_some_and(|word| is_one_of(part, word))
            }
        })
    }

    fn has(&self, options: &str) -> bool {
        let names = self.words.iter().filter_map(|word| word.split_once('='));
        let mut names = names.filter(|(name, _)| name.starts_with('-'));
        self.has_plain(options) || names.any(|(name, _)| is_one_of(options, name))
    }

    fn has_plain(&self, options: &str) -> bool {
        match self.options {
            Some(args) => options.split('|').any(|option| is_among(option, args)),
            None => self.words.iter().any(|word| is_one_of(options, word)),
        }
    }

    fn has_folded(&self, options: &str) -> bool {
        let is = |word: &String| options.split('|').any(|one| one.eq_ignore_ascii_case(word));
        self.ignore_case && self.words.iter().any(is)
    }
}

/// Is the option among those that were read?
fn is_among(option: &str, args: &Args) -> bool {
    match option.strip_prefix("--") {
        Some(long) => args.long(long),
        None => option.chars().nth(1).is_some_and(|short| args.short(short)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pattern: &str, line: &str) -> bool {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let operands: Vec<&str> = line
            .split_whitespace()
            .filter(|word| !word.starts_with('-'))
            .collect();
        let call = Call {
            operands: &operands,
            words: &words,
            ..Call::default()
        };
        call.is(pattern)
    }

    #[test]
    fn each_sign_means_what_its_table_says() {
        for (pattern, yes, no) in [
            ("a|b c", "b c d", "a d"),
            ("a ~b|c", "a d", "a c"),
            ("a ~b", "a c", "a"),
            ("a $", "a", "a b"),
            ("..b", "a b", "a c"),
            ("..~a|b", "a c", "a b"),
            ("a +-f|--force", "a --force", "a --soft"),
            ("+--force", "--force=1", "--forced"),
            ("a !--dry", "a", "a --dry"),
            ("!--dry", "--dry=no", "--dry"),
            ("_ x*", "a xy", "a yx"),
            ("*:x", "a:x", "a:y"),
            ("+*://*", "a://b", "a:/b"),
            ("+*", "-x", ""),
        ] {
            assert!(holds(pattern, yes), "{pattern} holds for {yes}");
            assert!(!holds(pattern, no), "{pattern} does not hold for {no}");
        }
    }

    #[test]
    fn options_that_were_read_are_found_in_bundles() {
        let words = ["-xf".to_owned(), "--clean".to_owned()];
        let args = Args::read(&words, crate::meaning::args::NO_VALUES);
        let call = Call {
            options: Some(&args),
            ..Call::default()
        };
        assert!(call.is("+-f|--force") && call.is("+--clean") && call.is("!-C"));
        assert!(!call.is("+--force"));
    }
}

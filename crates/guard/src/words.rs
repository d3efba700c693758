//! Lists of words, written as a text and split when the guard is compiled:
//! a list of eighty programs is ten lines to read and costs nothing to use.

/// How many words stand in the text.
pub const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let starts = at == 0 || bytes[at - 1].is_ascii_whitespace();
        if starts && !bytes[at].is_ascii_whitespace() {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The words of the text; `N` is their [`count`].
pub const fn split<const N: usize>(text: &str) -> [&str; N] {
    let mut words = [""; N];
    let (mut rest, mut found) = (text.trim_ascii(), 0);
    while found < N {
        let mut end = 0;
        while end < rest.len() && !rest.as_bytes()[end].is_ascii_whitespace() {
            end += 1;
        }
        let (word, behind) = rest.split_at(end);
        words[found] = word;
        rest = behind.trim_ascii_start();
        found += 1;
    }
    words
}

/// `words!("a b c")` is `&["a", "b", "c"]`.
macro_rules! words {
    ($text:literal) => {{
        const WORDS: &[&str] = &$crate::words::split::<{ $crate::words::count($text) }>($text);
        WORDS
    }};
}

/// Which words may be in a list, by a sum over some of their letters and their length:
/// nearly every program is in none of the lists that it is held against.
#[derive(Clone, Copy, Debug)]
pub struct Sieve<const CELLS: usize>([u64; CELLS]);

/// For a list of some words.
pub type Small = Sieve<4>;
/// For a table of hundreds.
pub type Large = Sieve<16>;

impl<const CELLS: usize> Sieve<CELLS> {
    pub const EMPTY: Self = Sieve([0; CELLS]);

    pub const fn with(mut self, words: &[&str]) -> Self {
        let mut at = 0;
        while at < words.len() {
            let (cell, bit) = Self::place(words[at]);
            self.0[cell] |= 1 << bit;
            at += 1;
        }
        self
    }

    pub const fn may_hold(&self, word: &str) -> bool {
        let (cell, bit) = Self::place(word);
        self.0[cell] >> bit & 1 == 1
    }

    const fn place(word: &str) -> (usize, usize) {
        let bytes = word.as_bytes();
        let sum = match bytes {
            [] => 0,
            [first, .., last] => {
                let middle = bytes[bytes.len() / 2] as usize;
                *first as usize * 7 + middle * 67 + *last as usize * 3 + bytes.len() * 29
            }
            [only] => *only as usize,
        };
        ((sum >> 6) % CELLS, sum & 63)
    }
}

/// A list that every command is held against.
#[derive(Debug)]
pub struct Words {
    words: &'static [&'static str],
    sieve: Small,
}

impl Words {
    pub const fn new(words: &'static [&'static str]) -> Self {
        let sieve = Small::EMPTY.with(words);
        Words { words, sieve }
    }

    pub fn contains(&self, word: &&str) -> bool {
        self.sieve.may_hold(word) && self.words.contains(word)
    }
}

/// Is this one of the words? `one_of!(name, "a b c")`.
macro_rules! one_of {
    ($word:expr, $text:literal) => {{
        static WORDS: $crate::words::Words = $crate::words::Words::new(words!($text));
        WORDS.contains(&$word)
    }};
}

/// Does the text contain one of these? `has_any!(text, "a b c")`.
macro_rules! has_any {
    ($text:expr, $words:literal) => {
        words!($words).iter().any(|word| $text.contains(word))
    };
}

/// Values by any of several words: `by_word! { "a b" => 1; "c" => 2; }`.
macro_rules! by_word {
    ($($words:literal => $value:expr;)*) => {
        $crate::words::ByWord::new(&[$((words!($words), $value)),*])
    };
}

/// What [`by_word!`] makes.
#[derive(Debug)]
pub struct ByWord<T: 'static> {
    pub rows: &'static [(&'static [&'static str], T)],
    words: Large,
}

impl<T> ByWord<T> {
    pub const fn new(rows: &'static [(&'static [&'static str], T)]) -> Self {
        let mut words = Large::EMPTY;
        let mut at = 0;
        while at < rows.len() {
            words = words.with(rows[at].0);
            at += 1;
        }
        ByWord { rows, words }
    }

    pub fn get(&self, word: &str) -> Option<&'static T> {
        if !self.words.may_hold(word) {
            return None;
        }
        let (_, value) = self.rows.iter().find(|(words, _)| words.contains(&word))?;
        Some(value)
    }
}

/// `takes!("ab", "long other")`: the options whose value may stand in the
/// next word.
macro_rules! takes {
    ($shorts:literal, $longs:literal) => {
        $crate::meaning::args::Takes {
            shorts: $shorts,
            longs: words!($longs),
        }
    };
}

/// Is the word one of `a|b*|*c*`?
pub fn is_one_of(words: &str, word: &str) -> bool {
    words.split('|').any(|one| is_like(one, word))
}

fn is_like(pattern: &str, word: &str) -> bool {
    let (open_start, rest) = match pattern.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    match (open_start, rest.strip_suffix('*')) {
        (true, Some(middle)) => word.contains(middle),
        (true, None) => word.ends_with(rest),
        (false, Some(start)) => word.starts_with(start),
        (false, None) => pattern == word || pattern == "_",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_is_split_at_any_blank() {
        assert_eq!(words!("a  b\n   c-d "), ["a", "b", "c-d"]);
        assert_eq!(words!(""), [""; 0]);
        assert!(one_of!("b", "a b") && !one_of!("ab", "a b"));
    }

    #[test]
    fn a_star_is_anything_at_the_start_or_the_end() {
        for (words, yes, no) in [("a|b", "b", "ab"), ("a*", "ab", "ba"), ("*a", "ba", "ab")] {
            assert!(
                super::is_one_of(words, yes) && !super::is_one_of(words, no),
                "{words}"
            );
        }
        assert!(super::is_one_of("*a*", "bab") && super::is_one_of("_", "x"));
    }
}

//! Characters that stand in an expanded word for what the text itself does
//! not say. They are non-characters: no file name or option contains them.

/// Something that only the running shell knows.
pub const UNKNOWN: char = '\u{FDD0}';
/// An unquoted `*`.
pub const STAR: char = '\u{FDD1}';
/// An unquoted `?`.
pub const ANY: char = '\u{FDD2}';
/// An unquoted `[`.
pub const CLASS: char = '\u{FDD3}';
/// Something that came from the network.
pub const NETWORK: char = '\u{FDD4}';
/// The value of a variable that holds a secret by its name.
pub const SECRET: char = '\u{FDD5}';

pub fn is_computed(character: char) -> bool {
    matches!(character, UNKNOWN | NETWORK | SECRET)
}

pub fn is_glob(character: char) -> bool {
    matches!(character, STAR | ANY | CLASS)
}

/// Does the word have a part that the text does not say?
pub fn has_computed(word: &str) -> bool {
    word.contains(is_computed)
}

pub fn has_glob(word: &str) -> bool {
    word.contains(is_glob)
}

/// The word with globs as they are written.
pub fn unmark(word: &str) -> String {
    word.chars()
        .map(|character| match character {
            STAR => '*',
            ANY => '?',
            CLASS => '[',
            other => other,
        })
        .collect()
}

/// The word as a person may read it.
pub fn show(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for character in word.chars() {
        match character {
            UNKNOWN => text.push('…'),
            NETWORK => text.push_str("<network>"),
            SECRET => text.push_str("<secret>"),
            STAR => text.push('*'),
            ANY => text.push('?'),
            CLASS => text.push('['),
            other if other.is_control() => text.push(' '),
            other => text.push(other),
        }
    }
    text
}

/// Marks the glob characters of a value that is not quoted.
pub fn with_globs(character: char) -> char {
    match character {
        '*' => STAR,
        '?' => ANY,
        '[' => CLASS,
        other => other,
    }
}

/// Does `pattern`, in which [`STAR`], [`ANY`] and [`CLASS`] or the plain
/// characters have their meaning, match the whole of `text`?
pub fn glob_match(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern
        .chars()
        .map(|c| if c == UNKNOWN { STAR } else { c })
        .collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if let Some(&want) = pattern.get(p) {
            if matches!(want, STAR | '*') {
                retry = Some((p, t));
                p += 1;
                continue;
            }
            if let Some(&have) = text.get(t)
                && let Some(width) = matches_one(pattern.get(p..).unwrap_or_default(), have)
            {
                p += width;
                t += 1;
                continue;
            }
        } else if t == text.len() {
            return true;
        }
        match retry {
            Some((star, from)) if from < text.len() => {
                retry = Some((star, from + 1));
                p = star + 1;
                t = from + 1;
            }
            _ => return false,
        }
    }
}

/// How many pattern characters match this one character.
fn matches_one(pattern: &[char], have: char) -> Option<usize> {
    match *pattern.first()? {
        ANY | '?' => Some(1),
        CLASS | '[' => {
            let end = pattern.iter().skip(2).position(|c| *c == ']')? + 2;
            let members = pattern.get(1..end)?;
            let negated = matches!(members.first(), Some('!' | '^'));
            let members = if negated { members.get(1..)? } else { members };
            let mut found = members.contains(&have);
            for range in members.windows(3) {
                if let [low, '-', high] = range {
                    found |= (*low..=*high).contains(&have);
                }
            }
            (found != negated).then_some(end + 1)
        }
        plain => (plain == have).then_some(1),
    }
}

//! The pieces of a word, and what its braces stand for: `a{b,c}` and `{1..3}`.

use crate::mark::UNKNOWN;
use crate::shell::{Part, Word};

/// How many results the braces of one word may have.
const MAX_BRACES: usize = 256;

#[derive(Clone)]
pub enum Atom<'w> {
    Char(char, bool),
    /// Quotes with nothing in them still make a field.
    Empty,
    Part(&'w Part),
}

pub fn atoms(word: &Word) -> Vec<Atom<'_>> {
    let mut atoms = Vec::new();
    for part in &word.parts {
        match part {
            Part::Plain(text) => atoms.extend(text.chars().map(|c| Atom::Char(c, false))),
            Part::Quoted(text) if text.is_empty() => atoms.push(Atom::Empty),
            Part::Quoted(text) => atoms.extend(text.chars().map(|c| Atom::Char(c, true))),
            other => atoms.push(Atom::Part(other)),
        }
    }
    atoms
}

pub fn plain(atom: Option<&Atom>) -> Option<char> {
    match atom {
        Some(Atom::Char(character, false)) => Some(*character),
        _ => None,
    }
}

/// Brace expansion: `a{b,c}d` and `{1..3}`.
pub fn braces<'w>(atoms: &[Atom<'w>]) -> Vec<Vec<Atom<'w>>> {
    let mut done = Vec::new();
    let mut open = vec![atoms.to_vec()];
    while let Some(word) = open.pop() {
        if done.len() + open.len() >= MAX_BRACES {
            return vec![vec![Atom::Char(UNKNOWN, true)]];
        }
        match first_brace(&word) {
            Some((start, end, choices)) => {
                for choice in choices.into_iter().rev() {
                    let mut next = word.get(..start).unwrap_or_default().to_vec();
                    next.extend(choice);
                    next.extend_from_slice(word.get(end + 1..).unwrap_or_default());
                    open.push(next);
                }
            }
            None => done.push(word),
        }
    }
    done
}

type Choices<'w> = (usize, usize, Vec<Vec<Atom<'w>>>);

fn first_brace<'w>(word: &[Atom<'w>]) -> Option<Choices<'w>> {
    let opens = (0..word.len()).filter(|at| plain(word.get(*at)) == Some('{'));
    for start in opens {
        let mut depth = 0_usize;
        let mut cuts = vec![start];
        for at in start + 1..word.len() {
            match plain(word.get(at)) {
                Some('{') => depth += 1,
                Some('}') if depth > 0 => depth -= 1,
                Some(',') if depth == 0 => cuts.push(at),
                Some('}') => {
                    cuts.push(at);
                    if cuts.len() > 2 {
                        let choices = cuts
                            .windows(2)
                            .filter_map(|pair| match pair {
                                [from, to] => Some(word.get(from + 1..*to)?.to_vec()),
                                _ => None,
                            })
                            .collect();
                        return Some((start, at, choices));
                    }
                    if let Some(choices) = sequence(word.get(start + 1..at).unwrap_or_default()) {
                        return Some((start, at, choices));
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    None
}

/// `1..9` or `a..e` between braces.
fn sequence<'w>(inner: &[Atom<'w>]) -> Option<Vec<Vec<Atom<'w>>>> {
    let text: String = (0..inner.len())
        .map(|at| plain(inner.get(at)))
        .collect::<Option<_>>()?;
    let (from, to) = text.split_once("..")?;
    let to = to.split("..").next()?;
    let items: Vec<String> = match (from.parse::<i64>(), to.parse::<i64>()) {
        (Ok(from), Ok(to)) => {
            let (low, high) = (from.min(to), from.max(to));
            (low..=high.min(low.saturating_add(63)))
                .map(|n| n.to_string())
                .collect()
        }
        _ => {
            let (from, to) = (single(from)?, single(to)?);
            (from.min(to)..=from.max(to)).map(String::from).collect()
        }
    };
    let as_atoms = |item: String| item.chars().map(|c| Atom::Char(c, false)).collect();
    Some(items.into_iter().map(as_atoms).collect())
}

fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let first = characters.next().filter(char::is_ascii_alphabetic)?;
    characters.next().is_none().then_some(first)
}

//! What the operators of `${name…}` make of a value.

use super::env::Value;
use crate::mark;

/// One element of a list; where the text does not say which, all of them.
pub fn element(value: Option<Value>, index: &str) -> Option<Value> {
    match value? {
        Value::List(items) => match index.parse::<i64>() {
            Ok(index) => {
                let length = i64::try_from(items.len()).ok()?;
                let at = if index < 0 { length + index } else { index };
                let item = items.get(usize::try_from(at).ok()?)?;
                Some(Value::text(item))
            }
            Err(_) => Some(Value::List(items)),
        },
        texts => Some(texts),
    }
}

pub fn slice(text: &str, range: &str) -> Option<String> {
    let (offset, length) = match range.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (range, None),
    };
    let total = text.chars().count();
    let position = |number: &str, from: usize| -> Option<usize> {
        let number: i64 = number.trim().parse().ok()?;
        if number < 0 {
            total.checked_sub(usize::try_from(-number).ok()?)
        } else {
            Some(from + usize::try_from(number).ok()?)
        }
    };
    let start = position(offset, 0)?;
    let end = length.map_or(Some(total), |length| position(length, start))?;
    Some(
        text.chars()
            .skip(start)
            .take(end.saturating_sub(start))
            .collect(),
    )
}

/// Every place where a text of this many bytes may be cut.
fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

pub fn cut_prefix(text: &str, pattern: &str, longest: bool) -> Option<String> {
    if text.len() > 4096 {
        return None;
    }
    let fits = |at: &usize| mark::glob_match(pattern, text.get(..*at).unwrap_or_default());
    let at = if longest {
        cuts(text).rev().find(fits)
    } else {
        cuts(text).find(fits)
    };
    Some(text.get(at.unwrap_or(0)..)?.to_owned())
}

pub fn cut_suffix(text: &str, pattern: &str, longest: bool) -> Option<String> {
    if text.len() > 4096 {
        return None;
    }
    let fits = |at: &usize| mark::glob_match(pattern, text.get(*at..).unwrap_or_default());
    let at = if longest {
        cuts(text).find(fits)
    } else {
        cuts(text).rev().find(fits)
    };
    Some(text.get(..at.unwrap_or(text.len()))?.to_owned())
}

pub fn replace(text: &str, pattern: &str, with: &str, all: bool) -> Option<String> {
    if mark::has_glob(pattern) || mark::has_computed(pattern) || pattern.is_empty() {
        return None;
    }
    Some(if all {
        text.replace(pattern, with)
    } else {
        text.replacen(pattern, with, 1)
    })
}

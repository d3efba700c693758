//! How long a limit lasts, as prose says it.

/// A span of time at the beginning: `3 hours`, `2h 13m`, `6m0s`, `an hour`.
pub(super) fn duration(words: &[&str]) -> Option<u64> {
    let mut total: Option<f64> = None;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1).copied().unwrap_or("");
        let (ms, taken) = match *word {
            "and" if total.is_some() => (0.0, 1),
            "a" | "an" | "one" if unit_ms(next).is_some() => (unit_ms(next)?, 2),
            word => match (number(word), unit_ms(next)) {
                (Some(number), Some(unit)) => (number * unit, 2),
                _ => match compact(word) {
                    Some(ms) => (ms, 1),
                    None => break,
                },
            },
        };
        total = Some(total.unwrap_or(0.0) + ms);
        at += taken;
    }
    total
        .filter(|ms| (0.0..1e12).contains(ms))
        .map(|ms| ms as u64)
}

fn number(word: &str) -> Option<f64> {
    let starts = word.starts_with(|c: char| c.is_ascii_digit());
    word.parse().ok().filter(|_| starts)
}

/// `2h13m`, `34.07s`
fn compact(word: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = word;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (value, tail) = rest.split_at(digits);
        let end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        total += number(value)? * unit_ms(unit)?;
        rest = tail;
    }
    (!word.is_empty()).then_some(total)
}

fn unit_ms(word: &str) -> Option<f64> {
    Some(match word {
        "ms" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        "w" | "week" | "weeks" => 604_800_000.0,
        _ => return None,
    })
}

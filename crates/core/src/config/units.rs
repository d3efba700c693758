//! Durations, sizes and money as people write them: a number and its unit.

use std::time::Duration;

use crate::usage::Usd;

/// Reads `"90s"`, `"30m"`, `"1h30m"`, `"500ms"`, `"2d"`; `"0"` is no time.
///
/// A bare number has no meaning here: 30 was minutes in one of the tools that
/// people come from and seconds in another.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, unit, after) = split_quantity(rest)?;
        total = total.checked_add(one_duration(number, unit)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

fn one_duration(number: u64, unit: &str) -> Option<Duration> {
    let seconds = match unit {
        "ms" => return Some(Duration::from_millis(number)),
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// Reads `"500KB"`, `"10MB"`, `"1GiB"` as bytes; `"0"` is no size.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    if text == "0" {
        return Some(0);
    }
    let (number, unit, after) = split_quantity(text)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    after
        .is_empty()
        .then(|| number.checked_mul(bytes))
        .flatten()
}

/// Reads `"20usd"`, `"0.50 USD"`, `"$20"` ; `"0"` is no
/// money. A bare number has no currency, and so no meaning.
pub(super) fn parse_money(text: &str) -> Option<Usd> {
    let text = text.trim();
    if text == "0" {
        return Some(Usd::ZERO);
    }
    let lower = text.to_ascii_lowercase();
    let number = match lower.strip_prefix('$') {
        Some(number) => number,
        None => lower.strip_suffix("usd")?,
    };
    let (whole, part) = number
        .trim()
        .split_once('.')
        .unwrap_or((number.trim(), "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let micro: u64 = format!("{part:0<6}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let micros = whole.checked_mul(1_000_000)?.checked_add(micro)?;
    Some(Usd::from_micros(micros))
}

/// Reads `"75%"` as 75; only 1 to 100 make sense.
pub(super) fn parse_percent(text: &str) -> Option<u8> {
    let percent: u8 = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
    (1..=100).contains(&percent).then_some(percent)
}

/// The number and the unit at the start of `text`, and what follows them.
fn split_quantity(text: &str) -> Option<(u64, &str, &str)> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at(digits_end);
    let rest = rest.trim_start();
    let unit_end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(unit_end);
    Some((digits.parse().ok()?, unit, after.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        for (text, want) in [
            ("0", Some(0)),
            ("90s", Some(90_000)),
            ("30m", Some(1_800_000)),
            ("12h", Some(43_200_000)),
            ("2d", Some(172_800_000)),
            ("500ms", Some(500)),
            ("1h30m", Some(5_400_000)),
            (" 1h 30 m ", Some(5_400_000)),
            ("0s", Some(0)),
            ("30", None),
            ("", None),
            ("m", None),
            ("30 minutes", None),
            ("30M", None),
            ("1.5h", None),
            ("-5s", None),
            ("1h30", None),
            ("99999999999999999999s", None),
            ("18446744073709551615d", None),
            ("三十分", None),
        ] {
            let want = want.map(Duration::from_millis);
            assert_eq!(parse_duration(text), want, "{text:?}");
        }
    }

    #[test]
    fn sizes_need_a_unit() {
        for (text, want) in [
            ("0", Some(0)),
            ("12B", Some(12)),
            ("500KB", Some(500_000)),
            ("10MB", Some(10_000_000)),
            ("10 mb", Some(10_000_000)),
            ("1GiB", Some(1 << 30)),
            ("10", None),
            ("MB", None),
            ("10MBs", None),
            ("10MB 5KB", None),
            ("99999999999GB", None),
        ] {
            assert_eq!(parse_size(text), want, "{text:?}");
        }
    }

    #[test]
    fn money_needs_a_currency() {
        for (text, want) in [
            ("0", Some(0)),
            ("20usd", Some(20_000_000)),
            ("20 USD", Some(20_000_000)),
            ("$20", Some(20_000_000)),
            ("$ 0.5", Some(500_000)),
            ("1.000001usd", Some(1_000_001)),
            ("1.0000001usd", None),
            ("20", None),
            ("20eur", None),
            ("-1usd", None),
            (".5usd", None),
            ("1.usd", None),
            ("usd", None),
            ("$", None),
            ("99999999999999999999usd", None),
            ("二十usd", None),
        ] {
            assert_eq!(parse_money(text), want.map(Usd::from_micros), "{text:?}");
        }
    }

    #[test]
    fn percentages_are_between_1_and_100() {
        for (text, want) in [
            ("75%", Some(75)),
            ("100 %", Some(100)),
            ("0%", None),
            ("101%", None),
            ("75", None),
            ("%", None),
            ("-5%", None),
        ] {
            assert_eq!(parse_percent(text), want, "{text:?}");
        }
    }
}

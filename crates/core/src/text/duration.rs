//! Durations and counts in words.

use crate::lang::Lang;
use crate::tr;
use std::time::Duration;

/// A duration for a person, in its two largest units: `2 h 13 min`, `4 min 5 s`,
/// `1.2 s`, `80 ms`.
pub fn human(lang: Lang, duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 10 {
        return human_short(lang, duration);
    }
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    let units = [
        (days, tr!(lang, "{days} d")),
        (hours, tr!(lang, "{hours} h")),
        (minutes, tr!(lang, "{minutes} min")),
        (seconds, tr!(lang, "{seconds} s")),
    ];
    let largest = units.iter().position(|(n, _)| *n > 0).unwrap_or(0);
    let said: Vec<&str> = units
        .iter()
        .skip(largest)
        .take(2)
        .filter(|(n, _)| *n > 0)
        .map(|(_, text)| text.as_str())
        .collect();
    said.join(" ")
}

fn human_short(lang: Lang, duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 {
        return tr!(lang, "{millis} ms");
    }
    let (whole, tenth) = (millis / 1000, millis / 100 % 10);
    tr!(lang, "{whole}.{tenth} s")
}

/// The form of the delta state file (`Total Duration: 1h 20m`), the same in
/// every language. Under a minute it says seconds.
pub fn delta(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// The form of an English noun that goes with a number.
pub fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// `1 iteration`, `3 iterations`.
pub fn iterations(lang: Lang, count: usize) -> String {
    let iterations_en = plural(count, "iteration", "iterations");
    tr!(lang, "{count} {iterations_en}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn human_durations() {
        for (millis, en, tw, cn) in [
            (0, "0 ms", "0 毫秒", "0 毫秒"),
            (80, "80 ms", "80 毫秒", "80 毫秒"),
            (1_290, "1.2 s", "1.2 秒", "1.2 秒"),
            (12_900, "12 s", "12 秒", "12 秒"),
            (60_000, "1 min", "1 分", "1 分"),
            (245_000, "4 min 5 s", "4 分 5 秒", "4 分 5 秒"),
            (7_999_000, "2 h 13 min", "2 小時 13 分", "2 小时 13 分"),
            (7_205_000, "2 h", "2 小時", "2 小时"),
            (93_600_000, "1 d 2 h", "1 天 2 小時", "1 天 2 小时"),
        ] {
            let duration = Duration::from_millis(millis);
            assert_eq!(human(Lang::En, duration), en);
            assert_eq!(human(Lang::ZhTw, duration), tw);
            assert_eq!(human(Lang::ZhCn, duration), cn);
        }
    }

    #[test]
    fn delta_durations() {
        for (seconds, want) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (4800, "1h 20m"),
            (3600, "1h 0m"),
            (100_000, "27h 46m"),
        ] {
            assert_eq!(delta(Duration::from_secs(seconds)), want);
        }
    }

    #[test]
    fn counts() {
        assert_eq!(iterations(Lang::ZhCn, 3), "3 次迭代");
        assert_eq!(iterations(Lang::En, 1), "1 iteration");
    }
}

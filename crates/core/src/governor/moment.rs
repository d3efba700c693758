//! When a limit is gone, as prose says it: `resets 5pm (Europe/Vilnius)`,
//! `try again in 3 hours`, `try again at Nov 19th, 2026 4:29 PM`.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};

use super::duration::duration;

const MINUTE_MS: u64 = 60_000;

/// What the words are read against.
#[derive(Debug)]
pub(super) struct Context {
    now: Timestamp,
    local: TimeZone,
    zones: TimeZoneDatabase,
}

/// A moment as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    At(i64),
    After(u64),
}

/// A time of the day that is past by less than this has just come: the clocks
/// differ, or the words took their time. Else it is meant for tomorrow.
const JUST_PAST_MS: i64 = 10 * 60_000;

const DAY_MS: i64 = 24 * 60 * 60_000;

/// No limit lasts longer: a date without a year that would be further ahead is
/// one that has been.
const FURTHEST_MS: i64 = 100 * DAY_MS;

impl Context {
    /// A zone that nobody knows is UTC.
    pub(super) fn new(now_ms: i64, zone: &str) -> Context {
        let zones = TimeZoneDatabase::bundled();
        Context {
            now: Timestamp::from_millisecond(now_ms).unwrap_or_default(),
            local: zones.get(zone).unwrap_or(TimeZone::UTC),
            zones,
        }
    }

    pub(super) fn wall_ms(&self, moment: Moment) -> i64 {
        match moment {
            Moment::At(wall_ms) => wall_ms,
            Moment::After(ms) => self.now_ms().saturating_add_unsigned(ms),
        }
    }

    /// Google counts calls per day by the clock of California.
    pub(super) fn next_pacific_midnight(&self) -> i64 {
        let zone = self.zones.get("America/Los_Angeles");
        let zone = zone.unwrap_or(TimeZone::UTC);
        let tomorrow = self.today(&zone).tomorrow();
        let midnight = tomorrow.ok().map(|day| day.to_datetime(Time::midnight()));
        midnight
            .and_then(|at| self.instant(at, &zone))
            .unwrap_or(self.now_ms() + DAY_MS)
    }

    /// The first moment in a text (in small letters) at which a limit is gone.
    pub(super) fn find(&self, text: &str) -> Option<Moment> {
        if let Some(moment) = self.keyed(text) {
            return self.is_ahead(moment).then_some(moment);
        }
        let words: Vec<&str> = text
            .split(' ')
            .map(|word| word.trim_matches(PUNCTUATION))
            .filter(|word| !word.is_empty())
            .collect();
        let anchors = (0..words.len()).filter(|&at| ANCHORS.contains(&words[at]));
        anchors
            .filter_map(|at| self.after_anchor(&words, at))
            .next()
    }

    /// Numbers behind a key or a bar: `"resetsAt":1794707811`, `reached|1794707811`.
    /// One that is past is exact as well: prose beside it means the same moment.
    fn keyed(&self, text: &str) -> Option<Moment> {
        let mut past = None;
        for (key, unit) in KEYS {
            for (at, _) in text.match_indices(key) {
                let rest = text[at + key.len()..].trim_start_matches(['"', ' ', ':', '=']);
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
                    .unwrap_or(rest.len());
                let found = match (unit, &rest[..end]) {
                    (Unit::Epoch, digits) => epoch(digits),
                    (Unit::Duration, word) => {
                        let unit = |n: f64| (n * 1_000.0) as u64;
                        let bare = word.parse().ok().map(unit);
                        bare.or_else(|| duration(&[word])).map(Moment::After)
                    }
                };
                match found {
                    Some(moment) if self.is_ahead(moment) => return found,
                    _ => past = past.or(found),
                }
            }
        }
        past
    }

    fn is_ahead(&self, moment: Moment) -> bool {
        self.wall_ms(moment) > self.now_ms() || matches!(moment, Moment::After(_))
    }

    fn after_anchor(&self, words: &[&str], anchor: usize) -> Option<Moment> {
        let mut at = anchor + 1;
        while at < words.len() && at < anchor + 6 && FILLERS.contains(&words[at]) {
            at += 1;
        }
        if tells_of_the_past(words, anchor) {
            return None;
        }
        let words = &words[at.min(words.len())..];
        if let Some(ms) = duration(words) {
            return Some(Moment::After(ms));
        }
        self.clock(words)
    }

    /// A date, a time of the day, a zone, in any order.
    fn clock(&self, words: &[&str]) -> Option<Moment> {
        let mut said = Said::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let next = words.get(at + 1).copied().unwrap_or("");
            match said.take(word, next, self) {
                0 => break,
                taken => at += taken,
            }
        }
        self.resolve(&said)
    }

    fn resolve(&self, said: &Said) -> Option<Moment> {
        if said.time.is_none() && said.day.is_none() {
            return None;
        }
        let zone = said.zone.clone().unwrap_or_else(|| self.local.clone());
        // Without one it is midnight.
        let time = said.time.unwrap_or_default();
        // What is said to the minute may come at the end of that minute.
        let late = match said.time {
            Some(time) if time.second() == 0 => MINUTE_MS as i64,
            _ => 0,
        };
        let on = |day: Date| Some(self.instant(day.to_datetime(time), &zone)? + late);
        let today = self.today(&zone);
        let now = self.now_ms();
        let at = match said.day {
            Some(Day::Date(day)) => on(day)?,
            Some(Day::OfYear { month, day }) => {
                let this = Date::new(today.year(), month, day).ok().and_then(on);
                match this.filter(|&at| at > now - DAY_MS) {
                    Some(at) => at,
                    None => {
                        let next = on(Date::new(today.year() + 1, month, day).ok()?)?;
                        (next < now + FURTHEST_MS).then_some(next)?
                    }
                }
            }
            Some(Day::Tomorrow) => on(today.tomorrow().ok()?)?,
            Some(Day::Weekday(weekday)) => {
                let days = today.weekday().until(weekday);
                let day = today.checked_add(Span::new().days(days)).ok()?;
                match on(day)? {
                    at if at > now => at,
                    _ => on(day.checked_add(Span::new().days(7)).ok()?)?,
                }
            }
            None => match on(today)? {
                at if at > now => at,
                at if at > now - JUST_PAST_MS => now + MINUTE_MS as i64,
                _ => on(today.tomorrow().ok()?)?,
            },
        };
        // A date that is past says nothing about the future.
        (at > now).then_some(Moment::At(at))
    }

    /// The instant of a local time. In the hour that a clock shows twice it is
    /// the first that is still to come; a time that a clock skips comes after
    /// the gap.
    fn instant(&self, at: DateTime, zone: &TimeZone) -> Option<i64> {
        let instants = zone.to_ambiguous_timestamp(at);
        let ms = |at: Timestamp| at.as_millisecond();
        match instants.offset() {
            AmbiguousOffset::Fold { .. } => {
                let earlier = instants.earlier().ok().map(ms)?;
                if earlier > self.now_ms() {
                    Some(earlier)
                } else {
                    instants.later().ok().map(ms)
                }
            }
            _ => instants.compatible().ok().map(ms),
        }
    }

    fn today(&self, zone: &TimeZone) -> Date {
        self.now.to_zoned(zone.clone()).date()
    }

    fn now_ms(&self) -> i64 {
        self.now.as_millisecond()
    }

    /// A zone by its name, its abbreviation or its distance from UTC.
    fn zone(&self, word: &str) -> Option<TimeZone> {
        if word.contains('/') {
            return self.zones.get(word).ok();
        }
        if self.is_local_abbreviation(word) {
            return Some(self.local.clone());
        }
        if let Some((_, name)) = ZONE_NAMES.iter().find(|(short, _)| *short == word) {
            return self.zones.get(name).ok();
        }
        if let Some((_, minutes)) = ABBREVIATIONS.iter().find(|(short, _)| *short == word) {
            return fixed(*minutes);
        }
        let distance = word.strip_prefix("utc").or(word.strip_prefix("gmt"));
        let distance = distance.unwrap_or(word);
        let sign = match distance.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let digits = &distance[1..];
        let (hours, minutes) = match digits.split_once(':') {
            Some((hours, minutes)) => (hours, minutes),
            None if digits.len() == 4 && digits.is_ascii() => digits.split_at(2),
            None => (digits, "0"),
        };
        let hours: i32 = hours.parse().ok().filter(|h| (0..=15).contains(h))?;
        let minutes: i32 = minutes.parse().ok().filter(|m| (0..60).contains(m))?;
        fixed(sign * (hours * 60 + minutes))
    }

    /// `cst` is Chicago's, but not for somebody in Shanghai.
    fn is_local_abbreviation(&self, word: &str) -> bool {
        let half_a_year = Span::new().hours(24 * 182);
        let seasons = [Some(self.now), self.now.checked_add(half_a_year).ok()];
        seasons.into_iter().flatten().any(|at| {
            let info = self.local.to_offset_info(at);
            let name = info.abbreviation();
            name.len() > 2 && name.eq_ignore_ascii_case(word)
        })
    }
}

/// Seconds or milliseconds since 1970, in this century.
fn epoch(digits: &str) -> Option<Moment> {
    let number: i64 = digits.parse().ok()?;
    let ms = match digits.len() {
        10 => number.checked_mul(1_000)?,
        13 => number,
        _ => return None,
    };
    Some(Moment::At(ms))
}

fn fixed(minutes: i32) -> Option<TimeZone> {
    let offset = Offset::from_seconds(minutes * 60).ok()?;
    Some(TimeZone::fixed(offset))
}

const PUNCTUATION: &[char] = &[
    '(', ')', '[', ']', '{', '}', ',', '.', ';', ':', '"', '\'', '!', '?', '`', '…', '—', '–',
];

/// `total retry wait time: 5.51 seconds`, `tried again 12 s ago`: what a client
/// has done already is no promise of its service.
fn tells_of_the_past(words: &[&str], anchor: usize) -> bool {
    let before = |far: usize| anchor.checked_sub(far).map(|at| words[at]);
    let behind = &words[anchor + 1..words.len().min(anchor + 7)];
    [before(1), before(2)]
        .iter()
        .flatten()
        .any(|word| SUMS.contains(word))
        || before(1).is_some_and(|word| DONE.contains(&word))
        || behind.iter().any(|word| GONE_BY.contains(word))
}

const SUMS: &[&str] = &["total", "elapsed", "cumulative", "actual"];

const DONE: &[&str] = &["tried", "retried", "waited", "failed"];

const GONE_BY: &[&str] = &["ago", "elapsed", "passed"];

/// Behind these stands when it is over.
const ANCHORS: &[&str] = &[
    "reset", "resets", "resetting", "renews", "refreshes", "resumes", "again", "available",
    "until", "retry", "wait", "back", "try",
];

const FILLERS: &[&str] = &[
    "at", "on", "in", "by", "is", "be", "will", "again", "after", "available", "until", "to",
    "for", "around", "about", "approximately", "another", "time", "the", "your", "its", "next",
];

#[derive(Clone, Copy)]
enum Unit {
    Epoch,
    Duration,
}

const KEYS: [(&str, Unit); 9] = [
    ("resetsat", Unit::Epoch),
    ("resets_at", Unit::Epoch),
    ("reset_at", Unit::Epoch),
    ("|", Unit::Epoch),
    ("retrydelay", Unit::Duration),
    ("retry-after", Unit::Duration),
    ("retry_after", Unit::Duration),
    ("resets_in_seconds", Unit::Duration),
    ("quotaresetdelay", Unit::Duration),
];

/// What was said of a moment so far.
#[derive(Debug, Default)]
struct Said {
    day: Option<Day>,
    time: Option<Time>,
    zone: Option<TimeZone>,
}

#[derive(Clone, Copy, Debug)]
enum Day {
    Date(Date),
    /// Without a year.
    OfYear {
        month: i8,
        day: i8,
    },
    Tomorrow,
    Weekday(Weekday),
}

impl Said {
    /// Takes a word, and perhaps the one behind it; how many it took.
    fn take(&mut self, word: &str, next: &str, context: &Context) -> usize {
        match word {
            "at" | "on" | "of" | "the" | "@" | "by" | "today" | "tonight" => return 1,
            "tomorrow" if self.day.is_none() => {
                self.day = Some(Day::Tomorrow);
                return 1;
            }
            "noon" if self.time.is_none() => {
                self.time = Time::new(12, 0, 0, 0).ok();
                return 1;
            }
            "midnight" if self.time.is_none() => {
                self.time = Some(Time::midnight());
                self.day = self.day.or(Some(Day::Tomorrow));
                return 1;
            }
            _ => {}
        }
        if self.day.is_none()
            && let Some(weekday) = named(&WEEKDAYS, word)
        {
            self.day = Some(Day::Weekday(weekday));
            return 1;
        }
        self.take_date(word, next)
            .or_else(|| self.take_moment(word, context))
            .or_else(|| self.take_time(word, next))
            .or_else(|| self.take_zone(word, context))
            .unwrap_or(0)
    }

    /// `nov 18`, `18 nov`, a year behind them, `2026-11-18`.
    fn take_date(&mut self, word: &str, next: &str) -> Option<usize> {
        if let Some(Day::OfYear { month, day }) = self.day
            && let Some(year) = word.parse().ok().filter(|y| (2020..2200).contains(y))
        {
            self.day = Date::new(year, month, day).ok().map(Day::Date);
            return Some(1);
        }
        if self.day.is_some() {
            return None;
        }
        let of_year = match (named(&MONTHS, word), named(&MONTHS, next)) {
            (Some(month), _) => Some((month, day_of_month(next)?)),
            (_, Some(month)) => Some((month, day_of_month(word)?)),
            _ => None,
        };
        if let Some((month, day)) = of_year {
            self.day = Some(Day::OfYear { month, day });
            return Some(2);
        }
        let date: Date = word.parse().ok().filter(|_| word.len() == 10)?;
        self.day = Some(Day::Date(date));
        Some(1)
    }

    /// `2026-11-19t16:29:00z`
    fn take_moment(&mut self, word: &str, context: &Context) -> Option<usize> {
        if self.day.is_some() || self.time.is_some() || word.len() < 16 {
            return None;
        }
        let word = word.to_ascii_uppercase();
        let (at, zone) = match word.parse::<Timestamp>() {
            Ok(at) => (TimeZone::UTC.to_datetime(at), Some(TimeZone::UTC)),
            Err(_) => (word.parse::<DateTime>().ok()?, None),
        };
        self.day = Some(Day::Date(at.date()));
        self.time = Some(at.time());
        self.zone = zone.or_else(|| Some(context.local.clone()));
        Some(1)
    }

    /// `8:56pm`, `3 pm`, `17:00`, `17:00:30`.
    fn take_time(&mut self, word: &str, next: &str) -> Option<usize> {
        if self.time.is_some() {
            return None;
        }
        let digits_end = word
            .find(|c: char| !c.is_ascii_digit() && c != ':')
            .unwrap_or(word.len());
        let (digits, half) = word.split_at(digits_end);
        let (half, taken) = match (half_day(half), half_day(next)) {
            (Some(half), _) if digits_end < word.len() => (Some(half), 1),
            (_, Some(half)) if digits_end == word.len() => (Some(half), 2),
            _ if digits_end == word.len() && digits.contains(':') => (None, 1),
            _ => return None,
        };
        let mut parts = digits.split(':').map(|part| part.parse::<i8>().ok());
        let hour = parts.next().flatten()?;
        let minute = parts.next().unwrap_or(Some(0))?;
        let second = parts.next().unwrap_or(Some(0))?;
        let hour = match (half, hour) {
            (Some(HalfDay::Am), 12) => 0,
            (Some(HalfDay::Pm), 1..=11) => hour + 12,
            (Some(_), 13..) => return None,
            _ => hour,
        };
        self.time = Some(Time::new(hour, minute, second, 0).ok()?);
        Some(taken)
    }

    fn take_zone(&mut self, word: &str, context: &Context) -> Option<usize> {
        if self.zone.is_some() {
            return None;
        }
        self.zone = Some(context.zone(word)?);
        Some(1)
    }
}

enum HalfDay {
    Am,
    Pm,
}

fn half_day(word: &str) -> Option<HalfDay> {
    match word {
        "am" | "a.m" | "a.m." => Some(HalfDay::Am),
        "pm" | "p.m" | "p.m." => Some(HalfDay::Pm),
        _ => None,
    }
}

/// `18`, `18th`
fn day_of_month(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &word[digits.len()..];
    let known = ["", "st", "nd", "rd", "th"].contains(&suffix);
    digits
        .parse()
        .ok()
        .filter(|day| known && (1..=31).contains(day))
}

/// A name, whole or shortened to three or more letters.
fn named<T: Copy>(names: &[(&str, T)], word: &str) -> Option<T> {
    let matches = |name: &str| word.len() >= 3 && name.starts_with(word);
    let found = names.iter().find(|(name, _)| matches(name));
    found.map(|(_, value)| *value)
}

const MONTHS: [(&str, i8); 12] = [
    ("january", 1),
    ("february", 2),
    ("march", 3),
    ("april", 4),
    ("may", 5),
    ("june", 6),
    ("july", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("november", 11),
    ("december", 12),
];

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Short names that move with the season.
const ZONE_NAMES: [(&str, &str); 6] = [
    ("pt", "America/Los_Angeles"),
    ("mt", "America/Denver"),
    ("ct", "America/Chicago"),
    ("et", "America/New_York"),
    ("uk", "Europe/London"),
    ("pacific", "America/Los_Angeles"),
];

/// Minutes east of Greenwich.
const ABBREVIATIONS: [(&str, i32); 38] = [
    ("utc", 0),
    ("gmt", 0),
    ("z", 0),
    ("wet", 0),
    ("bst", 60),
    ("west", 60),
    ("cet", 60),
    ("cest", 120),
    ("sast", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("trt", 180),
    ("ist", 330),
    ("wib", 420),
    ("ict", 420),
    ("sgt", 480),
    ("hkt", 480),
    ("awst", 480),
    ("jst", 540),
    ("kst", 540),
    ("acst", 570),
    ("aest", 600),
    ("acdt", 630),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("brt", -180),
    ("art", -180),
    ("edt", -240),
    ("est", -300),
    ("cdt", -300),
    ("cst", -360),
    ("mdt", -360),
    ("mst", -420),
    ("pdt", -420),
    ("pst", -480),
    ("akst", -540),
];

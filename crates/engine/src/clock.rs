//! Where the moments in events come from.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use ralph_core::machine::Now;

/// This moment, on both clocks.
pub fn now() -> Now {
    let wall_ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    };
    Now {
        wall_ms,
        steady_ms: steady_ms(),
    }
}

/// Timers stand still while the machine is suspended. Whoever waits for a
/// moment of the steady clock looks at it at least so often.
pub const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// A moment to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeAt {
    /// On the clock that only ever grows.
    Steady(u64),
    /// On the wall clock, which may be set.
    Wall(i64),
}

impl WakeAt {
    pub fn wall_after(at: Now, ms: u64) -> WakeAt {
        let ms = i64::try_from(ms).unwrap_or(i64::MAX);
        WakeAt::Wall(at.wall_ms.saturating_add(ms))
    }

    pub fn left_ms(self, now: Now) -> u64 {
        match self {
            WakeAt::Steady(moment) => moment.saturating_sub(now.steady_ms),
            WakeAt::Wall(moment) => u64::try_from(moment.saturating_sub(now.wall_ms)).unwrap_or(0),
        }
    }
}

/// Sleeps until a moment, also over a suspended machine and a clock that is
/// set meanwhile.
pub async fn sleep_until(moment: WakeAt) {
    loop {
        let left = moment.left_ms(now());
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left).min(LONGEST_SLEEP)).await;
    }
}

/// Also counts while the machine is suspended, so that a deadline holds over
/// a closed laptop.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn steady_ms() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1000
        + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000
}

/// The clock of that name counts while a Mac sleeps; the one of the standard
/// library does not.
#[cfg(target_vendor = "apple")]
fn steady_ms() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1000
        + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn steady_ms() -> u64 {
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// `2026-01-28 10:00:00` in the person's own time zone, as the log and the
/// delta state file write it.
pub fn local_time(wall_ms: i64) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(wall_ms).unwrap_or_default();
    let local = zone().to_offset(timestamp).to_datetime(timestamp);
    // By hand: what formats anything would be loaded for each hook.
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        local.year(),
        local.month(),
        local.day(),
        local.hour(),
        local.minute(),
        local.second()
    )
}

/// [`local_time`] with the zone, where one moment stands alone:
/// `2026-01-28 10:00:00 (Europe/Vilnius)`.
pub fn zoned_time(wall_ms: i64) -> String {
    format!("{} ({})", local_time(wall_ms), zone_name())
}

/// [`local_time`] of a moment that a file has in UTC; other words stay.
pub fn localised(moment: &str) -> String {
    match moment.parse::<jiff::Timestamp>() {
        Ok(timestamp) => local_time(timestamp.as_millisecond()),
        Err(_) => moment.to_owned(),
    }
}

/// `17:00`, with the date in front where it is not today.
pub fn local_moment(wall_ms: i64, now: Now) -> String {
    let (moment, today) = (local_time(wall_ms), local_time(now.wall_ms));
    let minute = moment.get(..16).unwrap_or(&moment);
    match minute.split_once(' ') {
        Some((day, time)) if today.starts_with(day) => time.to_owned(),
        _ => minute.to_owned(),
    }
}

/// The name of the person's own time zone: `Europe/Vilnius`.
pub fn zone_name() -> String {
    let zone = zone();
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => zone.to_offset(jiff::Timestamp::now()).to_string(),
    }
}

/// The person's own time zone. `jiff` lists every zone of the system before it
/// finds one, which costs a hook more than the rest of its work, so that the
/// file of the one that matters is read where it is plain which one that is.
fn zone() -> &'static TimeZone {
    static ZONE: LazyLock<TimeZone> =
        LazyLock::new(|| zone_file().unwrap_or_else(TimeZone::system));
    &ZONE
}

fn zone_file() -> Option<TimeZone> {
    const KNOWN: &str = "/usr/share/zoneinfo/";
    let path = match std::env::var_os("TZ") {
        Some(name) => PathBuf::from(format!("{KNOWN}{}", name.to_str()?)),
        None => Path::new("/etc").join(std::fs::read_link("/etc/localtime").ok()?),
    };
    let path = path.to_str()?;
    let name = path.strip_prefix("/etc/..").unwrap_or(path);
    let name = name.strip_prefix(KNOWN)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(path).ok()?).ok()
}

/// Different in every process and every call; not for secrets.
pub fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(now().steady_ms);
    hasher.finish() as u32
}

//! Where the moments in events come from.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// Sleeps until a moment of the steady clock, also over a suspended machine.
pub async fn sleep_until(steady_ms: u64) {
    loop {
        let left = steady_ms.saturating_sub(now().steady_ms);
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

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn steady_ms() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// `2026-01-28 10:00:00` in the person's own time zone, as the log and the
/// delta state file write it.
pub fn local_time(wall_ms: i64) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(wall_ms).unwrap_or_default();
    timestamp
        .to_zoned(jiff::tz::TimeZone::system())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

/// Different in every process and every call; not for secrets.
pub fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(now().steady_ms);
    hasher.finish() as u32
}

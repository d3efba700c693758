//! When a file's metadata proves that its content has not changed.
//!
//! Equal metadata is proof only where any later change is bound to show in
//! it. Clocks of file systems tick coarsely, so that a change right after a
//! scan may carry the same times as before it; such a stamp is not settled,
//! and what was learnt under it has to be learnt again by the next scan.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More than a tick of any kernel's clock for file times.
const FINE_CLOCK: Duration = Duration::from_millis(50);
/// FAT keeps times in steps of two seconds, others in whole seconds.
const COARSE_CLOCK: Duration = Duration::from_secs(2);

/// A file time; `nanos` counts on from `secs` also before 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub secs: i64,
    pub nanos: u32,
}

impl Moment {
    pub fn of(time: SystemTime) -> Moment {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Moment {
                secs: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
                nanos: since.subsec_nanos(),
            },
            Err(before) => {
                let before = before.duration();
                let secs = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                match before.subsec_nanos() {
                    0 => Moment {
                        secs: -secs,
                        nanos: 0,
                    },
                    nanos => Moment {
                        secs: -secs - 1,
                        nanos: 1_000_000_000 - nanos,
                    },
                }
            }
        }
    }
}

/// The metadata that changes with the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub modified: Moment,
    /// The inode's change time, which programs cannot set; where the platform
    /// has none, the modification time again.
    pub changed: Moment,
    pub size: u64,
    pub inode: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix files carry the mark"))]
    Executable,
    Symlink,
    Directory,
    /// A pipe, socket or device: never opened, no part of the work.
    Special,
}

impl Kind {
    pub fn is_regular(self) -> bool {
        matches!(self, Kind::File | Kind::Executable)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub kind: Kind,
    pub stamp: Stamp,
}

/// Stamps from before the horizon are settled. It is taken when a scan starts,
/// thus before anything is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Horizon {
    fine: Moment,
    coarse: Moment,
}

impl Horizon {
    pub fn at(now: SystemTime) -> Horizon {
        let before = |margin| Moment::of(now.checked_sub(margin).unwrap_or(UNIX_EPOCH));
        Horizon {
            fine: before(FINE_CLOCK),
            coarse: before(COARSE_CLOCK),
        }
    }

    pub fn settled(&self, stamp: &Stamp) -> bool {
        self.is_past(stamp.modified) && self.is_past(stamp.changed)
    }

    fn is_past(&self, time: Moment) -> bool {
        // Whole seconds are the mark of a file system with a coarse clock.
        let limit = if time.nanos == 0 {
            self.coarse
        } else {
            self.fine
        };
        time < limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stamps_older_than_a_clock_tick_are_settled() {
        let now = UNIX_EPOCH + Duration::new(1_000, 500_000_000);
        let ago = |millis| Moment::of(now - Duration::from_millis(millis));
        let old = ago(60_001);
        for (modified, changed, want) in [
            (old, old, true),
            (ago(51), ago(51), true),
            (ago(50), old, false),
            (old, ago(50), false),
            (old, ago(0), false),
            (Moment::of(now + FINE_CLOCK), old, false),
            // 500 ms ago is a whole second here, as on a coarse clock.
            (old, ago(500), false),
            (old, ago(1_500), false),
            (old, ago(2_500), true),
        ] {
            let stamp = Stamp {
                modified,
                changed,
                size: 0,
                inode: 0,
            };
            let got = Horizon::at(now).settled(&stamp);
            assert_eq!(got, want, "{modified:?} {changed:?}");
        }
    }

    #[test]
    fn moments_keep_their_order_across_1970() {
        let mut times = [-2_500, -2_000, -1_999, -1, 0, 1, 999, 1_000].map(|millis: i64| {
            let distance = Duration::from_millis(millis.unsigned_abs());
            Moment::of(if millis < 0 {
                UNIX_EPOCH - distance
            } else {
                UNIX_EPOCH + distance
            })
        });
        let ascending = times;
        times.sort();
        assert_eq!(times, ascending);
        assert_eq!(
            times[0],
            Moment {
                secs: -3,
                nanos: 500_000_000
            }
        );
    }
}

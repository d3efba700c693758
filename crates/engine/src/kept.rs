//! The raw output of a turn in the run folder: whole where it is small, its
//! beginning and its end where it is a flood.
//!
//! `turn-0001.out` takes the first half of what may be kept. What follows
//! goes into `turn-0001.out.1`, `.2` and so on, a quarter each, of which the
//! last two stay. So the newest is always on the disk while it comes, and a
//! runaway agent can't fill it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ralph_store::fault::{self, Deed, point};
use ralph_store::private;

/// Less than this would cut final answers off.
const LEAST: u64 = 1024 * 1024;
/// Where the first file is smaller than this, there is no other.
pub const LEAST_BEGINNING: u64 = LEAST / 2;

/// The fault points of an output.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    open: &'static str,
    write: &'static str,
}

pub const OF_A_TURN: Points = Points {
    open: point::ENGINE_OUTPUT_OPEN,
    write: point::ENGINE_OUTPUT_WRITE,
};

pub const OF_A_VERIFICATION: Points = Points {
    open: point::ENGINE_VERIFY_OPEN,
    write: point::ENGINE_VERIFY_WRITE,
};

#[derive(Debug)]
pub struct KeptOutput {
    path: PathBuf,
    points: Points,
    /// How much may be kept; `None` where nothing limits it.
    max: Option<u64>,
    file: File,
    /// Number and size of the part that is written.
    part: u64,
    written: u64,
    dropped: u64,
}

impl KeptOutput {
    /// Begins a new file; `max` is zero where all is kept.
    pub fn create(path: &Path, max: u64, points: Points) -> io::Result<KeptOutput> {
        let file = fault::at(points.open, Deed::Open, || private::create_file(path))?;
        Ok(KeptOutput::new(path, max, file, points))
    }

    /// Goes on in a file that may be there already.
    pub fn append(path: &Path, max: u64, points: Points) -> io::Result<KeptOutput> {
        let file = fault::at(points.open, Deed::Open, || {
            private::options().create(true).append(true).open(path)
        })?;
        let mut kept = KeptOutput::new(path, max, file, points);
        kept.written = kept.file.metadata()?.len();
        Ok(kept)
    }

    fn new(path: &Path, max: u64, file: File, points: Points) -> KeptOutput {
        KeptOutput {
            path: path.into(),
            points,
            max: (max > 0).then_some(max.max(LEAST)),
            file,
            part: 0,
            written: 0,
            dropped: 0,
        }
    }

    pub fn write(&mut self, mut chunk: &[u8]) -> io::Result<()> {
        while !chunk.is_empty() {
            let room = self.room();
            if room == 0 {
                self.next_part()?;
                continue;
            }
            let fits = usize::try_from(room).map_or(chunk.len(), |room| room.min(chunk.len()));
            let (now, later) = chunk.split_at(fits);
            fault::write_all(&self.file, now, self.points.write)?;
            self.written += now.len() as u64;
            chunk = later;
        }
        Ok(())
    }

    /// Bytes between the beginning and the end that are gone.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn room(&self) -> u64 {
        match self.max {
            None => u64::MAX,
            Some(max) if self.part == 0 => (max / 2).saturating_sub(self.written),
            Some(max) => (max / 4).saturating_sub(self.written),
        }
    }

    fn next_part(&mut self) -> io::Result<()> {
        let path = self.path_of(self.part + 1);
        let file = fault::at(self.points.open, Deed::Open, || private::create_file(&path))?;
        if self.part >= 2 {
            let old = self.path_of(self.part - 1);
            let size = fs::metadata(&old).map_or(0, |m| m.len());
            fs::remove_file(&old)?;
            self.dropped += size;
        }
        self.file = file;
        self.part += 1;
        self.written = 0;
        Ok(())
    }

    fn path_of(&self, part: u64) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{part}"));
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes count up, so that every place in the flood is known.
    fn flood(from: usize, len: usize) -> Vec<u8> {
        (from..from + len).map(|i| (i % 251) as u8).collect()
    }

    /// Writes a flood in chunks and gives what stands on the disk, by name.
    fn kept(max: u64, len: usize, chunk: usize) -> (Vec<(String, Vec<u8>)>, u64) {
        let dir = tempfile::tempdir().unwrap();
        let mut output = KeptOutput::create(&dir.path().join("out"), max, OF_A_TURN).unwrap();
        for from in (0..len).step_by(chunk) {
            output.write(&flood(from, chunk.min(len - from))).unwrap();
        }
        let mut files: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort_by_key(|(name, _)| name.rsplit('.').next().and_then(|n| n.parse::<u64>().ok()));
        (files, output.dropped())
    }

    const MAX: usize = LEAST as usize;

    #[test]
    fn what_fits_is_whole_and_a_flood_keeps_its_beginning_and_its_end() {
        let check = |len: usize, names: &[&str], dropped: usize| {
            for chunk in [1000, 64 * 1024, 3 * MAX] {
                let (files, gone) = kept(LEAST, len, chunk);
                let got: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(got, names, "{len} {chunk}");
                assert_eq!(gone, dropped as u64, "{len} {chunk}");
                let head = &files[0].1;
                assert_eq!(*head, flood(0, head.len()));
                let tail: Vec<u8> = files[1..].iter().flat_map(|(_, b)| b.clone()).collect();
                assert_eq!(head.len() + tail.len() + dropped, len);
                assert!(head.len() + tail.len() <= MAX, "{len} {chunk}");
                assert!(tail == flood(len - tail.len(), tail.len()), "{len} {chunk}");
            }
        };
        check(0, &["out"], 0);
        check(MAX / 2, &["out"], 0);
        check(MAX / 2 + 1, &["out", "out.1"], 0);
        check(MAX, &["out", "out.1", "out.2"], 0);
        check(MAX + 1, &["out", "out.2", "out.3"], MAX / 4);
        check(3 * MAX, &["out", "out.9", "out.10"], 2 * MAX);
    }

    #[test]
    fn nothing_limits_it_where_it_is_switched_off() {
        let (files, dropped) = kept(0, 3 * MAX, 64 * 1024);
        assert_eq!((files.len(), dropped), (1, 0));
    }

    #[test]
    fn too_small_a_bound_still_keeps_an_answer() {
        let (files, dropped) = kept(10, MAX, 64 * 1024);
        assert_eq!(dropped, 0);
        assert_eq!(files.iter().map(|f| f.1.len()).sum::<usize>(), MAX);
    }
}

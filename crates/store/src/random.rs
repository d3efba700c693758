//! Bytes that nobody can guess.

use std::io;

/// From the system's own source.
#[cfg(unix)]
pub fn bytes() -> io::Result<[u8; 32]> {
    use std::io::Read;
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The standard library asks the system for what it seeds its hash tables
/// with; there is no device to ask.
#[cfg(not(unix))]
pub fn bytes() -> io::Result<[u8; 32]> {
    use std::hash::{BuildHasher, Hasher, RandomState};

    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    // Each thread is seeded anew.
    for _ in 0..4 {
        let seeded = std::thread::spawn(|| {
            let mut seeded = RandomState::new().build_hasher();
            seeded.write_u64(0);
            seeded.finish()
        });
        let seeded = seeded
            .join()
            .map_err(|_| io::Error::from(io::ErrorKind::Other))?;
        digest.update(seeded.to_be_bytes());
    }
    Ok(digest.finalize().into())
}

//! A client lets a call pass whose hook takes too long (S-09). Pipes, devices
//! and large files are refused where files are opened; what is left are file
//! systems behind which a program or a network answers, or does not. A thread
//! that watches the time costs a call more than its verdict, so it is started
//! only where one of those is mounted, or where a payload is large.

use std::io::Read;
use std::time::Duration;

use ralph_core::tr;

use super::closed;
use crate::{BLOCKED, app, out};

const PATIENCE: Duration = Duration::from_secs(5);

/// Judging less than this takes no time that counts.
const LARGE: usize = 256 * 1024;

/// Blocks the call in time, whatever holds the guard up.
pub(super) fn watch(payload: usize) {
    if payload < LARGE && all_answer() {
        return;
    }
    let watch = || {
        std::thread::sleep(PATIENCE);
        let lang = app::environment_lang();
        let seconds = PATIENCE.as_secs();
        let why = tr!(lang, "the guard was not done within {seconds} s");
        out::error(&closed(&why, lang));
        std::process::exit(i32::from(BLOCKED));
    };
    let thread = std::thread::Builder::new().stack_size(64 * 1024);
    let _ = thread.spawn(watch);
}

/// Whether every file system here is the kernel's own business. Asking a file
/// where it lies would be the question that hangs, so the table is read.
fn all_answer() -> bool {
    const LONGEST: u64 = 1024 * 1024;
    let read = || {
        let mut table = Vec::with_capacity(8 * 1024);
        let file = ralph_store::regular::open("/proc/self/mounts")?;
        file.take(LONGEST).read_to_end(&mut table)?;
        std::io::Result::Ok(table)
    };
    let table = match cfg!(target_os = "linux") {
        true => read().unwrap_or_default(),
        false => return false,
    };
    let is_whole = table.ends_with(b"\n");
    is_whole && table.split(|&b| b == b'\n').all(answers)
}

/// What lies on a disk of this machine, or in its memory.
const LOCAL: &str = "ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs overlay squashfs erofs vfat exfat ntfs3 \
    iso9660 udf tmpfs ramfs devtmpfs devpts rootfs proc sysfs cgroup cgroup2 mqueue hugetlbfs \
    securityfs debugfs tracefs configfs pstore bpf binfmt_misc efivarfs fusectl nsfs selinuxfs \
    rpc_pipefs";

/// Whether a line of the table names a file system that always answers.
fn answers(line: &[u8]) -> bool {
    let mut words = line.split(|&b| b == b' ').skip(1);
    let (Some(at), Some(kind)) = (words.next(), words.next()) else {
        return line.is_empty();
    };
    // systemd has one there on every machine.
    let is_kernels = at.starts_with(b"/proc/");
    is_kernels || LOCAL.split(' ').any(|known| known.as_bytes() == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_not_answer_is_watched() {
        for (line, expected) in [
            ("overlay / overlay rw,relatime 0 0", true),
            ("/dev/vda1 /work ext4 rw 0 0", true),
            ("tmpfs /tmp tmpfs rw 0 0", true),
            ("systemd-1 /proc/sys/fs/binfmt_misc autofs rw 0 0", true),
            ("", true),
            ("sshfs /mnt/a\\040b fuse.sshfs rw 0 0", false),
            ("portal /run/user/1000/doc fuse.portal rw 0 0", false),
            ("server:/home /home nfs4 rw 0 0", false),
            ("none /mnt 9p rw 0 0", false),
            ("share /work virtiofs rw 0 0", false),
            ("systemd-1 /mnt/disk autofs rw 0 0", false),
            ("a newer /x kernelfs", false),
            ("torn", false),
        ] {
            assert_eq!(answers(line.as_bytes()), expected, "{line}");
        }
    }
}

//! Disks and file systems.

use crate::RuleId;
use crate::meaning::walk::{Command, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    let args = command.args;
    let shown = || format!("{} {}", command.name, args.join(" "));
    let name = command.name;
    if name == "mkfs"
        || name.starts_with("mkfs.")
        || name.starts_with("newfs")
        || name == "mke2fs"
        || name == "mkswap"
    {
        return walker.report(RuleId::DiskFormat, &shown());
    }
    match name {
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "wipefs" | "hdparm"
        | "partprobe" | "cgdisk" | "dmsetup" | "losetup" => {
            let lists = args.iter().any(|word| {
                one_of!(
                    word.as_str(),
                    "-l --list --version --help print -p -a -I -n --no-act ls status"
                )
            });
            let wipes = name == "wipefs" && args.iter().any(|word| word == "-a" || word == "--all");
            if !lists || wipes {
                walker.report(RuleId::DiskFormat, &shown());
            }
        }
        "nvme" => {
            let verb = args.first().map_or("", String::as_str);
            if ["format", "sanitize", "delete-ns", "write", "reset", "fw-"]
                .iter()
                .any(|start| verb.starts_with(start))
            {
                walker.report(RuleId::DiskFormat, &shown());
            }
        }
        "diskutil" => {
            let verb = args.first().map_or("", String::as_str).to_ascii_lowercase();
            if words!("erase partition reformat zero secureerase unmount")
                .iter()
                .any(|start| verb.starts_with(start))
                || verb == "apfs"
            {
                walker.report(RuleId::DiskFormat, &shown());
            }
        }
        "cryptsetup" | "lvremove" | "vgremove" | "pvremove" | "lvreduce" | "mdadm" | "zpool"
        | "zfs" | "btrfs" | "e2fsck" | "fsck" | "tune2fs" | "resize2fs" | "xfs_repair"
        | "badblocks" | "blkdiscard" | "fstrim" => {
            let shows = args.iter().any(|word| {
                one_of!(
                    word.as_str(),
                    "status list get --detail show -l luksDump df"
                )
            });
            if !shows && !args.is_empty() {
                walker.report(RuleId::DiskFormat, &shown());
            }
        }
        "mount" if !args.is_empty() && !args.iter().all(|word| word == "-l" || word == "-t") => {
            walker.report(RuleId::DiskMount, &shown());
        }
        "umount" | "swapoff" if !args.is_empty() => walker.report(RuleId::DiskMount, &shown()),
        "format" | "format.com" if args.first().is_some_and(|word| word.ends_with(':')) => {
            walker.report(RuleId::DiskFormat, &shown())
        }
        _ => {}
    }
}

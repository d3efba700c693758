//! A disk that is full soon: a small tmpfs that only the run of this fault
//! sees, in a mount namespace of its own.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::evidence::{Evidence, Resumed};
use super::faults::text;
use super::place::Place;
use super::verdict::Skip;

/// Room for the run beyond the copy of the project.
const ROOM: u64 = 4 << 20;

/// Ways to a mount of one's own: as anybody, or as root where that is barred.
const WAYS: [&[&str]; 2] = [&["--user", "--map-root-user", "--mount"], &["--mount"]];

const MOUNT: &str = "mount -t tmpfs -o size=\"$2\" ralph-drill \"$1\"";

/// Runs until the disk is full, makes room, and goes on; what is left is
/// copied to a disk that stays.
const PLAY: &str = r#"
disk=$1 size=$2 project=$3 ralph=$4 tasks=$5 out=$6 state=$7
mount -t tmpfs -o size="$size" ralph-drill "$disk" || exit 99
root=$disk/project
cp -a "$project" "$root" || exit 98
cd "$root" || exit 97
export XDG_STATE_HOME="$disk/state"
"$ralph" --root "$root" run --quiet --tasks "$root/$tasks" >"$out/run.out" 2>&1
echo $? >"$out/run.code"
rm -f "$root/ballast"
"$ralph" --root "$root" resume --yes --quiet >"$out/resume.out" 2>&1
echo $? >"$out/resume.code"
cp -a "$root/.ralph" "$project/"
mkdir -p "$state" && cp -a "$XDG_STATE_HOME"/ralph/projects/*/. "$state/"
"#;

#[derive(Debug)]
pub struct SmallDisk {
    way: &'static [&'static str],
    size: u64,
}

impl SmallDisk {
    /// Tries the mount; `bytes` are those of the project.
    pub fn find(place: &Place, bytes: u64) -> io::Result<Result<SmallDisk, Skip>> {
        std::fs::create_dir_all(place.disk())?;
        let mut words = String::new();
        for way in WAYS {
            let output = Command::new("unshare")
                .args(way)
                .args(["sh", "-c", MOUNT, "sh", &text(&place.disk()), "64k"])
                .stdin(Stdio::null())
                .output()?;
            if output.status.success() {
                // Every file takes whole pages.
                let size = 2 * bytes + ROOM;
                return Ok(Ok(SmallDisk { way, size }));
            }
            words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        }
        Ok(Err(Skip::NoSmallDisk { words }))
    }

    pub fn command(&self, place: &Place, program: &Path) -> (String, Vec<String>) {
        let mut args: Vec<String> = self.way.iter().map(|&word| word.into()).collect();
        args.extend(["sh", "-c", PLAY, "sh"].map(String::from));
        args.push(text(&place.disk()));
        args.push(self.size.to_string());
        args.push(text(&place.project()));
        args.push(text(program));
        args.push(text(place.tasks_name()));
        args.push(text(&place.file("")));
        args.push(text(place.layout().state_dir()));
        ("unshare".into(), args)
    }

    /// What both processes left on the disk that stays.
    pub fn read_results(&self, place: &Place, seen: &mut Evidence) {
        let read = |name: &str| std::fs::read_to_string(place.file(name)).unwrap_or_default();
        let code = |name: &str| read(name).trim().parse::<i32>().ok();
        seen.exit = code("run.code");
        seen.resume = code("resume.code").map(|code| Resumed { code });
        seen.said.push_str(&read("run.out"));
        seen.said.push_str(&read("resume.out"));
    }
}

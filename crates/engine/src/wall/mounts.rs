//! What those behind the wall see of the machine, as arguments of bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What becomes of one place. Where two meet, the deeper one counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum See {
    /// An empty folder in its place.
    Hidden,
    /// To be read; from another place, where one is given.
    Read(Option<PathBuf>),
    /// To be changed.
    Write(Option<PathBuf>),
}

pub type View = (PathBuf, See);

/// The whole machine to be read, with these places in it. Each is a mount, and
/// each mount costs a turn some time.
pub fn arguments(mut views: Vec<View>, is_root: bool) -> Vec<OsString> {
    // A place that is hidden and shown is shown.
    views.sort_by(|(a, see_a), (b, see_b)| {
        let depth = |path: &Path| path.components().count();
        (depth(a), a, see_a).cmp(&(depth(b), b, see_b))
    });
    views.dedup();
    let mut arguments = words(&["--ro-bind", "/", "/"]);
    arguments.extend(words(&["--dev", "/dev", "--proc", "/proc"]));
    // Root may write there without any right of its own.
    for name in OF_THE_MACHINE.iter().filter(|_| is_root) {
        arguments.extend(words(&["--ro-bind-try", name, name]));
    }
    for (at, (path, see)) in views.iter().enumerate() {
        let above = views.iter().take(at);
        let is_new = path.starts_with("/dev") || path.starts_with("/proc");
        let is_changed = is_new
            || above
                .clone()
                .any(|(other, see)| path.starts_with(other) && *see != See::Read(None));
        let (flag, from) = match see {
            See::Hidden if is_empty_anyway(&views, path) => continue,
            See::Hidden => {
                arguments.extend(["--tmpfs".into(), path.into()]);
                continue;
            }
            // It can be read already.
            See::Read(None) if !is_changed => continue,
            See::Read(from) => ("--ro-bind", from),
            See::Write(from) => ("--bind", from),
        };
        let from = from.as_ref().unwrap_or(path);
        arguments.extend([flag.into(), from.into(), path.into()]);
    }
    arguments
}

/// Whether something else stands in this place, or all around it is hidden.
fn is_empty_anyway(views: &[View], path: &Path) -> bool {
    let here = views.iter().filter(|(other, _)| other == path);
    let around = views
        .iter()
        .filter(|(other, _)| other != path && path.starts_with(other));
    let nearest = around.max_by_key(|(other, see)| (other.components().count(), see));
    here.max().is_some_and(|(_, see)| *see != See::Hidden)
        || nearest.is_some_and(|(_, see)| *see == See::Hidden)
}

/// What steers the whole machine.
const OF_THE_MACHINE: [&str; 7] = [
    "/proc/acpi", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/scsi", "/proc/sys",
    "/proc/sysrq-trigger",
];

pub fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// The folders between a place and what is kept in it. Each is a mount of its
/// own, or somebody could move it away with all that is kept and put another
/// in its place.
pub fn between(place: &Path, kept: &Path) -> Vec<PathBuf> {
    let above = kept.ancestors().skip(1);
    let inside = above.take_while(|folder| *folder != place);
    let mut folders: Vec<PathBuf> = inside.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deeper_place_counts_and_what_can_be_read_is_left_alone() {
        let views = vec![
            ("/tmp/x/proj/.git".into(), See::Write(None)),
            ("/tmp/x/proj/.git/config".into(), See::Read(None)),
            ("/tmp/x/proj".into(), See::Write(None)),
            ("/tmp".into(), See::Hidden),
            ("/tmp/x".into(), See::Read(None)),
            ("/usr/lib/agent".into(), See::Read(None)),
            ("/dev/shm/agent".into(), See::Read(None)),
            ("/home/a".into(), See::Write(Some("/state/home".into()))),
            ("/home".into(), See::Hidden),
            ("/home/a".into(), See::Hidden),
            ("/tmp/hidden/deeper".into(), See::Hidden),
            ("/home/a/.npm".into(), See::Read(None)),
        ];
        let shown: Vec<String> = arguments(views, true)
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let shown = shown.join(" ");
        assert!(
            shown.starts_with("--ro-bind / / --dev /dev --proc /proc --ro-bind-try"),
            "{shown}"
        );
        assert!(
            shown.ends_with(
                " --tmpfs /home --tmpfs /tmp --bind /state/home /home/a \
                 --ro-bind /tmp/x /tmp/x --ro-bind /dev/shm/agent /dev/shm/agent \
                 --ro-bind /home/a/.npm /home/a/.npm \
                 --bind /tmp/x/proj /tmp/x/proj --bind /tmp/x/proj/.git /tmp/x/proj/.git \
                 --ro-bind /tmp/x/proj/.git/config /tmp/x/proj/.git/config"
            ),
            "{shown}"
        );
    }

    #[test]
    fn what_lies_between_is_pinned() {
        let between = between(Path::new("/p"), Path::new("/p/.git/modules/a/config"));
        let expected = ["/p/.git", "/p/.git/modules", "/p/.git/modules/a"];
        assert_eq!(between, expected.map(PathBuf::from));
    }
}

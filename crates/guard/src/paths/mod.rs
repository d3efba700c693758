//! Where a path leads: one judge for file tools, operands of commands and
//! redirections.

pub mod control;
pub mod native;
mod resolved;
pub mod sensitive;

use std::borrow::Cow;
use std::collections::HashMap;

pub use resolved::Resolved;

use crate::mark;
use crate::{Context, World};

/// How many links a path may lead through.
const MAX_LINKS: usize = 40;

/// What a path means to the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The project's root or a directory that contains it.
    Project,
    /// Below the root, at this relative path.
    Inside(String),
    /// In a directory for temporary files.
    Temporary,
    /// Such a directory itself.
    TemporaryRoot,
    /// `/dev/null` and its like.
    Harmless,
    /// A device that holds data.
    Disk,
    Outside,
    /// The text does not say where.
    Unresolved,
}

/// Removes `.`, `..` and doubled slashes, without looking at the disk.
pub fn normalize(path: &str) -> String {
    let mut normal = String::with_capacity(path.len() + 1);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => leave(&mut normal),
            part => enter(&mut normal, part),
        }
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

fn enter(path: &mut String, part: &str) {
    path.push('/');
    path.push_str(part);
}

fn leave(path: &mut String) {
    path.truncate(path.rfind('/').unwrap_or(0));
}

/// Does an absolute path enter the project and leave it again by `..`?
pub fn climbs_out(path: &str, project: &str) -> bool {
    let root: Vec<&str> = project.split('/').filter(|part| !part.is_empty()).collect();
    // How deep we stand, and how many components of the root led there.
    let (mut depth, mut common) = (0usize, 0usize);
    let mut left = false;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let inside = common == root.len();
                depth = depth.saturating_sub(1);
                common = common.min(depth);
                left |= inside && common < root.len();
            }
            part => {
                if common == depth && root.get(common) == Some(&part) {
                    common += 1;
                    left &= common < root.len();
                }
                depth += 1;
            }
        }
    }
    left
}

/// Where the path really leads: every link on the way is followed, and `..`
/// means the parent of where it led. What does not exist is taken as written.
pub fn resolve(path: &str, links: &HashMap<String, String>, world: &dyn World) -> String {
    let mut todo: Vec<Cow<str>> = path.split('/').rev().map(Cow::Borrowed).collect();
    let mut real = String::with_capacity(path.len() + 1);
    let mut followed = 0;
    while let Some(part) = todo.pop() {
        match &*part {
            "" | "." => continue,
            ".." => {
                leave(&mut real);
                continue;
            }
            _ => {}
        }
        let before = real.len();
        enter(&mut real, &part);
        let target = match links.get(&real) {
            Some(target) => Some(target.clone()),
            None => world.link_target(&real),
        };
        if let Some(target) = target.filter(|_| followed < MAX_LINKS) {
            followed += 1;
            real.truncate(if target.starts_with('/') { 0 } else { before });
            let parts = target.split('/').rev();
            todo.extend(parts.map(|part| Cow::Owned(part.to_owned())));
        }
    }
    if real.is_empty() {
        "/".to_owned()
    } else {
        real
    }
}

/// Is `path` below `root`, component by component, or `root` itself?
pub fn is_within(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The zone of an absolute, normalized path.
pub fn zone(context: &Context, path: &str) -> Zone {
    let known = path.split(mark::is_computed).next().unwrap_or_default();
    if known.len() < path.len() {
        return computed_zone(context, known, path);
    }
    if path.contains("/../") || path.ends_with("/..") {
        return match zone(context, &normalize(path)) {
            Zone::Temporary | Zone::TemporaryRoot if climbs_out(path, context.project) => {
                Zone::Outside
            }
            zone => zone,
        };
    }
    if context.ignore_case {
        let lower = |text: &str| text.to_lowercase();
        let temporary: Vec<String> = context.temporary.iter().map(|path| lower(path)).collect();
        let folded = Context {
            project: &lower(context.project),
            home: &lower(context.home),
            temporary: &temporary,
            ..*context
        };
        return known_zone(&folded, &lower(path));
    }
    known_zone(context, path)
}

/// The zone of a path whose case is that of the context.
fn known_zone(context: &Context, path: &str) -> Zone {
    let project = context.project;
    if let Some(device) = path.strip_prefix("/dev/") {
        return device_zone(device);
    }
    if context.temporary.iter().any(|directory| path == directory) && path != project {
        return Zone::TemporaryRoot;
    }
    if is_within(project, path) {
        return Zone::Project;
    }
    if is_within(path, project) {
        let relative = path.get(project.len()..).unwrap_or_default();
        return Zone::Inside(relative.trim_start_matches('/').to_owned());
    }
    let allowed = |allowed: &String| {
        let allowed = expand_home(allowed, context.home);
        is_within(path, &allowed) || context.ignore_case && is_within(path, &allowed.to_lowercase())
    };
    if context.settings.allow_paths.iter().any(allowed) {
        return Zone::Temporary;
    }
    for directory in context.temporary {
        // A home directory there is somebody's home all the same.
        let at_home = is_within(context.home, directory) && is_within(path, context.home);
        if is_within(path, directory) && !at_home && !beside_project(path, project, directory) {
            return Zone::Temporary;
        }
    }
    Zone::Outside
}

fn expand_home(path: &str, home: &str) -> String {
    match path.strip_prefix('~') {
        Some(rest) => format!("{home}{rest}"),
        None => path.trim_end_matches('/').to_owned(),
    }
}

/// A project may itself lie in a directory for temporary files; what lies
/// around it there, or has its name as a prefix, is none of its business.
fn beside_project(path: &str, project: &str, directory: &str) -> bool {
    let Some(within) = project
        .strip_prefix(directory)
        .and_then(|p| p.strip_prefix('/'))
    else {
        return false;
    };
    let top = within.split('/').next().unwrap_or(within);
    let rest = path.get(directory.len()..).unwrap_or_default();
    let theirs = rest
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if within.contains('/') {
        theirs == top
    } else {
        theirs.starts_with(top)
    }
}

fn device_zone(device: &str) -> Zone {
    let first = device.split('/').next().unwrap_or(device);
    match first {
        "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr" | "tty"
        | "fd" | "ptmx" | "pts" | "console" => Zone::Harmless,
        "shm" => Zone::Temporary,
        "tcp" | "udp" => Zone::Outside,
        _ => Zone::Disk,
    }
}

/// A path with an unresolved part: the directory before that part counts, if
/// it is one below the project or a temporary one.
fn computed_zone(context: &Context, known: &str, path: &str) -> Zone {
    let Some((directory, _)) = known.rsplit_once('/') else {
        return Zone::Unresolved;
    };
    if path.contains("/../") || path.ends_with("/..") || directory.is_empty() {
        return Zone::Unresolved;
    }
    match zone(context, directory) {
        Zone::Inside(relative) => Zone::Inside(format!("{relative}/computed")),
        Zone::Temporary => Zone::Temporary,
        // `/tmp/$name` may be `/tmp/` with an empty name, but not more.
        Zone::TemporaryRoot => Zone::Temporary,
        Zone::Outside if directory.len() > 1 => Zone::Outside,
        _ => Zone::Unresolved,
    }
}

//! The path rules: reading, writing and deleting, whoever does it.

use crate::RuleId;
use crate::finding::Found;
use std::collections::HashMap;

use super::env::Env;
use super::walker::Walker;
use crate::mark;
use crate::paths::{self, Zone, control, sensitive};

/// A path as it will be used: lexically and after its links.
struct Place {
    zone: Zone,
    /// Where it really leads.
    real: String,
    /// Inside as written, outside after its links.
    escapes: bool,
}

fn places(walker: &mut Walker, action: &'static str, path: &str, env: &Env) -> Vec<Place> {
    let mut places = Vec::new();
    for absolute in absolutes(walker, path, env) {
        let written = paths::normalize(&absolute);
        // What a process has open is named by links of its own.
        let real = if absolute.starts_with("/dev/fd/") || absolute.starts_with("/dev/std") {
            written.clone()
        } else {
            walker.resolved.resolve(&absolute, &env.links)
        };
        let mut zone = paths::zone(walker.context, &real);
        let lexical = match real == written {
            true => zone.clone(),
            false => paths::zone(walker.context, &written),
        };
        if matches!(zone, Zone::Temporary | Zone::TemporaryRoot)
            && paths::climbs_out(&absolute, walker.project())
        {
            zone = Zone::Outside;
        }
        let inside = |zone: &Zone| matches!(zone, Zone::Inside(_) | Zone::Project);
        // A root that itself lies behind a link is compared behind it.
        if zone == Zone::Outside && inside(&lexical) {
            let root = paths::resolve(
                walker.context.project,
                &HashMap::new(),
                walker.context.world,
            );
            if paths::is_within(&real, &root) {
                zone = lexical.clone();
            }
        }
        let escapes = inside(&lexical) && !inside(&zone) && zone != Zone::Unresolved;
        walker.trace.path(action, path, &real);
        places.push(Place {
            zone,
            real,
            escapes,
        });
    }
    places
}

/// Absolute, but with `..` still in it: behind a link it means its target.
fn absolutes(walker: &Walker, path: &str, env: &Env) -> Vec<String> {
    let path = walker.native(path).into_owned();
    if let Some(rest) = path.strip_prefix("file://") {
        return vec![rest.to_owned()];
    }
    if path.starts_with('/') {
        return vec![path];
    }
    if path == "~" || path.starts_with("~/") {
        return vec![path.replacen('~', walker.home(), 1)];
    }
    env.directories
        .iter()
        .map(|directory| format!("{directory}/{path}"))
        .collect()
}

/// Which rule a path outside breaks: an upward path and an escaping link
/// have names of their own.
fn outside_rule(place: &Place, path: &str, otherwise: RuleId) -> RuleId {
    if place.escapes {
        RuleId::PathSymlinkEscape
    } else if path.split(['/', '\\']).any(|part| part == "..") {
        RuleId::PathTraversal
    } else {
        otherwise
    }
}

/// Some files hold secrets, others values with secrets among them.
fn secret_rule(path: &str) -> RuleId {
    match sensitive::holds_values(path) {
        true => RuleId::SecretValues,
        false => RuleId::SecretFile,
    }
}

/// Is it part of the guard's control plane?
fn is_control(walker: &Walker, place: &Place) -> bool {
    if let Some(binary) = walker.context.binary
        && place.real == binary
    {
        return true;
    }
    match &place.zone {
        Zone::Inside(relative) => control::is_protected(relative),
        Zone::Outside => place
            .real
            .strip_prefix(walker.home())
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(control::is_protected_at_home),
        _ => false,
    }
}

fn in_git(place: &Place) -> bool {
    match &place.zone {
        Zone::Inside(relative) => {
            let first = relative.split('/').next().unwrap_or(relative);
            first.eq_ignore_ascii_case(".git")
        }
        _ => false,
    }
}

fn in_remote(walker: &mut Walker, path: &str, env: &Env, tree: bool) {
    let within;
    let path = match env.directories.first() {
        // `cd /srv && rm -rf app` over there.
        Some(directory)
            if !path.starts_with(['/', '~']) && !paths::is_within(directory, walker.project()) =>
        {
            within = format!("{directory}/{path}");
            &within
        }
        _ => path,
    };
    let precious = path.starts_with('/') || path.starts_with('~') || path.contains(mark::UNKNOWN);
    let passing = words!(
        "/tmp/ /var/tmp/ /app/ /workspace/ /code/ /usr/src/app/ /var/cache/ /var/lib/apt/lists/"
    )
    .iter()
    .any(|start| path.starts_with(start))
        && !paths::is_within(path, walker.home());
    let everything = matches!(path, "." | ".." | "*") || path.starts_with(mark::STAR);
    if (precious && !passing && tree) || (everything && tree) {
        walker.report(RuleId::FsDeleteOutside, path);
    }
}

/// Each of several paths is read.
pub fn read_all<P: AsRef<str>>(w: &mut Walker, paths: impl IntoIterator<Item = P>, env: &Env) {
    paths
        .into_iter()
        .for_each(|path| read(w, path.as_ref(), env));
}

pub fn write_all<P: AsRef<str>>(w: &mut Walker, paths: impl IntoIterator<Item = P>, env: &Env) {
    paths
        .into_iter()
        .for_each(|path| write(w, path.as_ref(), env));
}

/// Each goes with everything below it.
pub fn delete_all<P: AsRef<str>>(w: &mut Walker, paths: impl IntoIterator<Item = P>, env: &Env) {
    paths
        .into_iter()
        .for_each(|path| delete(w, path.as_ref(), env, true));
}

/// Something is deleted, with everything below it if it is a `tree`.
pub fn delete(walker: &mut Walker, path: &str, env: &Env, tree: bool) {
    if path.is_empty() {
        return;
    }
    if env.elsewhere {
        return in_remote(walker, path, env, tree);
    }
    for place in places(walker, "delete", path, env) {
        let covers_root = covers_everything(walker, &place);
        let rule = match &place.zone {
            _ if covers_root => RuleId::FsDeleteProject,
            Zone::Unresolved => RuleId::OpaqueTarget,
            Zone::Project if is_root(walker, &place.real) => RuleId::FsDeleteProject,
            Zone::Project => outside_rule(&place, path, RuleId::FsDeleteOutside),
            Zone::Outside => outside_rule(&place, path, RuleId::FsDeleteOutside),
            Zone::TemporaryRoot | Zone::Disk => RuleId::FsDeleteOutside,
            Zone::Harmless => continue,
            Zone::Temporary if place.escapes => RuleId::PathSymlinkEscape,
            Zone::Temporary => {
                if everything_below_temporary(walker, &place.real) {
                    RuleId::FsDeleteOutside
                } else {
                    continue;
                }
            }
            Zone::Inside(_) if is_control(walker, &place) => RuleId::GuardControlPlane,
            Zone::Inside(relative) if matches_control(relative) => RuleId::GuardControlPlane,
            Zone::Inside(_) if in_git(&place) => RuleId::FsDeleteGit,
            Zone::Inside(_) if sensitive::is_sensitive(&place.real) => secret_rule(&place.real),
            Zone::Inside(relative) if matches_git(relative) => RuleId::FsDeleteGit,
            Zone::Inside(_) => continue,
        };
        walker.report(rule, path);
    }
}

/// The content of files goes: all of the project's is the project itself.
pub fn emptied(walker: &mut Walker, path: &str, env: &Env) {
    for place in places(walker, "empty", path, env) {
        if covers_everything(walker, &place) {
            walker.report(RuleId::FsDeleteProject, path);
        }
    }
}

/// `.cl*`: a glob that is written to mean a directory of the control plane.
fn matches_control(relative: &str) -> bool {
    let first = relative.split('/').next().unwrap_or(relative);
    mark::has_glob(first)
        && first.starts_with('.')
        && control::DIRECTORIES
            .iter()
            .any(|directory| mark::glob_match(first, directory))
}

/// `.git` by a glob, or anywhere below (`find -name .git`).
fn matches_git(relative: &str) -> bool {
    relative.split('/').any(|part| {
        part == ".git"
            || (mark::has_glob(part) && part.starts_with('.') && mark::glob_match(part, ".git"))
    })
}

/// `*` and `.*` directly below the root, or below a directory above it.
fn covers_everything(walker: &Walker, place: &Place) -> bool {
    let Some((parent, last)) = place.real.rsplit_once('/') else {
        return false;
    };
    let all = !last.is_empty()
        && last
            .chars()
            .all(|c| matches!(c, mark::STAR | '.' | mark::ANY) || c == '*');
    let parent = if parent.is_empty() { "/" } else { parent };
    all && mark::has_glob(last) && matches!(paths::zone(walker.context, parent), Zone::Project)
}

fn everything_below_temporary(walker: &Walker, real: &str) -> bool {
    walker.context.temporary.iter().any(|directory| {
        real.strip_prefix(directory.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|rest| rest.chars().all(mark::is_glob) && !rest.is_empty())
    })
}

/// A link is made: one to a whole tree of the system opens it to every path
/// below the project.
pub fn linked(walker: &mut Walker, source: &str) {
    let leads_away = matches!(source, "/" | "/etc" | "/home" | "/var" | "/usr" | "/root")
        || source == walker.home();
    if leads_away {
        walker.report(RuleId::PathSymlinkEscape, source);
    }
}

/// Something is written, created or changed.
pub fn write(walker: &mut Walker, path: &str, env: &Env) {
    if path.is_empty() || env.elsewhere {
        return;
    }
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return walker.report(RuleId::NetReverseShell, path);
    }
    for place in places(walker, "write", path, env) {
        let rule = match &place.zone {
            Zone::Unresolved | Zone::Harmless => {
                let name = path.rsplit('/').next().unwrap_or(path);
                if mark::has_computed(path) && sensitive::is_sensitive(name) {
                    secret_rule(name)
                } else {
                    continue;
                }
            }
            Zone::Disk => RuleId::DiskRawWrite,
            _ if is_control(walker, &place) => RuleId::GuardControlPlane,
            Zone::Outside => outside_rule(&place, path, RuleId::FsWriteOutside),
            Zone::Project if !is_root(walker, &place.real) => {
                outside_rule(&place, path, RuleId::FsWriteOutside)
            }
            Zone::Temporary | Zone::TemporaryRoot if place.escapes => RuleId::PathSymlinkEscape,
            Zone::Inside(_) if in_git(&place) => RuleId::FsWriteGit,
            Zone::Inside(_) | Zone::Temporary if sensitive::is_sensitive(&place.real) => {
                secret_rule(&place.real)
            }
            _ => continue,
        };
        walker.report(rule, path);
    }
}

/// A file's content is read by a command.
pub fn read(walker: &mut Walker, path: &str, env: &Env) {
    if path.is_empty() {
        return;
    }
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return walker.report(RuleId::NetReverseShell, path);
    }
    for place in places(walker, "read", path, env) {
        let written_here = env.files.contains_key(&place.real);
        if sensitive::is_sensitive(&place.real) && !written_here {
            walker.report(secret_rule(&place.real), path);
            continue;
        }
        if env.elsewhere || written_here {
            continue;
        }
        let rule = match &place.zone {
            Zone::Outside if is_public(walker, &place.real) => continue,
            // The public half of a key is there to be shown.
            Zone::Outside if place.real.ends_with(".pub") => continue,
            Zone::Project if !is_root(walker, &place.real) => {
                outside_rule(&place, path, RuleId::PathOutsideRead)
            }
            Zone::Outside => outside_rule(&place, path, RuleId::PathOutsideRead),
            Zone::Disk => RuleId::DiskRawRead,
            _ => continue,
        };
        walker.report(rule, path);
    }
}

/// Files outside the project that every build reads.
fn is_public(walker: &Walker, real: &str) -> bool {
    const SYSTEM: &[&str] = words!(
        "/usr /opt /lib /lib64 /bin /sbin /etc /proc /sys /nix /snap /var/log /Library /System
         /Applications"
    );
    const TOOLS: &[&str] = words!(
        ".cargo .rustup .nvm .npm .cache go .local .m2 .gradle .pyenv .rbenv .sdkman .volta
         .bun .deno .asdf .bashrc .zshrc .profile .bash_profile .gitconfig .gitignore_global
         .pnpm-store .yarn"
    );
    SYSTEM
        .iter()
        .any(|directory| paths::is_within(real, directory))
        || TOOLS
            .iter()
            .any(|name| paths::is_within(real, &format!("{}/{name}", walker.home())))
}

/// A path stands somewhere in code or in the arguments of a program that we
/// do not know: only a secret is worth a word.
pub fn mentioned(walker: &mut Walker, path: &str, env: &Env) {
    if path.contains(['\n', '"', '(', '=', ',']) || path.len() > 300 {
        return;
    }
    for place in places(walker, "mention", path, env) {
        let written_here = env.files.contains_key(&place.real);
        if sensitive::is_sensitive(&place.real) && !written_here {
            walker.report(secret_rule(&place.real), path);
        }
    }
}

/// A directory's names are listed: only those of credentials are none of
/// the agent's business.
pub fn list(walker: &mut Walker, path: &str, env: &Env) {
    for place in places(walker, "list", path, env) {
        let directory = format!("{}/", place.real);
        let secret = has_any!(
            directory,
            "/.ssh/ /.gnupg/ /.aws/ /.password-store/ /run/secrets/"
        );
        if secret && !env.elsewhere {
            walker.report(RuleId::SecretFile, path);
        }
    }
}

/// A file tool reads: nothing outside the project is its business.
pub fn tool_read(walker: &mut Walker, path: &str, env: &Env) {
    for place in places(walker, "read", path, env) {
        let rule = match &place.zone {
            _ if sensitive::is_sensitive(&place.real) => secret_rule(&place.real),
            Zone::Outside | Zone::Disk => outside_rule(&place, path, RuleId::PathOutside),
            Zone::Project if !is_root(walker, &place.real) => {
                outside_rule(&place, path, RuleId::PathOutside)
            }
            Zone::Temporary if place.escapes => RuleId::PathSymlinkEscape,
            _ => continue,
        };
        walker.report(rule, path);
    }
}

fn is_root(walker: &Walker, real: &str) -> bool {
    real == walker.project()
        || real == paths::resolve(walker.project(), &HashMap::new(), walker.context.world)
}

/// A file tool writes.
pub fn tool_write(walker: &mut Walker, path: &str, env: &Env) {
    let before = walker.findings.len();
    write(walker, path, env);
    for finding in walker.findings.iter_mut().skip(before) {
        if finding.is(RuleId::FsWriteOutside) {
            finding.rule = Found::BuiltIn(RuleId::PathOutside);
        }
    }
}

/// Every file that stands in a patch.
pub fn patched(walker: &mut Walker, text: &str, env: &Env) {
    for line in text.lines() {
        let path = [
            "*** Add File: ", "*** Update File: ", "*** Move to: ", "+++ b/", "+++ ",
        ]
        .iter()
        .find_map(|start| line.strip_prefix(start));
        if let Some(path) = path {
            tool_write(walker, path.trim(), env);
        }
        if let Some(path) = line.strip_prefix("*** Delete File: ") {
            delete(walker, path.trim(), env, false);
        }
    }
}

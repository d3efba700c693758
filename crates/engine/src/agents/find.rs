//! Where an agent's program is.

use std::path::{Path, PathBuf};

/// The program that a name means: a path from the project or from here, or
/// the first match on `PATH`.
pub fn find_program(name: &std::ffi::OsStr, root: &Path) -> Option<PathBuf> {
    places(name, root).into_iter().find(|p| is_program(p))
}

/// The file that would be the program, could it be run.
pub fn find_file(name: &std::ffi::OsStr, root: &Path) -> Option<PathBuf> {
    let found = places(name, root).into_iter().find(|p| p.is_file())?;
    // Without the `.` of `./agent` in the middle.
    Some(found.components().collect())
}

/// The child starts in the project, so that a name must not depend on where
/// this program was started.
fn places(name: &std::ffi::OsStr, root: &Path) -> Vec<PathBuf> {
    let path = Path::new(name);
    let here = std::env::current_dir().unwrap_or_default();
    if path.components().count() > 1 {
        return vec![root.join(path), here.join(path)];
    }
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    on_path(&dirs, path, &here)
}

fn on_path(dirs: &std::ffi::OsStr, name: &Path, here: &Path) -> Vec<PathBuf> {
    std::env::split_paths(dirs)
        .flat_map(|dir| candidates(&here.join(dir), name))
        .collect()
}

#[cfg(not(windows))]
fn candidates(dir: &Path, name: &Path) -> Vec<PathBuf> {
    vec![dir.join(name)]
}

#[cfg(windows)]
fn candidates(dir: &Path, name: &Path) -> Vec<PathBuf> {
    let name = name.to_string_lossy();
    names_on_windows(&name).map(|name| dir.join(name)).collect()
}

/// What a name can mean there. npm puts a script for a Unix shell beside
/// `claude.cmd`, under the bare name: nobody can start that one.
#[cfg(any(windows, test))]
fn names_on_windows(name: &str) -> impl Iterator<Item = String> {
    const STARTED: [&str; 3] = [".exe", ".cmd", ".bat"];
    let lower = name.to_lowercase();
    let is_whole = STARTED.iter().any(|ending| lower.ends_with(ending));
    let endings: &[&str] = if is_whole { &[""] } else { &STARTED };
    endings.iter().map(move |ending| format!("{name}{ending}"))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn relative_directories_on_the_path_are_meant_from_here() {
        let path = "/usr/bin:node_modules/.bin".as_ref();
        let places = on_path(path, Path::new("tool"), Path::new("/p/sub"));
        let want = ["/usr/bin/tool", "/p/sub/node_modules/.bin/tool"];
        assert_eq!(places, want.map(PathBuf::from));
    }

    /// A dot in a name is no ending that can be started.
    #[test]
    fn windows_starts_no_script_of_a_unix_shell() {
        let names = |name| names_on_windows(name).collect::<Vec<_>>().join(" ");
        assert_eq!(names("claude"), "claude.exe claude.cmd claude.bat");
        assert_eq!(names("npm.CMD"), "npm.CMD");
        assert_eq!(names("v1.2"), "v1.2.exe v1.2.cmd v1.2.bat");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_found_by_path_or_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for (name, mode) in [("tool", 0o755), ("plain", 0o644)] {
            std::fs::write(bin.join(name), "").unwrap();
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(bin.join(name), permissions).unwrap();
        }
        let find = |name: &str| find_program(name.as_ref(), dir.path());
        assert_eq!(find("bin/tool"), Some(dir.path().join("bin/tool")));
        assert_eq!(find("./bin/tool"), Some(dir.path().join("./bin/tool")));
        let absolute = bin.join("tool");
        assert_eq!(find(absolute.to_str().unwrap()), Some(absolute));
        for nothing in ["bin/plain", "bin/nobody", "bin", "tool", "", "./"] {
            assert_eq!(find(nothing), None, "{nothing}");
        }
        assert!(find("sh").is_some_and(|sh| sh.is_absolute()));
    }
}

//! Paths as Windows and macOS write them, in the one form that everything
//! else compares: from the root, with slashes, a drive as its first part
//! (`/C:/Users`), a share below `/UNC`.

use std::borrow::Cow;

/// The path in that form, or as it is where it needs no change.
pub fn portable(path: &str) -> Cow<'_, str> {
    if !is_foreign(path) {
        return Cow::Borrowed(path);
    }
    converted(path)
}

/// The same on a machine with Windows, where the shells of a Unix have names
/// of their own for its drives.
pub fn portable_on_windows(path: &str) -> Cow<'_, str> {
    match mounted(path).or_else(|| from_somewhere(path)) {
        Some((letter, rest)) => Cow::Owned(on_drive(letter, rest)),
        None => portable(path),
    }
}

/// `C:Users`: from where somebody stands on that drive, which nobody knows.
/// The root is the careful reading; it is also what is left of `C:\Users` in a
/// shell that takes the backslash away.
fn from_somewhere(path: &str) -> Option<(char, &str)> {
    let letter = path.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = path.get(1..)?.strip_prefix(':')?;
    let is_name = rest.starts_with(|c: char| c.is_alphanumeric() || c == '.');
    is_name.then_some((letter, rest))
}

fn converted(path: &str) -> Cow<'_, str> {
    let slashes = path.replace('\\', "/");
    let device = words!("//?/ //./ /??/")
        .iter()
        .find_map(|start| slashes.strip_prefix(start));
    let rest = device.unwrap_or(&slashes);
    if let Some((letter, rest)) = drive(rest) {
        return Cow::Owned(on_drive(letter, rest));
    }
    let share = match device {
        Some(rest) => strip_ignoring_case(rest, "UNC/"),
        None if path.starts_with("\\\\") => slashes.strip_prefix("//"),
        None => None,
    };
    if let Some(share) = share {
        return Cow::Owned(format!("/UNC/{share}"));
    }
    for (start, real) in [
        ("/private/etc", "/etc"),
        ("/private/var", "/var"),
        ("/private/tmp", "/tmp"),
        ("/System/Volumes/Data", ""),
        ("/Volumes/Macintosh HD", ""),
    ] {
        if let Some(rest) = slashes.strip_prefix(start)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            let real = format!("{real}{rest}");
            return Cow::Owned(if real.is_empty() {
                "/".to_owned()
            } else {
                real
            });
        }
    }
    Cow::Owned(slashes)
}

/// A quick look that spares nearly every path the rest.
fn is_foreign(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.contains('\\')
        || bytes.get(1) == Some(&b':')
        || bytes.first() == Some(&b'/')
            && (bytes.get(2) == Some(&b':')
                || path.starts_with("//?/")
                || path.starts_with("//./")
                || path.starts_with("/private/")
                || path.starts_with("/System/Volumes/")
                || path.starts_with("/Volumes/"))
}

/// The letter of a drive and what follows.
fn drive(path: &str) -> Option<(char, &str)> {
    let plain = path.strip_prefix('/').unwrap_or(path);
    let letter = plain.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = plain.get(1..)?.strip_prefix(':')?;
    // `a:b` is a host and its path.
    let is_path = rest.is_empty() || rest.starts_with('/') || path.starts_with('/');
    is_path.then_some((letter, rest))
}

/// The same as WSL, Cygwin and the shell of Git write it.
fn mounted(path: &str) -> Option<(char, &str)> {
    let below = words!("/mnt/ /cygdrive/ /")
        .iter()
        .find_map(|start| path.strip_prefix(start))?;
    let letter = below.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = below.get(1..)?;
    (rest.is_empty() || rest.starts_with('/')).then_some((letter, rest))
}

/// Windows drops dots and blanks at the end of a name, and the name of a
/// stream behind a colon.
fn on_drive(letter: char, rest: &str) -> String {
    let mut path = format!("/{}:", letter.to_ascii_uppercase());
    for part in rest.split('/').filter(|part| !part.is_empty()) {
        let part = part.split(':').next().unwrap_or(part);
        let trimmed = part.trim_end_matches(['.', ' ']);
        path.push('/');
        path.push_str(if trimmed.is_empty() { part } else { trimmed });
    }
    path
}

fn strip_ignoring_case<'p>(text: &'p str, start: &str) -> Option<&'p str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start)
        .then(|| text.get(start.len()..))?
}

/// Does the path lie on a drive or a share of Windows, where `A` is `a`?
pub fn on_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first() == Some(&b'/') && bytes.get(2) == Some(&b':') || path.starts_with("/UNC/")
}

/// The path as the system of the machine itself takes it.
pub fn for_system(path: &str) -> &str {
    match path.strip_prefix('/') {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_writes_the_same_place_its_own_way() {
        for (written, want) in [
            (r"C:\Users\dev", "/C:/Users/dev"),
            ("c:/Users/dev", "/C:/Users/dev"),
            ("C:", "/C:"),
            (r"C:\", "/C:"),
            (r"\\?\C:\Windows", "/C:/Windows"),
            (r"\\.\C:\Windows", "/C:/Windows"),
            (r"\??\C:\Windows", "/C:/Windows"),
            ("//?/C:/Windows", "/C:/Windows"),
            (r"\\server\share\x", "/UNC/server/share/x"),
            (r"\\?\UNC\server\share", "/UNC/server/share"),
            (r"\\?\unc\server\share", "/UNC/server/share"),
            ("/mnt/c/Users", "/mnt/c/Users"),
            ("/c/Users", "/c/Users"),
            ("/C:/Users", "/C:/Users"),
            (
                r"C:\Windows.\system32 \x.txt::$DATA",
                "/C:/Windows/system32/x.txt",
            ),
            (r"C:\a\..\b", "/C:/a/../b"),
            ("/private/etc/passwd", "/etc/passwd"),
            ("/private/tmp", "/tmp"),
            ("/private/etcetera", "/private/etcetera"),
            ("/System/Volumes/Data/Users/dev", "/Users/dev"),
            ("/Volumes/Macintosh HD/etc", "/etc"),
            ("/Volumes/Backup/x", "/Volumes/Backup/x"),
            ("/mnt/data/x", "/mnt/data/x"),
            (r"src\main.rs", "src/main.rs"),
            ("src/main.rs", "src/main.rs"),
            ("/usr/bin", "/usr/bin"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(portable(written), want, "{written}");
        }
    }

    #[test]
    fn a_unix_shell_on_windows_has_its_own_names_for_drives() {
        for (written, want) in [
            ("/mnt/c/Users", "/C:/Users"),
            ("/cygdrive/d", "/D:"),
            ("/c/Users", "/C:/Users"),
            ("/mnt/data/x", "/mnt/data/x"),
            (r"C:\Users", "/C:/Users"),
            ("C:Users", "/C:/Users"),
            ("host:path", "host:path"),
            ("/tmp/x", "/tmp/x"),
        ] {
            assert_eq!(portable_on_windows(written), want, "{written}");
        }
    }

    #[test]
    fn the_system_gets_its_drive_back() {
        assert_eq!(for_system("/C:/Users"), "C:/Users");
        assert_eq!(for_system("/home/dev"), "/home/dev");
        assert!(on_windows("/C:/x") && on_windows("/UNC/a/b") && !on_windows("/etc"));
    }
}

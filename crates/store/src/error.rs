//! What can go wrong with a file, told to people in their language.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

/// What was being done to a file when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Say)]
pub enum Action {
    #[say("create")]
    Create,
    #[say("open")]
    Open,
    #[say("read")]
    Read,
    #[say("write")]
    Write,
    #[say("save to disk")]
    Sync,
    #[say("shorten")]
    Truncate,
    #[say("replace")]
    Rename,
    #[say("remove")]
    Remove,
    #[say("lock")]
    Lock,
}

/// A failed operation on one file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    pub path: PathBuf,
    pub action: Action,
    pub kind: ErrorKind,
    /// The error number of the system, where it gave one.
    pub os_error: Option<i32>,
}

impl FileError {
    pub fn new(path: &Path, action: Action, error: &io::Error) -> FileError {
        FileError {
            path: path.to_owned(),
            action,
            kind: error.kind(),
            os_error: error.raw_os_error(),
        }
    }

    fn system_text(&self) -> String {
        match self.os_error {
            Some(code) => io::Error::from_raw_os_error(code).to_string(),
            None => self.kind.to_string(),
        }
    }
}

impl Say for FileError {
    fn say(&self, lang: Lang) -> String {
        let path = self.path.display();
        let action = self.action.say(lang);
        match self.kind {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => tr!(
                lang,
                "no space left: could not {action} {path}; free some space (`df -h` shows where), then start again"
            ),
            ErrorKind::ReadOnlyFilesystem => tr!(
                lang,
                "read-only file system: could not {action} {path}; make it writable or work in a copy of the project elsewhere"
            ),
            ErrorKind::PermissionDenied => {
                let dir = crate::sys::parent(&self.path).display();
                tr!(
                    lang,
                    "permission denied: could not {action} {path}; look at `ls -ld {dir}`, then run as the owner or allow writing with `chmod u+w`"
                )
            }
            ErrorKind::NotFound => tr!(
                lang,
                "could not {action} {path}: it does not exist; check the path"
            ),
            ErrorKind::AlreadyExists => tr!(
                lang,
                "could not {action} {path}: it exists already; move it away first"
            ),
            kind if kind == link_kind() => tr!(
                lang,
                "could not {action} {path}: a link stands there, and Ralph follows none within a project; put the file or the directory itself there"
            ),
            ErrorKind::NotADirectory => tr!(
                lang,
                "could not {action} {path}: a file stands where a directory is needed; move the file away, then start again"
            ),
            ErrorKind::IsADirectory => tr!(
                lang,
                "could not {action} {path}: a directory stands where a file is needed; move it away, then start again"
            ),
            ErrorKind::InvalidData => tr!(
                lang,
                "could not {action} {path}: it is not UTF-8 text; save it as UTF-8"
            ),
            _ => {
                let why = self.system_text();
                tr!(
                    lang,
                    "could not {action} {path}: {why}; check the disk and the path, then try again"
                )
            }
        }
    }
}

/// What the system says of a link where none is followed: it has no name of
/// its own in the library yet.
pub(crate) fn link_error() -> io::Error {
    #[cfg(unix)]
    return io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    io::Error::from(ErrorKind::NotADirectory)
}

fn link_kind() -> ErrorKind {
    link_error().kind()
}

/// `Display` for logs and tests: the English text.
macro_rules! display_in_english {
    ($($error:ty),+ $(,)?) => {$(
        impl fmt::Display for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.say(Lang::En))
            }
        }
        impl std::error::Error for $error {}
    )+};
}

display_in_english!(
    FileError,
    crate::journal::JournalError,
    crate::lock::LockError,
    crate::events::FilterError,
);

/// Adds the file and the action to an [`io::Error`].
pub(crate) trait At<T> {
    fn at(self, path: &Path, action: Action) -> Result<T, FileError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path, action: Action) -> Result<T, FileError> {
        self.map_err(|error| FileError::new(path, action, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say_all(kind: ErrorKind) -> String {
        let error = FileError::new(
            Path::new("p/.ralph/status.json"),
            Action::Write,
            &io::Error::from(kind),
        );
        Lang::ALL.map(|lang| error.say(lang)).join("\n")
    }

    #[test]
    fn a_full_disk_is_told_with_the_file_and_the_way_out() {
        insta::assert_snapshot!(say_all(ErrorKind::StorageFull), @"
        no space left: could not write p/.ralph/status.json; free some space (`df -h` shows where), then start again
        空間不足：無法寫入 p/.ralph/status.json；請先釋出空間（可用 `df -h` 查看），再重新開始
        空间不足：无法写入 p/.ralph/status.json；请先释放空间（可用 `df -h` 查看），再重新开始
        ");
    }

    #[test]
    fn a_missing_permission_is_told_with_the_directory_to_look_at() {
        insta::assert_snapshot!(say_all(ErrorKind::PermissionDenied), @"
        permission denied: could not write p/.ralph/status.json; look at `ls -ld p/.ralph`, then run as the owner or allow writing with `chmod u+w`
        權限不足：無法寫入 p/.ralph/status.json；請以 `ls -ld p/.ralph` 查看，再以擁有者身分執行，或用 `chmod u+w` 開放寫入
        权限不足：无法写入 p/.ralph/status.json；请用 `ls -ld p/.ralph` 查看，再以所有者身份运行，或用 `chmod u+w` 开放写入
        ");
    }

    #[test]
    fn a_read_only_disk_is_told() {
        insta::assert_snapshot!(say_all(ErrorKind::ReadOnlyFilesystem), @"
        read-only file system: could not write p/.ralph/status.json; make it writable or work in a copy of the project elsewhere
        檔案系統唯讀：無法寫入 p/.ralph/status.json；請改為可寫入，或把專案複製到別處再執行
        文件系统只读：无法写入 p/.ralph/status.json；请改为可写，或把项目复制到别处再运行
        ");
    }

    #[test]
    fn an_unclassified_error_keeps_the_words_of_the_system() {
        const EIO: i32 = 5;
        let error = FileError::new(
            Path::new("journal.jsonl"),
            Action::Sync,
            &io::Error::from_raw_os_error(EIO),
        );
        let text = error.to_string();
        assert!(
            text.starts_with("could not save to disk journal.jsonl: "),
            "{text}"
        );
        assert!(text.contains("os error 5"), "{text}");
    }
}

//! Why `ralph init` or `ralph uninstall` changes nothing.

use std::path::PathBuf;

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;
use ralph_store::FileError;

use super::manifest::Unusable;
use super::merge::MergeError;

/// Why nothing is installed or taken away.
#[derive(Debug)]
pub enum Problem {
    NoDirectory {
        root: PathBuf,
    },
    Itself {
        root: PathBuf,
    },
    Settings {
        path: String,
        error: MergeError,
    },
    /// The manifest names a file outside of the project.
    Outside {
        path: String,
    },
    File(FileError),
    Manifest(Unusable),
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Problem {
        Problem::File(error)
    }
}

impl From<Unusable> for Problem {
    fn from(error: Unusable) -> Problem {
        Problem::Manifest(error)
    }
}

impl Say for Problem {
    fn say(&self, lang: Lang) -> String {
        match self {
            Problem::NoDirectory { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root} is no directory; create the project first",
                    "{root} 不是目錄；請先建立專案",
                    "{root} 不是目录；请先创建项目"
                )
            }
            Problem::Itself { root } => {
                let root = root.display();
                tr!(
                    lang,
                    "{root} is Ralph's own source; name the project to install into",
                    "{root} 是 Ralph 自己的原始碼；請指定要安裝的專案",
                    "{root} 是 Ralph 自己的源代码；请指定要安装的项目"
                )
            }
            Problem::Settings { path, error } => settings(path, error, lang),
            Problem::Outside { path } => tr!(
                lang,
                ".ralph/install.json names {path}, which is outside of the project; nothing was changed. Move the file away, and Ralph's entries are found by their command lines",
                ".ralph/install.json 指向專案之外的 {path}；未作任何變更。請將該檔案移走，Ralph 會依命令列找出自己的項目",
                ".ralph/install.json 指向项目之外的 {path}；未作任何更改。请将该文件移走，Ralph 会按命令行找出自己的条目"
            ),
            Problem::File(error) => error.say(lang),
            Problem::Manifest(error) => error.say(lang),
        }
    }
}

fn settings(path: &str, error: &MergeError, lang: Lang) -> String {
    match error {
        MergeError::Syntax(error) => {
            let error = error.say(lang);
            tr!(
                lang,
                "{path}, {error}. Nothing was changed; mend the file first",
                "{path}，{error}。未作任何變更；請先修正該檔案",
                "{path}，{error}。未作任何更改；请先修正该文件"
            )
        }
        MergeError::Shape { path: key } if key.is_empty() => tr!(
            lang,
            "{path} holds no JSON object. Nothing was changed; mend the file first",
            "{path} 不是 JSON 物件。未作任何變更；請先修正該檔案",
            "{path} 不是 JSON 对象。未作任何更改；请先修正该文件"
        ),
        MergeError::Shape { path: key } => tr!(
            lang,
            "{path}: \"{key}\" is not what the agent expects there. Nothing was changed; mend the file first",
            "{path}：「{key}」的類型不是代理所要求的。未作任何變更；請先修正該檔案",
            "{path}：“{key}”的类型不是代理所要求的。未作任何更改；请先修正该文件"
        ),
    }
}

//! Why a checkpoint is not used, for people.

use super::{CheckpointError, NotCanonical};
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for CheckpointError {
    fn say(&self, lang: Lang) -> String {
        match self {
            CheckpointError::NotUtf8 => tr!(
                lang,
                "it is not UTF-8 text",
                "不是 UTF-8 文字",
                "不是 UTF-8 文本",
            ),
            CheckpointError::Malformed(error) => error.say(lang),
            CheckpointError::ChecksumMissing => {
                tr!(lang, "its checksum is missing", "缺少校驗和", "缺少校验和",)
            }
            CheckpointError::ChecksumWrong { stated, found } => tr!(
                lang,
                "its checksum is wrong (it says {stated}, its content has {found})",
                "校驗和不符（檔案寫 {stated}，內容為 {found}）",
                "校验和不符（文件写 {stated}，内容为 {found}）",
            ),
            CheckpointError::NewerVersion { version } => tr!(
                lang,
                "it has version {version}, which is newer than this ralph understands (3.0); update ralph",
                "版本為 {version}，比這個 ralph 能理解的（3.0）新；請更新 ralph",
                "版本为 {version}，比这个 ralph 能理解的（3.0）新；请更新 ralph",
            ),
            CheckpointError::UnknownVersion { version } => tr!(
                lang,
                "its version {version} is unknown",
                "版本 {version} 未知",
                "版本 {version} 未知",
            ),
            CheckpointError::NotACheckpoint { message } => tr!(
                lang,
                "it is not a checkpoint ({message})",
                "不是檢查點（{message}）",
                "不是检查点（{message}）",
            ),
        }
    }
}

impl Say for NotCanonical {
    fn say(&self, lang: Lang) -> String {
        match self {
            NotCanonical::NotJson { line, message } => tr!(
                lang,
                "line {line} is not JSON ({message})",
                "第 {line} 行不是 JSON（{message}）",
                "第 {line} 行不是 JSON（{message}）",
            ),
            NotCanonical::NotAnObject => tr!(
                lang,
                "it is not a JSON object",
                "不是 JSON 物件",
                "不是 JSON 对象",
            ),
            NotCanonical::TooDeep => tr!(
                lang,
                "it is nested too deeply",
                "巢狀層數過深",
                "嵌套层数过深",
            ),
        }
    }
}

//! The journal's problems in the languages of people.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::{Flaw, JournalError, Unstorable};

impl Say for Flaw {
    fn say(&self, lang: Lang) -> String {
        match self {
            Flaw::NotARecord => tr!(lang, "not a record", "不是紀錄", "不是记录"),
            Flaw::TooLong => tr!(lang, "line too long", "行過長", "行过长"),
            Flaw::BadChecksum => tr!(lang, "checksum mismatch", "校驗碼不符", "校验码不符"),
            Flaw::NotJson => tr!(lang, "not JSON", "不是 JSON", "不是 JSON"),
            Flaw::WrongNumber { expected, found } => tr!(
                lang,
                "record {found} where {expected} belongs",
                "應為第 {expected} 筆，卻是第 {found} 筆",
                "应为第 {expected} 条，却是第 {found} 条",
            ),
        }
    }
}

impl Say for Unstorable {
    fn say(&self, lang: Lang) -> String {
        match self {
            Unstorable::TooDeep => tr!(lang, "nested too deeply", "巢狀過深", "嵌套过深"),
            Unstorable::TooLong => tr!(lang, "too long", "過長", "过长"),
        }
    }
}

impl Say for JournalError {
    fn say(&self, lang: Lang) -> String {
        match self {
            JournalError::File(error) => error.say(lang),
            JournalError::Corrupt {
                path,
                line,
                offset,
                reason,
            } => {
                let path = path.display();
                let reason = reason.say(lang);
                let sound = line - 1;
                if sound == 0 {
                    return tr!(
                        lang,
                        "the journal {path} is damaged at its first line (byte {offset}): {reason}; nothing of it is intact and nothing was changed; look at it, restore it from a backup, or start a new run with `ralph run`",
                        "日誌 {path} 從第一行（位元組 {offset}）就已損壞：{reason}；沒有完好的紀錄，檔案未被更動；請查看它、從備份還原，或用 `ralph run` 開始新的執行",
                        "日志 {path} 从第一行（字节 {offset}）就已损坏：{reason}；没有完好的记录，文件未被改动；请查看它、从备份恢复，或用 `ralph run` 开始新的运行",
                    );
                }
                tr!(
                    lang,
                    "the journal {path} is damaged at line {line} (byte {offset}): {reason}; the {sound} records before it are intact and nothing was changed; go on from them with `ralph resume --from-intact` (the damaged file is kept beside it), restore it from a backup, or start a new run with `ralph run`",
                    "日誌 {path} 第 {line} 行（位元組 {offset}）損壞：{reason}；之前的 {sound} 筆紀錄完好，檔案未被更動；可用 `ralph resume --from-intact` 從完好的紀錄繼續（損壞的檔案會保留在旁），從備份還原，或用 `ralph run` 開始新的執行",
                    "日志 {path} 第 {line} 行（字节 {offset}）损坏：{reason}；之前的 {sound} 条记录完好，文件未被改动；可用 `ralph resume --from-intact` 从完好的记录继续（损坏的文件会保留在旁），从备份恢复，或用 `ralph run` 开始新的运行",
                )
            }
            JournalError::Newer {
                path,
                line,
                version,
            } => {
                let path = path.display();
                tr!(
                    lang,
                    "the journal {path} was written by a newer ralph (format {version}, line {line}); update ralph, or finish the run with the version that began it",
                    "日誌 {path} 由較新的 ralph 寫入（格式 {version}，第 {line} 行）；請更新 ralph，或以原本的版本完成這次執行",
                    "日志 {path} 由较新的 ralph 写入（格式 {version}，第 {line} 行）；请更新 ralph，或用原来的版本完成这次运行",
                )
            }
            JournalError::Unstorable { path, reason } => {
                let path = path.display();
                let reason = reason.say(lang);
                tr!(
                    lang,
                    "a record for the journal {path} is {reason}; nothing was written; please report this as a bug",
                    "要寫入日誌 {path} 的紀錄{reason}；未寫入任何內容；請回報此錯誤",
                    "要写入日志 {path} 的记录{reason}；未写入任何内容；请报告此错误",
                )
            }
        }
    }
}

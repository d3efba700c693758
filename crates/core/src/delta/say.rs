//! What is wrong with a state file, for people.

use super::DeltaError;
use crate::lang::{Lang, Say};
use crate::tr;

impl Say for DeltaError {
    fn say(&self, lang: Lang) -> String {
        match self {
            DeltaError::NotUtf8 { line } => tr!(
                lang,
                "line {line} is not UTF-8 text",
                "第 {line} 行不是 UTF-8 文字",
                "第 {line} 行不是 UTF-8 文本",
            ),
            DeltaError::NotAState => tr!(
                lang,
                "it has no section of a delta loop state (`## Meta`, `## Iteration`)",
                "沒有任何 Delta Loop 狀態段落（`## Meta`、`## Iteration`）",
                "没有任何 Delta Loop 状态段落（`## Meta`、`## Iteration`）",
            ),
            DeltaError::Missing { field, line } => tr!(
                lang,
                "line {line}: `- {field}:` is missing",
                "第 {line} 行：缺少 `- {field}:`",
                "第 {line} 行：缺少 `- {field}:`",
            ),
            DeltaError::Bad { field, value, line } => tr!(
                lang,
                "line {line}: `- {field}:` can't be `{value}`",
                "第 {line} 行：`- {field}:` 不能是 `{value}`",
                "第 {line} 行：`- {field}:` 不能是 `{value}`",
            ),
        }
    }
}

//! What a finding says to a person: what is wrong, where, and what to do next.

use super::{Check, Finding, Problem};
use crate::lang::{Lang, Say};
use crate::tr;

impl Finding {
    /// What is wrong, without the file.
    pub fn what(&self, lang: Lang) -> String {
        match &self.problem {
            Problem::AuditMissing => tr!(
                lang,
                "there is no audit report",
                "沒有稽核報告",
                "没有审计报告"
            ),
            Problem::AuditUnreadable { detail }
            | Problem::GateUnreadable { detail }
            | Problem::QualityUnreadable { detail }
            | Problem::EvidenceUnreadable { detail } => tr!(
                lang,
                "it can't be read: {detail}",
                "無法讀取：{detail}",
                "无法读取：{detail}"
            ),
            Problem::AuditUndecided => tr!(
                lang,
                "it has no line `Decision: PASS`",
                "沒有 `Decision: PASS` 這一行",
                "没有 `Decision: PASS` 这一行"
            ),
            Problem::AuditNotPassed { decision } => tr!(
                lang,
                "its decision is \"{decision}\", not PASS",
                "結論是「{decision}」，不是 PASS",
                "结论是“{decision}”，不是 PASS"
            ),
            Problem::AuditContradictsItself { layer, count } => tr!(
                lang,
                "it counts {count} findings of {layer}; with any of L1 or L2 it can't pass",
                "列有 {count} 個 {layer} 問題；有 L1 或 L2 問題就不能通過",
                "列有 {count} 个 {layer} 问题；有 L1 或 L2 问题就不能通过"
            ),
            Problem::AuditPending { ids } => {
                let ids = ids.join(", ");
                tr!(
                    lang,
                    "findings of L1 or L2 are still pending: {ids}",
                    "仍有未處理的 L1 或 L2 問題：{ids}",
                    "仍有未处理的 L1 或 L2 问题：{ids}"
                )
            }
            Problem::AuditOtherBranch { said, is } => tr!(
                lang,
                "it is about the branch {said}, and {is} is checked out",
                "它屬於分支 {said}，目前分支是 {is}",
                "它属于分支 {said}，当前分支是 {is}"
            ),
            Problem::GateMissing => tr!(
                lang,
                "the gate did not run, or did not pass",
                "關卡尚未執行，或未通過",
                "关卡尚未运行，或未通过"
            ),
            Problem::GateIncomplete { steps } => {
                let steps = steps.join(", ");
                tr!(
                    lang,
                    "it does not say that these steps passed: {steps}",
                    "沒有這些步驟通過的記錄：{steps}",
                    "没有这些步骤通过的记录：{steps}"
                )
            }
            Problem::GateNotOurs => tr!(
                lang,
                "it was not written by `ralph gate run` on this machine, or was changed since",
                "它不是由本機的 `ralph gate run` 寫入，或之後被改過",
                "它不是由本机的 `ralph gate run` 写入，或之后被改过"
            ),
            Problem::GateOtherSteps => tr!(
                lang,
                "it was made with other commands than the gate consists of now",
                "它是用其他指令產生的，與目前的關卡步驟不同",
                "它是用其他命令生成的，与当前的关卡步骤不同"
            ),
            Problem::GateStale => tr!(
                lang,
                "files have changed since the gate passed",
                "關卡通過之後檔案又有變更",
                "关卡通过之后文件又有更改"
            ),
            Problem::GateOlder { than } => tr!(
                lang,
                "it is older than {than}",
                "它比 {than} 舊",
                "它比 {than} 旧"
            ),
            Problem::QualityOtherCommit { said, is } => tr!(
                lang,
                "it is about the commit \"{said}\", and HEAD is {is}",
                "它屬於提交「{said}」，而 HEAD 是 {is}",
                "它属于提交“{said}”，而 HEAD 是 {is}"
            ),
            Problem::QualityNotPassed { fields } => {
                let fields = fields.join(", ");
                tr!(
                    lang,
                    "these fields do not say that it passed: {fields}",
                    "這些欄位並未顯示通過：{fields}",
                    "这些字段并未显示通过：{fields}"
                )
            }
            Problem::EvidenceMissing => tr!(
                lang,
                "there is no evidence of a try-out",
                "沒有驗證證據",
                "没有验证证据"
            ),
            Problem::EvidenceEmpty => tr!(lang, "it is empty", "它是空的", "它是空的"),
            Problem::EvidenceSection { heading } => tr!(
                lang,
                "the section `## {heading}` is missing",
                "缺少 `## {heading}` 一節",
                "缺少 `## {heading}` 一节"
            ),
            Problem::EvidenceTooLittle { found, wanted } => tr!(
                lang,
                "it holds {found} items of evidence, and {wanted} are wanted",
                "只有 {found} 項證據，需要 {wanted} 項",
                "只有 {found} 项证据，需要 {wanted} 项"
            ),
            Problem::EvidenceNotShown { id, path } => tr!(
                lang,
                "{id} shows {path}, which is not there",
                "{id} 引用的 {path} 不存在",
                "{id} 引用的 {path} 不存在"
            ),
            Problem::EvidenceBare { id } => tr!(
                lang,
                "{id} shows nothing: neither a file nor an output",
                "{id} 沒有內容：既無檔案也無輸出",
                "{id} 没有内容：既无文件也无输出"
            ),
            Problem::EvidenceNoStatus { id } => tr!(
                lang,
                "{id} has no line `HTTP_STATUS: …`",
                "{id} 沒有 `HTTP_STATUS: …` 這一行",
                "{id} 没有 `HTTP_STATUS: …` 这一行"
            ),
            Problem::EvidenceOpen { count } => tr!(
                lang,
                "{count} boxes below `## DoD` are not ticked",
                "`## DoD` 之下有 {count} 項未勾選",
                "`## DoD` 之下有 {count} 项未勾选"
            ),
        }
    }

    /// What to do about it.
    pub fn next(&self, lang: Lang) -> String {
        let file = &self.file;
        match (self.check(), &self.problem) {
            (Check::Audit, Problem::AuditMissing | Problem::AuditUnreadable { .. }) => tr!(
                lang,
                "audit the changes (/audit) and write {file} with `Decision: PASS` or `Decision: FAIL`",
                "稽核這些變更（/audit），並寫入 {file}，註明 `Decision: PASS` 或 `Decision: FAIL`",
                "审计这些改动（/audit），并写入 {file}，注明 `Decision: PASS` 或 `Decision: FAIL`"
            ),
            (Check::Audit, _) => tr!(
                lang,
                "fix the findings of L1 and L2, then audit again (/audit) and update {file}",
                "修正 L1 與 L2 問題，再重新稽核（/audit）並更新 {file}",
                "修复 L1 与 L2 问题，再重新审计（/audit）并更新 {file}"
            ),
            (Check::Gate, _) => tr!(
                lang,
                "run `ralph gate run`, and fix what fails",
                "執行 `ralph gate run`，並修正失敗的部分",
                "运行 `ralph gate run`，并修复失败的部分"
            ),
            (Check::Quality, _) => tr!(
                lang,
                "make {file} anew for this commit, or remove it",
                "為此提交重新產生 {file}，或移除它",
                "为此提交重新生成 {file}，或删除它"
            ),
            (Check::Evidence, Problem::EvidenceNotShown { path, .. }) => tr!(
                lang,
                "put {path} there, or correct {file}",
                "放入 {path}，或修正 {file}",
                "放入 {path}，或改正 {file}"
            ),
            (Check::Evidence, _) => tr!(
                lang,
                "try the change out and write into {file} what you did and saw",
                "實際驗證這項變更，並把做法與結果寫入 {file}",
                "实际验证这项改动，并把做法与结果写入 {file}"
            ),
        }
    }
}

impl Say for Finding {
    fn say(&self, lang: Lang) -> String {
        let (what, next) = (self.what(lang), self.next(lang));
        let file = &self.file;
        tr!(
            lang,
            "{file}: {what}. Next: {next}.",
            "{file}：{what}。下一步：{next}。",
            "{file}：{what}。下一步：{next}。"
        )
    }
}

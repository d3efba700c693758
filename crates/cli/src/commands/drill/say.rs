//! The faults, what caught them and what did not, in words.

use ralph_core::lang::{Lang, Say};
use ralph_core::machine::Limit;
use ralph_core::text::duration::human;
use ralph_core::tr;

use super::faults::{Fault, Sizes};
use super::verdict::{Catch, MOST_MEMORY, Miss, Skip, Verdict};

impl Fault {
    pub fn describe(self, lang: Lang, sizes: Sizes) -> String {
        let (flood, line) = (size(sizes.flood), size(sizes.line));
        match self {
            Fault::HangBefore => tr!(
                lang,
                "hangs before its result",
                "在給出結果前卡住",
                "在给出结果前卡住"
            ),
            Fault::HangAfter => tr!(
                lang,
                "hangs after its result",
                "給出結果後卡住",
                "给出结果后卡住"
            ),
            Fault::NoResult => tr!(lang, "prints no result", "不輸出結果", "不输出结果"),
            Fault::HalfLine => tr!(
                lang,
                "prints half a JSON line",
                "只輸出半行 JSON",
                "只输出半行 JSON"
            ),
            Fault::Flood => tr!(lang, "floods {flood}", "灌入 {flood}", "灌入 {flood}"),
            Fault::LongLine => tr!(
                lang,
                "prints a {line} line",
                "輸出 {line} 的一行",
                "输出 {line} 的一行"
            ),
            Fault::RawBytes => tr!(
                lang,
                "invalid UTF-8 and ANSI",
                "無效 UTF-8 與 ANSI",
                "无效 UTF-8 与 ANSI"
            ),
            Fault::TicksOnly => tr!(lang, "ticks without work", "只打勾不做事", "只打勾不做事"),
            Fault::DeletesTasks => tr!(
                lang,
                "deletes the task file",
                "刪除任務檔案",
                "删除任务文件"
            ),
            Fault::Daemon => tr!(
                lang,
                "leaves a deaf daemon",
                "留下不理訊號的常駐程式",
                "留下不理信号的守护进程"
            ),
            Fault::Exit137 => tr!(lang, "exits with 137", "以 137 結束", "以 137 退出"),
            Fault::CorruptStatus => tr!(
                lang,
                "corrupts status.json",
                "破壞 status.json",
                "破坏 status.json"
            ),
            Fault::CorruptJournal => {
                tr!(lang, "corrupts the journal", "破壞執行日誌", "破坏运行日志")
            }
            Fault::CorruptLock => tr!(lang, "deletes the lock", "刪除鎖定檔", "删除锁文件"),
            Fault::FullDisk => tr!(lang, "fills the disk", "塞滿磁碟", "填满磁盘"),
        }
    }
}

impl Verdict {
    /// For programs.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Caught(_) => "caught",
            Verdict::NotCaught(_) => "not_caught",
            Verdict::Skipped(_) => "skipped",
        }
    }

    pub fn word(&self, lang: Lang) -> String {
        match self {
            Verdict::Caught(_) => tr!(lang, "caught", "攔下", "拦下"),
            Verdict::NotCaught(_) => tr!(lang, "NOT caught", "未攔下", "未拦下"),
            Verdict::Skipped(_) => tr!(lang, "skipped", "略過", "跳过"),
        }
    }
}

impl Say for Verdict {
    fn say(&self, lang: Lang) -> String {
        match self {
            Verdict::Caught(catches) => {
                let said: Vec<String> = catches.iter().map(|catch| catch.say(lang)).collect();
                said.join(" → ")
            }
            Verdict::NotCaught(miss) => miss.say(lang),
            Verdict::Skipped(skip) => skip.say(lang),
        }
    }
}

impl Say for Catch {
    fn say(&self, lang: Lang) -> String {
        match self {
            Catch::TurnTimeout => tr!(lang, "turn timeout", "迭代逾時", "迭代超时"),
            Catch::IdleTimeout => tr!(lang, "idle timeout", "閒置逾時", "空闲超时"),
            Catch::NoResult => tr!(lang, "no result", "沒有結果", "没有结果"),
            Catch::NoPromise => tr!(lang, "no promise", "沒有承諾", "没有承诺"),
            Catch::Exit { code } => tr!(lang, "exit code {code}", "結束碼 {code}", "退出码 {code}"),
            Catch::Signal { signal } => {
                tr!(lang, "signal {signal}", "訊號 {signal}", "信号 {signal}")
            }
            Catch::TaskFile { class } => {
                let class = ralph_core::display::error_class(lang, class.name());
                tr!(
                    lang,
                    "task file: {class}",
                    "任務檔案：{class}",
                    "任务文件：{class}"
                )
            }
            Catch::VerifyFailed => tr!(lang, "verification failed", "驗證失敗", "验证失败"),
            Catch::GateFailed => tr!(lang, "it kept failing", "持續失敗", "持续失败"),
            Catch::Errors { count } => {
                let errors = if *count == 1 { "error" } else { "errors" };
                tr!(
                    lang,
                    "{count} {errors} in a row",
                    "連續 {count} 次錯誤",
                    "连续 {count} 次错误",
                )
            }
            Catch::Breaker { rule } => {
                let rule = rule.name();
                tr!(
                    lang,
                    "circuit breaker: {rule}",
                    "斷路器：{rule}",
                    "断路器：{rule}"
                )
            }
            Catch::Limit { limit } => {
                let name = match limit {
                    Limit::Iterations => "limits.max_iterations",
                    Limit::Duration => "limits.max_duration",
                    Limit::Dispatches => "limits.max_dispatches",
                };
                tr!(lang, "limit: {name}", "上限：{name}", "上限：{name}")
            }
            Catch::Paused => tr!(lang, "paused", "已暫停", "已暂停"),
            Catch::Blocked => tr!(lang, "blocked", "受阻", "受阻"),
            Catch::PeakMemory { bytes } => {
                let most = size(*bytes);
                tr!(
                    lang,
                    "at most {most} of memory",
                    "最多用 {most} 記憶體",
                    "最多用 {most} 内存"
                )
            }
            Catch::AnswerHeard => tr!(lang, "its answer was heard", "仍聽到回答", "仍听到回答"),
            Catch::OnlyText => tr!(
                lang,
                "only text reached logs, prompts and screen",
                "日誌、提示與畫面只收到文字",
                "日志、提示与屏幕只收到文本"
            ),
            Catch::DaemonEnded => tr!(
                lang,
                "the daemon ended with the turn",
                "常駐程式隨迭代結束",
                "守护进程随迭代结束"
            ),
            Catch::StatusWhole => tr!(lang, "written anew", "重新寫入", "重新写入"),
            Catch::JournalChecksum => tr!(
                lang,
                "journal checksum; resume refuses",
                "日誌校驗碼；拒絕恢復",
                "日志校验码；拒绝恢复"
            ),
            Catch::SecondRunRefused => tr!(
                lang,
                "a second run was refused",
                "第二個執行被拒絕",
                "第二个运行被拒绝"
            ),
            Catch::RunEnded { exit } => tr!(
                lang,
                "the run ended with {exit}",
                "執行以 {exit} 結束",
                "运行以 {exit} 结束"
            ),
            Catch::Resumed => tr!(
                lang,
                "with room again it went on",
                "空間恢復後繼續",
                "空间恢复后继续"
            ),
        }
    }
}

impl Say for Miss {
    fn say(&self, lang: Lang) -> String {
        match self {
            Miss::NeverEnded {
                after,
                timeouts_off,
            } => {
                let after = human(lang, *after);
                if *timeouts_off {
                    tr!(
                        lang,
                        "still running after {after}: set limits.iteration_timeout or limits.idle_timeout, both are off",
                        "{after} 後仍在執行：請設定 limits.iteration_timeout 或 limits.idle_timeout，兩者皆關閉",
                        "{after} 后仍在运行：请设置 limits.iteration_timeout 或 limits.idle_timeout，两者均关闭",
                    )
                } else {
                    tr!(
                        lang,
                        "still running after {after}: no limit ended it",
                        "{after} 後仍在執行：沒有任何上限使其結束",
                        "{after} 后仍在运行：没有任何上限使其结束",
                    )
                }
            }
            Miss::ProcessesLeft { count, names } => {
                let names = names.join(", ");
                tr!(
                    lang,
                    "processes left alive: {count} ({names})",
                    "仍存活的行程：{count}（{names}）",
                    "仍存活的进程：{count}（{names}）",
                )
            }
            Miss::Crashed { words } => tr!(
                lang,
                "the engine crashed: {words}",
                "引擎當掉：{words}",
                "引擎崩溃：{words}",
            ),
            Miss::Completed {
                has_verification: false,
            } => tr!(
                lang,
                "the ticks were believed: set verify.commands, nothing else can prove them",
                "勾選被採信：請設定 verify.commands，否則無從證明",
                "勾选被采信：请设置 verify.commands，否则无从证明",
            ),
            Miss::Completed {
                has_verification: true,
            } => tr!(
                lang,
                "the run ended as complete: verify.commands pass although nothing was done; add one that fails without the work",
                "執行以完成結束：什麼都沒做，verify.commands 卻通過；請加入未完成時會失敗的命令",
                "运行以完成结束：什么都没做，verify.commands 却通过；请加入未完成时会失败的命令",
            ),
            Miss::NoOutcome { words } => tr!(
                lang,
                "the run has no outcome: {words}",
                "執行沒有結果：{words}",
                "运行没有结果：{words}",
            ),
            Miss::DidNotGoOn { words } => tr!(
                lang,
                "the run did not go on: {words}",
                "執行沒有繼續：{words}",
                "运行没有继续：{words}",
            ),
            Miss::AnswerLost => tr!(
                lang,
                "the answer behind it was not heard",
                "其後的回答沒有聽到",
                "其后的回答没有听到",
            ),
            Miss::Memory { bytes } => {
                let (used, most) = (size(*bytes), size(MOST_MEMORY));
                tr!(
                    lang,
                    "the engine took {used} of memory, more than {most}",
                    "引擎用了 {used} 記憶體，超過 {most}",
                    "引擎用了 {used} 内存，超过 {most}",
                )
            }
            Miss::Output { bytes, cap } => {
                let (kept, cap) = (size(*bytes), size(*cap));
                tr!(
                    lang,
                    "{kept} of output were kept, log.agent_output_max is {cap}",
                    "保留了 {kept} 輸出，log.agent_output_max 為 {cap}",
                    "保留了 {kept} 输出，log.agent_output_max 为 {cap}",
                )
            }
            Miss::Controls { place } => tr!(
                lang,
                "bytes that a terminal obeys reached {place}",
                "會操控終端機的位元組進入 {place}",
                "会操控终端的字节进入 {place}",
            ),
            Miss::StatusBroken => tr!(
                lang,
                "status.json stayed broken",
                "status.json 仍然損壞",
                "status.json 仍然损坏",
            ),
            Miss::JournalBelieved => tr!(
                lang,
                "the damaged journal was believed",
                "損壞的日誌被採信",
                "损坏的日志被采信",
            ),
            Miss::SecondRun => tr!(
                lang,
                "a second run worked beside the first",
                "第二個執行與第一個同時進行",
                "第二个运行与第一个同时进行",
            ),
            Miss::ResumeFailed { words } => tr!(
                lang,
                "with room again it did not go on: {words}",
                "空間恢復後沒有繼續：{words}",
                "空间恢复后没有继续：{words}",
            ),
            Miss::Drill { words } => tr!(
                lang,
                "the drill itself failed: {words}",
                "演練本身失敗：{words}",
                "演练本身失败：{words}",
            ),
        }
    }
}

impl Say for Skip {
    fn say(&self, lang: Lang) -> String {
        match self {
            Skip::NeedsLinux => tr!(lang, "needs Linux", "需要 Linux", "需要 Linux"),
            Skip::NeedsProgram { name } => tr!(
                lang,
                "needs the program {name}",
                "需要程式 {name}",
                "需要程序 {name}"
            ),
            Skip::NoSmallDisk { words } => tr!(
                lang,
                "no small disk can be mounted here: {words}",
                "此處無法掛載小型磁碟：{words}",
                "此处无法挂载小型磁盘：{words}"
            ),
        }
    }
}

/// A size in its largest unit, rounded down to a whole number.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

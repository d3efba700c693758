//! What `ralph init` says.

use ralph_core::lang::{Lang, Say};
use ralph_core::tr;

use super::plan::{PLUGIN, Wish};
use crate::hook::Host;

/// Something that a person should know.
#[derive(Debug, PartialEq, Eq)]
pub enum Note {
    Kept { path: String },
    Preset { line: String },
    Comments { path: String, host: Host },
}

impl Say for Note {
    fn say(&self, lang: Lang) -> String {
        match self {
            Note::Kept { path } => tr!(
                lang,
                "{path} is there and not ours: it stays as it is (--force puts ours in its place)",
                "{path} 已存在且不是我們的：保持原樣（--force 會以我們的取代）",
                "{path} 已存在且不是我们的：保持原样（--force 会用我们的替换）"
            ),
            Note::Preset { line } => tr!(
                lang,
                ".ralph/config.toml is yours and stays as it is; write {line} into it to use the preset",
                ".ralph/config.toml 是您的檔案，保持原樣；要使用該預設組，請在其中寫入 {line}",
                ".ralph/config.toml 是您的文件，保持原样；要使用该预设，请在其中写入 {line}"
            ),
            Note::Comments { path, host } => {
                let name = host.name();
                tr!(
                    lang,
                    "{path} has comments or trailing commas: {name} passes over the whole file in silence, so that no hook in it runs. Take them out",
                    "{path} 含有註解或結尾逗號：{name} 會默默略過整個檔案，其中的掛鉤都不會執行。請將它們移除",
                    "{path} 含有注释或结尾逗号：{name} 会静默跳过整个文件，其中的钩子都不会执行。请将它们移除"
                )
            }
        }
    }
}

pub fn in_place(lang: Lang) -> String {
    tr!(
        lang,
        "everything is in place; nothing to change",
        "一切就緒，無需變更",
        "一切就绪，无需更改"
    )
}

pub fn installed(wish: &Wish, lang: Lang) -> String {
    let name = match wish.preset.as_deref() {
        Some("sdd") => "Ralph SDD",
        _ => "Ralph",
    };
    tr!(
        lang,
        "{name} is installed. `ralph uninstall` takes exactly this away again.",
        "{name} 安裝完成！`ralph uninstall` 可完整移除。",
        "{name} 安装完成！`ralph uninstall` 可完整移除。"
    )
}

/// What to type now.
pub fn next_steps(wish: &Wish, lang: Lang) -> String {
    let mut steps = vec![tr!(
        lang,
        "  ralph doctor            prove that the hooks work (--live asks the agent itself)",
        "  ralph doctor            證明掛鉤有效（--live 會實際啟動代理）",
        "  ralph doctor            证明钩子有效（--live 会实际启动代理）"
    )];
    if wish.plugin {
        steps.push(tr!(
            lang,
            "  claude --plugin-dir {PLUGIN}",
            "  claude --plugin-dir {PLUGIN}",
            "  claude --plugin-dir {PLUGIN}"
        ));
    }
    for host in &wish.hosts {
        steps.extend(step_of(*host, wish, lang));
    }
    steps.push(tr!(
        lang,
        "  ralph run --dry-run     what a loop from outside would do",
        "  ralph run --dry-run     預覽從外部執行迴圈的情形",
        "  ralph run --dry-run     预览从外部运行循环的情形"
    ));
    let next = tr!(lang, "Next:", "下一步：", "下一步：");
    format!("{next}\n{}", steps.join("\n"))
}

fn step_of(host: Host, wish: &Wish, lang: Lang) -> Option<String> {
    let loop_command = match wish.plugin {
        true => "/ralph:ralph-loop",
        false => "/ralph-loop",
    };
    let text = match host {
        Host::Claude => tr!(
            lang,
            "  claude                  then: {loop_command} \"TASK\" --max-iterations 10",
            "  claude                  然後輸入：{loop_command} \"任務\" --max-iterations 10",
            "  claude                  然后输入：{loop_command} \"任务\" --max-iterations 10"
        ),
        Host::Codex => tr!(
            lang,
            "  codex                   then /hooks: look at Ralph's hooks and trust them, until then Codex passes over them in silence; then: ralph-loop \"TASK\"",
            "  codex                   然後輸入 /hooks：檢視並信任 Ralph 的掛鉤，在此之前 Codex 會默默略過它們；再輸入：ralph-loop \"任務\"",
            "  codex                   然后输入 /hooks：检查并信任 Ralph 的钩子，在此之前 Codex 会静默跳过它们；再输入：ralph-loop \"任务\""
        ),
        Host::Gemini => tr!(
            lang,
            "  gemini                  and trust this folder when it asks; then: ralph-loop \"TASK\"",
            "  gemini                  並在詢問時信任此資料夾；再輸入：ralph-loop \"任務\"",
            "  gemini                  并在询问时信任此文件夹；再输入：ralph-loop \"任务\""
        ),
        Host::Copilot => tr!(
            lang,
            "  copilot                 and trust this folder (without a person: --trust-folder); then: ralph-loop \"TASK\"",
            "  copilot                 並信任此資料夾（無人值守時加 --trust-folder）；再輸入：ralph-loop \"任務\"",
            "  copilot                 并信任此文件夹（无人值守时加 --trust-folder）；再输入：ralph-loop \"任务\""
        ),
        Host::Cursor => tr!(
            lang,
            "  cursor-agent            is guarded; its stop hook can't hold it, so drive loops with: ralph run --agent cursor",
            "  cursor-agent            已受護欄保護；其停止掛鉤無法攔住它，迴圈請用：ralph run --agent cursor",
            "  cursor-agent            已受护栏保护；其停止钩子无法拦住它，循环请用：ralph run --agent cursor"
        ),
        Host::OpenCode => tr!(
            lang,
            "  opencode                is guarded; it has no stop hook, so drive loops with: ralph run --agent opencode",
            "  opencode                已受護欄保護；它沒有停止掛鉤，迴圈請用：ralph run --agent opencode",
            "  opencode                已受护栏保护；它没有停止钩子，循环请用：ralph run --agent opencode"
        ),
    };
    Some(text)
}

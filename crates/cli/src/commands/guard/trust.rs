//! `ralph guard trust`: a person confirms what the project's file takes away
//! from the guard. The guard keeps agents from running it.

use ralph_core::tr;

use super::load;
use crate::app::{App, ask, is_interactive};
use crate::guard::{project, trust};
use crate::{FAILED, PAUSED};

/// Variables that only a process below an agent has.
const AGENTS: [&str; 4] = ["RALPH_RUN_ID", "CLAUDECODE", "GEMINI_CLI", "COPILOT_CLI"];

pub fn run(app: &App, yes: bool, revoke: bool) -> u8 {
    let lang = app.lang();
    if AGENTS.iter().any(|name| std::env::var_os(name).is_some()) {
        app.warn(&tr!(
            lang,
            "only a person may confirm this, in a terminal of their own: an agent is running here",
            "只有人可以在自己的終端機中確認：此處有代理正在執行",
            "只有人可以在自己的终端中确认：此处有代理正在运行"
        ));
        return FAILED;
    }
    let root = project::real(&app.root);
    let Some(file) = trust::file(&root) else {
        app.warn(&tr!(
            lang,
            "confirmations are kept in the home directory, and there is none outside this project",
            "確認記錄存放於家目錄，但此專案之外沒有家目錄",
            "确认记录存放于主目录，但此项目之外没有主目录"
        ));
        return FAILED;
    };
    if revoke {
        return match trust::set(&file, &root, None) {
            Ok(()) => {
                app.tell(&tr!(
                    lang,
                    "nothing in this project loosens the guard any more",
                    "此專案不再放寬護欄",
                    "此项目不再放宽护栏"
                ));
                0
            }
            Err(error) => app.fail(&error),
        };
    }
    let loaded = match load(app) {
        Ok((_, loaded)) => loaded,
        Err(code) => return code,
    };
    let Some(guard) = loaded.file().filter(|file| !file.loosens.is_empty()) else {
        app.tell(&tr!(
            lang,
            "nothing to confirm: .ralph/config.toml takes nothing away from the guard",
            "無需確認：.ralph/config.toml 沒有放寬護欄",
            "无需确认：.ralph/config.toml 没有放宽护栏"
        ));
        return 0;
    };
    let keys = guard.loosens.join(", ");
    if !yes {
        if !is_interactive() {
            app.warn(&tr!(
                lang,
                "nobody can be asked here; look at [guard] ({keys}), then run `ralph guard trust --yes`",
                "此處無人可問；請檢視 [guard]（{keys}），再執行 `ralph guard trust --yes`",
                "此处无人可问；请检查 [guard]（{keys}），再运行 `ralph guard trust --yes`"
            ));
            return FAILED;
        }
        let question = tr!(
            lang,
            "[guard] loosens: {keys}. Confirm exactly these settings? [y/N] ",
            "[guard] 放寬：{keys}。確認這些設定？[y/N] ",
            "[guard] 放宽：{keys}。确认这些设置？[y/N] "
        );
        if !matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes")) {
            return PAUSED;
        }
    }
    match trust::set(&file, &root, Some(&guard.digest())) {
        Ok(()) => {
            let file = file.display();
            app.tell(&tr!(
                lang,
                "confirmed ({keys}); any change to [guard] has to be confirmed anew. Noted in {file}",
                "已確認（{keys}）；[guard] 若有變更須重新確認。記錄於 {file}",
                "已确认（{keys}）；[guard] 若有更改须重新确认。记录于 {file}"
            ));
            0
        }
        Err(error) => app.fail(&error),
    }
}

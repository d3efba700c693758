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
            "only a person may confirm this, in a terminal of their own: an agent is running here"
        ));
        return FAILED;
    }
    let root = project::real(&app.root);
    let Some(file) = trust::file(&root) else {
        app.warn(&tr!(
            lang,
            "confirmations are kept in the home directory, and there is none outside this project"
        ));
        return FAILED;
    };
    if revoke {
        return match trust::set(&file, &root, None) {
            Ok(()) => {
                app.tell(&tr!(
                    lang,
                    "nothing in this project loosens the guard any more"
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
            "nothing to confirm: .ralph/config.toml takes nothing away from the guard"
        ));
        return 0;
    };
    let keys = guard.loosens.join(", ");
    if !yes {
        if !is_interactive() {
            app.warn(&tr!(lang, "nobody can be asked here; look at [guard] ({keys}), then run `ralph guard trust --yes`"));
            return FAILED;
        }
        let question = tr!(
            lang,
            "[guard] loosens: {keys}. Confirm exactly these settings? [y/N] "
        );
        if !matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes")) {
            return PAUSED;
        }
    }
    match trust::set(&file, &root, Some(&guard.digest())) {
        Ok(()) => {
            let file = file.display();
            app.tell(&tr!(lang, "confirmed ({keys}); any change to [guard] has to be confirmed anew. Noted in {file}"));
            0
        }
        Err(error) => app.fail(&error),
    }
}

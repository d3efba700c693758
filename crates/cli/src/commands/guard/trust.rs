//! `ralph guard trust`: a person confirms what the project's file takes away
//! from the guard. The guard keeps agents from running it.

use ralph_core::tr;

use super::load;
use crate::PAUSED;
use crate::app::{App, Exit, OrFail, ask, is_interactive};
use crate::guard::{project, trust};

/// Variables that only a process below an agent has.
const AGENTS: [&str; 4] = ["RALPH_RUN_ID", "CLAUDECODE", "GEMINI_CLI", "COPILOT_CLI"];

pub fn run(app: &App, yes: bool, revoke: bool) -> Exit {
    let lang = app.lang();
    if AGENTS.iter().any(|name| std::env::var_os(name).is_some()) {
        return app.refuse(&tr!(
            lang,
            "only a person may confirm this, in a terminal of their own: an agent is running here"
        ));
    }
    let root = project::real(&app.root);
    let Some(file) = trust::file(&root) else {
        return app.refuse(&tr!(
            lang,
            "confirmations are kept in the home directory, and there is none outside this project"
        ));
    };
    if revoke {
        trust::set(&file, &root, None).or_fail(app)?;
        return app.done(&tr!(
            lang,
            "nothing in this project loosens the guard any more"
        ));
    }
    let (_, loaded) = load(app)?;
    let Some(guard) = loaded.file().filter(|file| !file.loosens.is_empty()) else {
        return app.done(&tr!(
            lang,
            "nothing to confirm: .ralph/config.toml takes nothing away from the guard"
        ));
    };
    let keys = guard.loosens.join(", ");
    if !yes {
        if !is_interactive() {
            return app.refuse(&tr!(lang, "nobody can be asked here; look at [guard] ({keys}), then run `ralph guard trust --yes`"));
        }
        let question = tr!(
            lang,
            "[guard] loosens: {keys}. Confirm exactly these settings? [y/N] "
        );
        if !matches!(ask(&question).as_deref(), Some("y" | "Y" | "yes")) {
            return Err(PAUSED);
        }
    }
    trust::set(&file, &root, Some(&guard.digest())).or_fail(app)?;
    let file = file.display();
    app.done(&tr!(
        lang,
        "confirmed ({keys}); any change to [guard] has to be confirmed anew. Noted in {file}"
    ))
}

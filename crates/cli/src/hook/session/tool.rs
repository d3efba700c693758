//! The PostToolUse hook: the agent did something. Files that it changed are
//! recorded, and it is reminded to commit (TRAK-01 to TRAK-05).

use std::path::Path;

use ralph_core::config::{self, TrackerSettings};
use ralph_core::lang::Lang;
use ralph_core::session::roles::CALLERS;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::agents::Client;
use ralph_engine::session::index;
use ralph_engine::session::tracker::{self, Reminding};
use ralph_store::layout::Layout;
use serde_json::Value;

use super::answer::Reply;
use super::heard::Heard;
use crate::insession::Here;
use crate::{app, settings};

/// Tools that change files, as the clients name them.
pub(super) const WRITERS: [&str; 11] = [
    "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace", "create",
    "edit", "str_replace", "str_replace_editor",
];
/// More files of one patch are not listed.
const MOST_FILES: usize = 50;

pub fn answer(heard: &Heard, layout: Layout) -> Reply {
    let here = Here::new(layout, &heard.session, heard.host.into_str());
    // Copilot counts its blocks for the whole turn, whatever the agent does.
    if heard.host != Client::Copilot
        && let Some(run) = index::find(&here.layout, &here.session)
    {
        index::note_acted(&here.layout.run(&run));
    }
    if heard.host == Client::Claude && CALLERS.contains(&heard.tool.as_str()) {
        return super::roles::after(heard, &here);
    }
    if !WRITERS.contains(&heard.tool.as_str()) {
        return Reply::default();
    }
    let (tracking, lang) = tracking(here.root());
    if !tracking.enabled {
        return Reply::default();
    }
    let mut files = files_of(&heard.tool_input);
    files.truncate(MOST_FILES);
    for file in &files {
        tracker::record(here.root(), &heard.tool, file);
    }
    let reminding = Reminding {
        above: tracking.remind_above,
        every: tracking.remind_every,
    };
    match tracker::due(&here.layout, reminding, &files) {
        Some(count) => Reply::context(reminder(count, lang)),
        None => Reply::default(),
    }
}

/// The whole configuration is read only where somebody changed this part of
/// it: most calls need not wait for that.
fn tracking(root: &Path) -> (TrackerSettings, Lang) {
    let file = root.join(".ralph/config.toml");
    let text = ralph_store::regular::read_to_string(file).unwrap_or_default();
    let in_environment = std::env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("RALPH_TRACKER") || name == "RALPH_PRESET"
    });
    if !in_environment && !text.contains("tracker") && !text.contains("lang") {
        return (TrackerSettings::default(), app::environment_lang());
    }
    match config::load(&settings::sources(root, Vec::new())) {
        Ok(loaded) => {
            let lang = app::hook_lang(&loaded.settings.lang);
            (loaded.settings.tracker, lang)
        }
        Err(_) => (TrackerSettings::default(), app::environment_lang()),
    }
}

fn files_of(input: &Value) -> Vec<String> {
    let keys = ["file_path", "notebook_path", "path", "filePath"];
    let named = keys.iter().find_map(|key| input.get(key)?.as_str());
    if let Some(file) = named {
        return vec![file.to_owned()];
    }
    let patch = ["command", "patch", "input"]
        .iter()
        .find_map(|key| input.get(key)?.as_str());
    let begins = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let file = |line: &str| {
        begins
            .iter()
            .find_map(|begin| line.strip_prefix(begin))
            .map(str::to_owned)
    };
    patch.map_or_else(Vec::new, |patch| patch.lines().filter_map(file).collect())
}

fn reminder(count: usize, lang: Lang) -> String {
    let are_en = plural(count, "change is", "changes are");
    tr!(
        lang,
        "{count} {are_en} not committed yet. Commit what belongs together now, in small commits with clear messages, before you go on."
    )
}

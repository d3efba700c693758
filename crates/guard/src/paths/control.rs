//! The guard's own control plane: what an agent could change to switch the
//! guard, its hooks or the gates off.

use super::is_within;
use crate::mark;
use crate::words::is_one_of;

/// Directories at the root that hold settings of the loop or of an agent.
pub const DIRECTORIES: &[&str] =
    words!(".ralph .claude .codex .gemini .cursor .opencode .amp .copilot");

/// Is writing here a way to change the rules? `relative` is below the
/// project's root.
pub fn is_protected(relative: &str) -> bool {
    let lower = relative.to_ascii_lowercase();
    let path = lower.trim_end_matches('/');
    if runs_elsewhere(path) {
        return true;
    }
    if let Some(rest) = path.strip_prefix(".ralph") {
        return match rest.strip_prefix('/') {
            None => rest.is_empty(),
            Some(rest) => !is_agents_own(rest),
        };
    }
    if path == "ralph.toml" || path.starts_with(".ralph.") {
        return true;
    }
    is_gate_file(path) || is_agent_settings(path) || is_git_control(path) || finds_protected(path)
}

/// What `ralph gate run` writes when every step passed, here or in a part of
/// the project.
fn is_gate_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(".quality-gate-passed")
}

/// Files that a pattern may find among others.
const SAMPLES: &[&str] = words!(
    ".quality-gate-passed .ralph/config.toml .ralph/.safety_stats .claude/settings.json
     .claude/settings.local.json .claude/hooks/guard.sh .codex/config.toml .codex/hooks.json
     .gemini/settings.json .cursor/hooks.json .opencode/plugin/guard.ts .amp/settings.json
     .copilot/hooks/guard.json .git/hooks/pre-commit .git/config"
);

/// Is the path a pattern that finds one of them, or a directory of one?
fn finds_protected(path: &str) -> bool {
    if !mark::has_glob(path) {
        return false;
    }
    let one = |(pattern, name): (&str, &str)| {
        // A pattern finds a hidden name only if it says the dot.
        let hidden = name.starts_with('.') && !pattern.starts_with('.');
        !hidden && mark::glob_match(pattern, name)
    };
    let found = |sample: &&str| {
        path.split('/').count() <= sample.split('/').count()
            && path.split('/').zip(sample.split('/')).all(one)
    };
    SAMPLES.iter().any(found)
}

/// Files that say what others run: the checks of the loop in the settings of
/// another tool, a build, an editor, a hook at each commit (S-14).
fn runs_elsewhere(path: &str) -> bool {
    one_of!(
        path,
        ".skillpackrc .ralphrc .trellis/worktree.yaml .ideal/worktree.yaml
         .ideal/.verify-state.json .cargo/config.toml .cargo/config .vscode/tasks.json
         .zed/tasks.json .envrc lefthook.yml lefthook.yaml .lefthook.yml lefthook-local.yml
         .overcommit.yml .gdbinit .lldbinit .exrc .vimrc .nvimrc .dir-locals.el .curlrc .wgetrc
         .psqlrc .sqliterc .inputrc .pdbrc sitecustomize.py usercustomize.py"
    ) || is_within(path, ".husky")
        || is_within(path, ".lefthook")
}

/// Notes and specifications below `.ralph` that the agent itself keeps.
fn is_agents_own(rest: &str) -> bool {
    if rest == "prompt-template.md" {
        return false;
    }
    let first = rest.split('/').next().unwrap_or(rest);
    match first {
        "specs" | "docs" | "notes" | "scratch" => true,
        "runs" | "rules" | "hooks" | "gates" | "evidence" | "journal" => false,
        _ => !rest.contains('/') && (rest.ends_with(".md") || rest.ends_with(".txt")),
    }
}

/// Settings and plugins of agents, which may switch its hooks off.
fn is_agent_settings(path: &str) -> bool {
    let files = words!(
        ".claude .claude/hooks.json .codex .codex/config.toml .codex/hooks.json .gemini
         .gemini/settings.json .cursor .cursor/hooks.json .opencode opencode.json
         opencode.jsonc .amp .amp/settings.json .copilot hooks/hooks.json .mcp.json
         .cursor/mcp.json .cursor/cli.json"
    );
    let directories = words!(
        ".claude/hooks .claude-plugin .codex/hooks .gemini/hooks .gemini/extensions .cursor/hooks
         .github/hooks .copilot/hooks .opencode/plugin .opencode/plugins .amp/plugins"
    );
    files.contains(&path)
        || path.starts_with(".claude/settings")
        || directories
            .iter()
            .any(|directory| is_within(path, directory))
}

fn is_git_control(path: &str) -> bool {
    is_within(path, ".git/hooks")
        || one_of!(
            path,
            ".git/config .git/info/attributes .git/config.worktree"
        )
}

/// The same in the home directory: `relative` is below it.
pub fn is_protected_at_home(relative: &str) -> bool {
    let lower = relative.to_ascii_lowercase();
    let settings = ".gitconfig|.config/git/*|.config/ralph*|.local/state/ralph*|.config/opencode/*";
    is_one_of(settings, &lower) || is_protected(&lower)
}

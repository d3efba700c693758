//! Which names the agents know in their hooks. They pass over others in
//! silence, which is how hooks stay dead for months.

use serde_json::Value;

use crate::host::Host;

const CLAUDE: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];
const CODEX: &[&str] = &[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];
const GEMINI: &[&str] = &[
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "SessionStart",
    "SessionEnd",
    "PreCompress",
    "Notification",
];
/// Also with a capital letter: then the payload is Claude's.
const COPILOT: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "userPromptTransformed",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "errorOccurred",
    "preCompact",
    "permissionRequest",
    "notification",
    "stop",
    "userPromptSubmit",
];
const CURSOR: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "beforeShellExecution",
    "afterShellExecution",
    "beforeMCPExecution",
    "afterMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeSubmitPrompt",
    "preCompact",
    "stop",
    "afterAgentResponse",
    "afterAgentThought",
];

/// What an entry of a hook may say.
const CLAUDE_FIELDS: &[&str] = &[
    "type",
    "command",
    "args",
    "shell",
    "if",
    "timeout",
    "onFailure",
    "once",
    "async",
    "asyncRewake",
    "statusMessage",
    "url",
    "headers",
    "allowedEnvVars",
    "prompt",
    "model",
    "server",
    "tool",
    "input",
];
const CODEX_FIELDS: &[&str] = &[
    "type",
    "command",
    "commandWindows",
    "timeout",
    "async",
    "statusMessage",
    "additionalContextLimit",
    "server",
    "tool",
    "input",
];

/// Whether the agent has such an event.
pub fn knows(host: Host, event: &str) -> bool {
    match host {
        Host::Claude => CLAUDE.contains(&event),
        Host::Codex => CODEX.contains(&event),
        Host::Gemini => GEMINI.contains(&event),
        Host::Copilot => COPILOT
            .iter()
            .any(|known| known.eq_ignore_ascii_case(event)),
        Host::Cursor => CURSOR.contains(&event),
        Host::OpenCode => true,
    }
}

/// Names in the hooks of an element that the agent does not know.
pub fn unknown_fields(host: Host, element: &Value) -> Vec<String> {
    let fields = match host {
        Host::Claude => CLAUDE_FIELDS,
        Host::Codex => CODEX_FIELDS,
        _ => return Vec::new(),
    };
    let names = |value: &Value| -> Vec<String> {
        let object = value.as_object();
        object
            .map(|object| object.keys().cloned().collect())
            .unwrap_or_default()
    };
    let mut unknown = names(element);
    unknown.retain(|name| !["matcher", "hooks", "description"].contains(&name.as_str()));
    let hooks = element.get("hooks").and_then(Value::as_array);
    for hook in hooks.into_iter().flatten() {
        let odd = names(hook).into_iter();
        unknown.extend(odd.filter(|name| !fields.contains(&name.as_str())));
    }
    unknown
}

/// Whether an element is written in a shape that the agent reads at all: the
/// older one, without a list of hooks inside, is passed over.
pub fn has_hooks(host: Host, element: &Value) -> bool {
    match host {
        Host::Claude | Host::Codex | Host::Gemini => {
            element.get("hooks").is_some_and(Value::is_array)
        }
        Host::Copilot | Host::Cursor | Host::OpenCode => true,
    }
}

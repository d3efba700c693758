//! `ralph doctor --live`: the agent itself is started once, and every hook has
//! to have fired with every field that we need.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_core::lang::Lang;
use ralph_core::text::duration::plural;
use ralph_core::tr;
use ralph_engine::agents::hooks::Event;
use ralph_engine::agents::{Client, Installed};
use ralph_engine::supervise::Ending;
use serde_json::Value;

use super::ask::{Answer, Question, Scratch, ask};
use super::{Finding, Level};
use crate::app::App;
use crate::install::hosts::Wanted;
use crate::install::{merge, program};

/// A model takes its time.
const PATIENCE: Duration = Duration::from_secs(300);

/// Short and harmless, and enough to make every hook fire.
const PROMPT: &str = "This is a self-test of hooks in an empty scratch directory. Do exactly this and nothing else: \
1. With the Write tool, create the file doctor.txt in the current directory with the text: ok. \
2. Start one general-purpose subagent whose only task is to answer with the word OK. \
3. Answer with the word DONE.";

/// Fields without which a hook of ours can't do its work.
fn needed(verb: Event) -> &'static [&'static str] {
    match verb {
        Event::PreToolUse => &[
            "session_id", "cwd", "hook_event_name", "tool_name", "tool_input",
        ],
        Event::PostToolUse => &[
            "session_id", "cwd", "tool_name", "tool_input", "tool_response",
        ],
        Event::Stop => &[
            "session_id", "cwd", "transcript_path", "stop_hook_active", "last_assistant_message",
        ],
        Event::SubagentStop => &[
            "session_id", "agent_id", "agent_type", "stop_hook_active", "last_assistant_message",
        ],
        Event::UserPromptSubmit => &["session_id", "cwd", "prompt"],
        Event::SessionStart => &["session_id", "cwd", "source"],
        Event::SessionEnd => &["session_id", "reason"],
    }
}

pub async fn look(app: &App, clients: &[Installed], findings: &mut Vec<Finding>) {
    let lang = app.lang();
    let claude = clients
        .iter()
        .find(|client| client.client == Client::Claude);
    let Some(path) = claude.and_then(|client| client.path.clone()) else {
        let text = tr!(
            lang,
            "live: Claude Code is not on PATH, so that nothing was tried"
        );
        let next = tr!(lang, "install it");
        return findings.push(Finding::new(Level::Red, "live", text).next(next));
    };
    match try_out(&path).await {
        Ok((answer, recorded)) => judge(&answer, &recorded, lang, findings),
        Err(error) => findings.push(Finding::new(Level::Red, "live", format!("live: {error}"))),
    }
}

/// What each hook was given, in the order of `Event::ALL`.
type Recorded = Vec<(Event, Vec<Value>)>;

/// A scratch project whose hooks first write down what they get and then call
/// us, so that the agent also has to understand our answers.
async fn try_out(claude: &Path) -> io::Result<(Answer, Recorded)> {
    let scratch = Scratch::new("live")?;
    let (project, records) = (
        scratch.path().join("project"),
        scratch.path().join("records"),
    );
    fs::create_dir_all(project.join(".claude"))?;
    fs::create_dir_all(project.join(".ralph"))?;
    fs::create_dir_all(&records)?;
    fs::write(project.join(".claude/settings.json"), settings(&records)?)?;
    let args = [
        "-p", PROMPT, "--output-format", "json", "--permission-mode", "acceptEdits",
        "--allowedTools", "Write,Agent,Task", "--max-turns", "12",
    ];
    let answer = ask(Question {
        program: claude,
        args: args.map(Into::into).into(),
        cwd: &project,
        env: Vec::new(),
        stdin: None,
        timeout: PATIENCE,
    })
    .await;
    let recorded = Event::ALL.iter().map(|&verb| (verb, read(&records, verb)));
    Ok((answer, recorded.collect()))
}

fn record(records: &Path, verb: Event) -> PathBuf {
    records.join(format!("{}.jsonl", verb.into_str()))
}

fn settings(records: &Path) -> io::Result<String> {
    let own = program::own().unwrap_or_else(|| "ralph".into());
    let wanted = Wanted {
        program: program::quoted(&own.to_string_lossy()),
        guard: true,
        shared: false,
        gate: Duration::from_secs(60),
        wait: Duration::ZERO,
    };
    let merged = merge::merge(merge::EMPTY, Client::Claude, &wanted, None)
        .map_err(|error| io::Error::other(format!("{error:?}")))?;
    let mut text = merged.text;
    for &verb in Event::ALL {
        let command = wanted.command(Client::Claude, verb);
        let file = program::quoted(&record(records, verb).to_string_lossy());
        // Payloads end with a line break.
        let recording = format!("tee -a {file} | {command}");
        let (command, recording) = (Value::from(command), Value::from(recording));
        text = text.replace(&command.to_string(), &recording.to_string());
    }
    Ok(text)
}

fn read(records: &Path, verb: Event) -> Vec<Value> {
    let text = fs::read_to_string(record(records, verb)).unwrap_or_default();
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    values.map_while(Result::ok).collect()
}

fn judge(answer: &Answer, recorded: &Recorded, lang: Lang, findings: &mut Vec<Finding>) {
    if answer.ending != Ending::Exited(0) {
        let said = [&answer.stderr, &answer.stdout];
        let said = said.iter().find_map(|text| text.lines().next());
        let said: String = said.unwrap_or_default().chars().take(300).collect();
        let text = tr!(lang, "live: claude did not end well: {said}");
        let next = tr!(lang, "start `claude -p hello` by hand: is it logged in?");
        findings.push(Finding::new(Level::Red, "live.client", text).next(next));
    }
    for (verb, payloads) in recorded {
        findings.push(of_hook(*verb, payloads, lang));
    }
}

fn of_hook(verb: Event, payloads: &[Value], lang: Lang) -> Finding {
    let event = Client::Claude.hooks().event_name(verb);
    let count = payloads.len();
    if count == 0 {
        let text = tr!(lang, "live: {event} never fired");
        let next = tr!(
            lang,
            "run it again: the model may have done something else; if it stays so, this version of Claude Code calls it differently"
        );
        return Finding::new(Level::Red, "live.hook", text).next(next);
    }
    let lacks = |name: &&&str| payloads.iter().all(|payload| payload.get(**name).is_none());
    let missing: Vec<&str> = needed(verb).iter().filter(lacks).copied().collect();
    if missing.is_empty() {
        let times_en = plural(count, "time", "times");
        let text = tr!(
            lang,
            "live: {event} fired {count} {times_en} with everything that is needed"
        );
        return Finding::new(Level::Ok, "live.hook", text);
    }
    let missing = missing.join(", ");
    let text = tr!(lang, "live: {event} fired without {missing}");
    let next = tr!(lang, "update Claude Code, or report this with its version");
    Finding::new(Level::Red, "live.hook", text).next(next)
}

//! What `ralph help TOPIC` tells: short, with the commands to type and the page
//! that has the rest.

use ralph_core::config::PRESETS;
use ralph_core::lang::{Lang, Say, Text};
use ralph_core::text;

/// Each text begins with what it is about, in one line.
pub const TOPICS: [(&str, Text); 8] = [
    (
        "tasks",
        text!(
            "Where the work comes from

Ralph finds specs/*/tasks.md, tasks.md, an OpenSpec change, prd.json or
fix_plan.md; --tasks FILE names another one, and a text in quotes is a task
without a file. A line \"- [ ] T001 Do it | verify: npm test\" is a task with a
check of its own; \"## Phase 1: Name\" begins a phase.

  ralph tasks                     what Ralph sees
  ralph tasks lint                what is doubtful about it
  ralph run --phase 2             only that phase
  ralph run \"Fix it\" --verify 'npm test'

More: docs/book/src/tasks.md"
        ),
    ),
    (
        "presets",
        text!(
            "Defaults for a known way of working

A preset changes defaults and nothing else: your file, variables and flags still
win. These are the files themselves.

  ralph run --preset sdd          for one run
  ralph init --preset sdd         for the project: .ralph/config.toml
  ralph config show --preset sdd --origin

More: docs/presets.md"
        ),
    ),
    (
        "evidence",
        text!(
            "What counts as done

What the agent says is a claim. After each tick Ralph runs your checks and asks
three things, in a clean room: are they green with the tests as they were, red
without the work, and still able to be red? Then a task is proven. What passes
without being shown is sent back twice, then stands as what it is, and the run
ends as unproven (exit code 3).

  ralph run --verify 'npm test'   a check for everything
  ralph verify                    run the checks now
  ralph verify --baseline         what fails already does not count
  ralph prove T003                the experiments once more
  ralph accept T003               your word for what no check can see
  ralph report                    what was proven, and what was not

More: docs/evidence.md"
        ),
    ),
    (
        "limits",
        text!(
            "When a run stops by itself

At so many turns, so much time, money or tokens; after five turns without
progress or without a promise, the same failure or a false promise five times,
or three errors in a row. An agent's usage limit is waited out.

  ralph run --max-iterations 30 --max-duration 8h --max-cost 20usd
  ralph extend 10                 more turns, while it runs
  ralph wake                      wait no longer
  ralph resume --max-cost 30usd   go on after a budget was spent
  ralph config reference          every limit and its default

More: docs/book/src/limits.md"
        ),
    ),
    (
        "hooks",
        text!(
            "A loop inside your own session

Hooks of the client call Ralph: it sends the agent on while the work is not
done, holds a checking subagent, and judges each tool call. Then type
/ralph-loop \"TASK\" in Claude Code.

  ralph init --dry-run            the changes, and none is made
  ralph init                      Claude Code; --agent names another client
  ralph doctor                    prove that every hook works
  ralph uninstall                 take exactly that away

More: docs/hooks.md"
        ),
    ),
    (
        "guard",
        text!(
            "What an agent may not do

An agent that works alone has its permission questions off. The guard judges
each of its tool calls before it runs, and blocks what destroys, leaks or
escapes. It is a rail, not a sandbox.

  ralph guard test 'rm -rf /'     ask it
  ralph guard explain 'd=/; rm -rf $d'
  ralph guard rules               every rule
  ralph guard stats               what it allowed and blocked

More: docs/guard.md"
        ),
    ),
    (
        "overnight",
        text!(
            "Before you leave it alone

Work on a branch, commit what is open, name a check and a limit, and let Ralph
tell you how it ends ([notify] in .ralph/config.toml).

  ralph drill                     do all the safety nets hold here?
  ralph run --dry-run             what would be done
  ralph run --verify 'npm test' --max-duration 8h --max-cost 20usd
  ralph monitor                   look in from anywhere; ralph web for a page
  ralph report                    in the morning
  ralph resume                    go on

More: docs/book/src/start.md"
        ),
    ),
    (
        "sdd",
        text!(
            "For those who come from ralph-sdd

What you typed, and what you type now:

  ./install.sh DIR                         ralph init DIR --preset sdd
  ./scripts/ralph-sdd.sh                   ralph run --preset sdd
  ./scripts/ralph-sdd.sh --phase 2         ralph run --preset sdd --phase 2
  ./scripts/ralph-sdd.sh --dry-run         ralph run --preset sdd --dry-run
  ./scripts/ralph-sdd.sh --max-iterations 20
                                           ralph run --preset sdd --max-iterations 20
  ./scripts/ralph-sdd.sh --prompt-template FILE
                                           ralph run --preset sdd --prompt-template FILE
  ./scripts/ralph-sdd.sh --monitor         ralph run --preset sdd --monitor
  cat .ralph/status.json                   ralph status
  tail -f .ralph/ralph-sdd.log             ralph logs -f
  pkill -f ralph-sdd.sh                    ralph stop
  cat .ralph/.safety_stats                 ralph guard stats
  cp templates/prompt-template.md .ralph   ralph templates install
  safety-guard.sh, progress-tracker.sh     ralph hook pre-tool-use, post-tool-use

After `ralph init --preset sdd` plain `ralph run` is enough. Your tasks.md,
.ralph/prompt-template.md and the promise tags work as they are.

More: docs/ralph-sdd.md"
        ),
    ),
];

/// The text of a topic, if there is one of this name.
pub fn find(name: &str, lang: Lang) -> Option<String> {
    let (name, text) = TOPICS.iter().find(|(known, _)| *known == name)?;
    let mut text = text.say(lang);
    text.push('\n');
    if *name == "presets" {
        for (preset, file) in PRESETS {
            text.push_str(&format!("\n--- {preset}\n{file}"));
        }
    }
    Some(text)
}

/// Every topic with what it is about, one in a line.
pub fn list(lang: Lang) -> String {
    let width = TOPICS.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = TOPICS.iter().map(|(name, text)| {
        let about = text.say(lang);
        let about = about.lines().next().unwrap_or_default().to_owned();
        format!("  {name:width$}  {about}\n")
    });
    lines.collect()
}

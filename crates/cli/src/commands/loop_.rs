//! `ralph loop`: starts and steers a loop inside a session of an agent's
//! client, for the client's slash commands.

use std::io::Read;

use ralph_core::lang::Say;
use ralph_core::machine::Request;
use ralph_core::session::words::Start;
use ralph_engine::agents::Client;
use ralph_engine::session::Verdict;

use crate::FAILED;
use crate::app::{App, Exit, OrFail};
use crate::args::{LoopArgs, LoopCommand, LoopStartArgs};
use crate::around::{client_around, session_around};
use crate::insession::cap::low_cap;
use crate::insession::{Here, Problem, Steered, beginning, ending, no_loop};

/// What is read of options on standard input.
const MOST_INPUT: u64 = 1024 * 1024;

pub fn run(app: &App, args: &LoopArgs) -> Exit {
    let host = args.host.unwrap_or_else(client_around);
    let session = args.session.clone().or_else(|| session_around(host));
    let is_inside = session.is_some();
    // One that nobody named belongs to the first session that stops here.
    let here = Here::new(app.layout(), &session.unwrap_or_default(), host.into_str());
    let done = match &args.command {
        LoopCommand::Start(start) => {
            let inside = is_inside.then_some(host);
            return begin(app, &here, start, inside);
        }
        LoopCommand::Cancel => here.leave(Request::Cancel),
        LoopCommand::Pause => here.leave(Request::Pause),
        LoopCommand::Continue => here.go_on(),
        LoopCommand::Status => here
            .status()
            .map(|status| status.map_or(Steered::NoLoop, Steered::Told)),
    };
    match done {
        Ok(Steered::NoLoop) => app.tell(&no_loop(app.lang())),
        Ok(Steered::Told(text) | Steered::Ended(text) | Steered::TakenUp(text, _)) => {
            app.tell(&text)
        }
        Err(problem) => return app.fail(&problem),
    }
    Ok(0)
}

/// `inside` is the client of the session that asks, if one does.
fn begin(app: &App, here: &Here, args: &LoopStartArgs, inside: Option<Client>) -> Exit {
    let start = start(args).or_fail(app)?;
    match here.start(&start) {
        Ok((opened, Verdict::GoOn(go_on))) => {
            let low = inside.and_then(|host| low_cap(&opened, host));
            for message in beginning(&opened).into_iter().chain(low) {
                app.warn(&message);
            }
            app.tell(&go_on.text);
        }
        Ok((opened, Verdict::Ended(ended))) => app.tell(&ending(&opened, &ended)),
        Err(problem) => {
            // A command file shows the agent what is printed.
            app.tell(&problem.say(app.lang()));
            return Err(FAILED);
        }
    }
    Ok(0)
}

fn start(args: &LoopStartArgs) -> Result<Start, Problem> {
    if args.stdin {
        let mut text = String::new();
        let _ = std::io::stdin().take(MOST_INPUT).read_to_string(&mut text);
        return Start::parse(&text).map_err(Problem::Start);
    }
    let task = args.task.join(" ");
    Ok(Start {
        task: Some(task).filter(|task| !task.trim().is_empty()),
        max_iterations: args.max_iterations,
        completion_promise: args.completion_promise.clone(),
        openspec: args.openspec.clone(),
        tasks: args.tasks.clone(),
        preset: args.preset.clone(),
        verify: args.verify.clone(),
        way: args.route,
        pull: args.pull.wish(),
    })
}

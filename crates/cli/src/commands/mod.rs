//! One verb per file.

mod accept;
mod agents;
pub mod answer;
mod archive;
mod bisect;
mod checkpoints;
mod config;
mod control;
mod cost;
mod demo;
mod diff;
mod do_;
mod doctor;
mod drill;
mod events;
mod extend;
mod flow;
pub mod from_file;
mod gate;
mod generate;
mod guard;
mod help;
mod history;
mod init;
pub mod lane;
mod lanes;
mod left;
mod logs;
mod loop_;
mod mcp;
mod monitor;
mod phase;
mod plan;
mod prove;
mod report;
mod restore;
pub mod resume;
mod run;
mod sandbox;
pub mod self_check;
mod show;
mod snapshots;
mod start;
mod status;
mod steer;
mod tasks;
mod templates;
mod trust;
mod turns;
mod undo;
mod uninstall;
mod verify;
mod web;
mod where_;

use crate::app::{App, Exit};
use crate::args::{Cli, Command};
use crate::around::only_people;
use ralph_engine::plan::PlanError;

pub fn run(cli: Cli) -> u8 {
    dispatch(cli).unwrap_or_else(|code| code)
}

fn dispatch(cli: Cli) -> Exit {
    let app = App::new(&cli.global)?;
    if cli.command.needs_project() && !app.root.is_dir() {
        return app.fail(&PlanError::RootMissing {
            root: app.root.clone(),
        });
    }
    if cli.command.acts() {
        only_people(&app)?;
    }
    let app = match cli.command.is_for_programs() {
        true => app.in_english(),
        false => app,
    };
    match cli.command {
        Command::Demo(args) => demo::run(&app, &args),
        Command::Drill(args) => drill::run(&app, &args),
        Command::Run(args) => run::run(app, &cli.global, &args),
        Command::Start(args) => start::run(app, &cli.global, &args),
        Command::Plan(args) => plan::run(&app, &args),
        Command::Do(args) => do_::run(app, &cli.global, &args),
        Command::Resume(args) => resume::run(app, &cli.global, &args),
        Command::Flow(args) => flow::run(&app, &args),
        Command::Pause => control::pause(&app),
        Command::Stop(args) => control::stop(&app, args.now),
        Command::Cancel => control::cancel(app, &cli.global),
        Command::Wake => control::wake(&app),
        Command::Extend(args) => extend::run(&app, &args),
        Command::Answer(args) => answer::run(&app, &args),
        Command::Hint(args) => steer::hint(&app, &args),
        Command::Retry(args) => steer::retry(&app, &args),
        Command::Focus(args) => steer::focus(&app, &args),
        Command::Prove(args) => prove::run(&app, &args),
        Command::Accept(args) => accept::run(&app, &args),
        Command::Monitor(args) => monitor::run(&app, &args),
        Command::Verify(args) => verify::run(&app, &args),
        Command::Loop(args) => loop_::run(&app, &args),
        Command::Show(args) => show::run(&app, &args),
        Command::Diff(args) => diff::run(&app, &args),
        Command::Bisect(args) => bisect::run(&app, &args),
        Command::Undo(args) => undo::undo(&app, &args),
        Command::Redo(args) => undo::redo(&app, &args),
        Command::Restore(args) => restore::run(&app, &args),
        Command::Snapshots(args) => snapshots::run(&app, &args),
        Command::Cost(args) => cost::run(&app, &args),
        Command::Trust(args) => trust::run(&app, &args),
        Command::Where(args) => where_::run(&app, &args),
        Command::Lanes(args) => lanes::run(&app, &args),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => crate::fleet::run(&app, &args),
        Command::Sandbox(args) => sandbox::run(&app, &args),
        Command::Tasks(args) => tasks::run(&app, &args),
        Command::Templates(args) => templates::run(&app, &args),
        Command::Status(args) => status::run(&app, &args),
        Command::Logs(args) => logs::run(&app, &args),
        Command::Events(args) => events::run(&app, &args),
        Command::History(args) => history::run(&app, &args),
        Command::Archive(args) => archive::run(&app, &args),
        Command::Report(args) => report::run(&app, &args),
        Command::Web(args) => web::run(&app, &args),
        Command::Mcp(args) => mcp::run(&app, &args),
        Command::Config(args) => config::run(&app, &args),
        Command::Agents(args) => agents::run(&app, &args),
        Command::Gate(args) => gate::run(&app, &args),
        Command::Guard(args) => guard::run(&app, &args),
        Command::Init(args) => init::run(&app, &args),
        Command::Uninstall(args) => uninstall::run(&app, &args),
        Command::Doctor(args) => doctor::run(&app, &args),
        Command::SelfCheck(args) => self_check::run(&app, &args),
        Command::Hook(args) => Ok(guard::hook(&cli.global, &args)),
        Command::Phase(args) => phase::run(&app, &args),
        Command::Help(args) => help::run(&app, &args),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man_pages(&app, &args),
    }
}

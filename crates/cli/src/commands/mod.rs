//! One verb per file.

mod config;
mod demo;
mod events;
mod generate;
mod logs;
mod resume;
mod run;
mod status;
mod tasks;

use crate::app::App;
use crate::args::{Cli, Command};

pub fn run(cli: Cli) -> u8 {
    let app = App::new(&cli.global);
    match cli.command {
        Command::Demo(args) => demo::run(app, &cli.global, &args),
        Command::Run(args) => run::run(app, &cli.global, &args),
        Command::Resume(args) => resume::run(app, &cli.global, &args),
        Command::Tasks(args) => tasks::run(&app, &args),
        Command::Status(args) => status::run(&app, &args),
        Command::Logs(args) => logs::run(&app, &args),
        Command::Events(args) => events::run(&app, &args),
        Command::Config(args) => config::run(&app, &args),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man_pages(&app, &args),
    }
}

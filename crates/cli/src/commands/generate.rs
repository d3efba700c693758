//! Completions and man pages, made from the command line's own description.

use crate::FAILED;
use crate::app::App;
use crate::args::{CompletionsArgs, ManArgs};

pub fn completions(args: &CompletionsArgs) -> u8 {
    clap_complete::generate(
        args.shell,
        &mut crate::command(),
        "ralph",
        &mut std::io::stdout(),
    );
    0
}

pub fn man_pages(app: &App, args: &ManArgs) -> u8 {
    let written = std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(crate::command(), &args.dir));
    match written {
        Ok(()) => 0,
        Err(error) => {
            app.warn(&format!("{}: {error}", args.dir.display()));
            FAILED
        }
    }
}

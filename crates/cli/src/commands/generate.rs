//! Completions and man pages, made from the command line's own description.

use crate::app::{App, Exit};
use crate::args::{CompletionsArgs, ManArgs};
use crate::out;

pub fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "ralph", &mut script);
    out::bytes(&script);
    Ok(0)
}

pub fn man_pages(app: &App, args: &ManArgs) -> Exit {
    let written = std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(crate::command(), &args.dir));
    match written {
        Ok(()) => Ok(0),
        Err(error) => app.refuse(&format!("{}: {error}", args.dir.display())),
    }
}

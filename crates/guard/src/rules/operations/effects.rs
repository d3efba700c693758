//! What programs do to the files that they are given, as a table.
//!
//! Each row has the options that take a value, and the effects in their order:
//! `r` reads, `w` writes, `l` lists; then which operands, `*` for all, `0` for
//! the first alone, `1*` for all from the second on, or `-o|output` for the
//! values of an option.

use crate::meaning::{Args, Command, Env, Takes, Walker, files};
use crate::words::ByWord;

static EFFECTS: ByWord<(Takes, &str)> = by_word! {
    "ls dir exa eza tree du" => (takes!("", ""), "l*");
    "tee mkfifo mknod setfacl" => (takes!("", "size reference date mode"), "w*");
    "mkdir" => (takes!("m", "size reference date mode"), "w*");
    "unzip" => (takes!("dxP", "output directory input"), "w-d");
    "gunzip" => (takes!("", "output directory input"), "r*");
    "patch" => (takes!("piodDFrVz", "output directory input"), "w-o|output|d|directory w0");
    "sponge" => (takes!("", "output directory input"), "w0");
    "split" => (takes!("lbna", "output directory input"), "r0 w1");
    "csplit" => (takes!("bfn", "output directory input"), "w-f");
    "cpio" => (takes!("DFIOHMCER", "output directory input"), "w-D|directory|O|F");
    "ex" => (takes!("cS", "output directory input"), "w*");
    "ed" => (takes!("p", "output directory input"), "w*");
    "head tail" => (takes!("nc", "lines bytes"), "r*");
    "cut" => (takes!("bcdf", "delimiter fields output-delimiter"), "r*");
    "sort" => (takes!("ktoST", "key field-separator output"), "w-o|output r*");
    "xxd" => (takes!("lscgo", ""), "w-o r*");
    "od" => (takes!("AjNtSw", ""), "r*");
    "hexdump hd" => (takes!("nse", ""), "r*");
    "iconv" => (takes!("fto", "from-code to-code output"), "w-o|output r*");
    "gpg" => (takes!("oru", "output recipient local-user homedir keyserver"), "w-o|output r*");
    "fold fmt pr" => (takes!("wl", "width"), "r*");
    "column" => (takes!("sco", "separator"), "w-o r*");
    "bat batcat" => (takes!("lrH", "language line-range style theme"), "r*");
    "dasel" => (takes!("L", "indent"), "r1*");
    "cat tac nl less more strings base64 base32 uniq paste wc rev shuf expand zcat bzcat xzcat
     zless vim vi nano emacs view code open xdg-open pbcopy xclip zip gzip bzip2 xz diff cmp comm
     join sdiff vimdiff colordiff delta dos2unix md5sum sha256sum sha1sum cksum look source .
     mapfile xmllint csvtool mlr hexyl pygmentize highlight glow mdcat" =>
        (takes!("", ""), "w-output r*");
};

/// Judges what the table says of the program; `false` if it says nothing.
pub fn judge(walker: &mut Walker, command: &Command, env: &Env) -> bool {
    let Some((takes, effects)) = EFFECTS.get(command.name) else {
        return false;
    };
    // `vim +!command`.
    let commands = command
        .args
        .iter()
        .filter_map(|word| word.strip_prefix("+!"));
    commands.for_each(|text| drop(walker.aside(text, env)));
    let args = command.read(*takes);
    for effect in effects.split(' ') {
        let (does, which) = effect.split_at(1);
        for path in meant(&args, which) {
            match does {
                "w" => files::write(walker, path, env),
                "l" => files::list(walker, path, env),
                _ if path.contains("://") => {}
                _ => files::read(walker, path, env),
            }
        }
    }
    true
}

fn meant<'a>(args: &Args<'a>, which: &str) -> Vec<&'a str> {
    if let Some(names) = which.strip_prefix('-') {
        let names: Vec<&str> = names.split('|').collect();
        return args.values(&names).collect();
    }
    let (from, most) = match which.strip_suffix('*') {
        Some(from) => (from, usize::MAX),
        None => (which, 1),
    };
    let from = from.parse().unwrap_or(0);
    args.operands
        .iter()
        .copied()
        .skip(from)
        .take(most)
        .collect()
}

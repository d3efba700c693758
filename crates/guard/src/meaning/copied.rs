//! What a copy, a filter or an archive passes on: who fetches, copies and then
//! runs has run what was fetched.

use super::args::NO_VALUES;
use super::command::Command;
use super::env::{Env, Flow};
use super::walker::Walker;
use crate::RuleId;
use crate::words::Words;

/// How many programs may get other names.
const MAX_RENAMED: usize = 64;

/// Programs that give out what they are given, in another shape.
pub static FILTERS: Words = Words::new(words!(
    "base32 base64 bzcat bzip2 column cut dos2unix envsubst expand fmt fold gbase64 gpg gpg2 gsed
     gunzip gzip iconv lz4 openssl paste rev sed sort split strings tr uniq unix2dos unxz unzstd
     uudecode xxd xz xzcat zcat zstd zstdcat"
));

impl Walker<'_> {
    /// Is one of its files, or what is piped in, from the network?
    pub(super) fn is_fetched(&self, command: &Command, env: &Env) -> bool {
        let fetched =
            |word: &String| !word.starts_with('-') && self.file_flow(word, env) == Flow::Network;
        *command.stdin == Flow::Network || !env.files.is_empty() && command.args.iter().any(fetched)
    }

    /// What comes out, in a file or not, is what was fetched.
    pub(super) fn filters(&mut self, command: &Command, env: &mut Env) -> Flow {
        let args = command.read(takes!("o", "output"));
        let named = command.pairs().filter(|(flag, _)| *flag == "-out");
        let mut made: Vec<String> = args.values(&["o", "output"]).map(str::to_owned).collect();
        made.extend(named.map(|(_, path)| path.to_owned()));
        for packed in words!(".gz .xz .bz2 .zst .lz4 .gpg .asc") {
            let plain = command
                .args
                .iter()
                .filter_map(|word| word.strip_suffix(packed));
            made.extend(plain.map(str::to_owned));
        }
        for path in &made {
            self.note_file(path, &Flow::Network, env);
        }
        Flow::Network
    }

    /// `dd if=… of=…`.
    pub(super) fn dumped(&mut self, command: &Command, env: &mut Env) -> Flow {
        let named = |name: &str| command.args.iter().find_map(|word| word.strip_prefix(name));
        let flow = match named("if=") {
            Some(path) => self.file_flow(path, env),
            None => command.stdin.clone(),
        };
        match named("of=") {
            Some(path) => {
                self.note_file(path, &flow, env);
                Flow::nothing()
            }
            // Nobody shows a script this way.
            None if flow == Flow::Files => Flow::Unknown,
            None => flow,
        }
    }

    /// A file that comes from another machine is as good as a download.
    pub(super) fn copied_from_elsewhere(&mut self, command: &Command, env: &mut Env) {
        let operands = command.read(NO_VALUES).operands;
        let Some((target, sources)) = operands.split_last() else {
            return;
        };
        for source in sources.iter().filter(|source| source.contains(':')) {
            let name = source.rsplit(['/', ':']).next().unwrap_or(source);
            let here = target.trim_end_matches('/');
            self.note_file(&format!("{here}/{name}"), &Flow::Network, env);
            if !matches!(here, "." | "..") {
                self.note_file(here, &Flow::Network, env);
            }
        }
    }

    /// Notes that files from the network lie around now.
    pub(super) fn unpacked(&self, command: &Command, env: &mut Env) {
        let fetched = |word: &String| self.file_flow(word, env) == Flow::Network;
        if *command.stdin == Flow::Network || command.args.iter().any(fetched) {
            env.unpacked = true;
        }
    }

    /// A copy holds what its source held; a link leads to its target.
    pub(super) fn copies(&mut self, command: &Command, env: &mut Env) {
        let args = command.read(NO_VALUES);
        let [sources @ .., target] = args.operands.as_slice() else {
            return;
        };
        for source in sources {
            if command.name == "ln" {
                for path in self.absolute(target, env) {
                    env.links.insert(path, (*source).to_owned());
                }
            }
            if source.contains("/bin/") || source.contains("/sbin/") {
                if env.programs.len() > MAX_RENAMED {
                    self.report(RuleId::OpaqueTooLarge, source);
                    return;
                }
                for path in self.absolute(target, env) {
                    env.programs.insert(path, (*source).to_owned());
                }
            }
            let flow = self.file_flow(source, env);
            if flow != Flow::Files {
                self.note_file(target, &flow, env);
                let name = source.rsplit('/').next().unwrap_or(source);
                let within = format!("{}/{name}", target.trim_end_matches('/'));
                self.note_file(&within, &flow, env);
            }
        }
    }
}

//! The arguments of a command, sorted into options and operands.

/// The options and operands of one command line.
#[derive(Debug, Default)]
pub struct Args<'a> {
    /// Every short option, one character each.
    pub shorts: Vec<char>,
    /// Every long option by its name, without dashes.
    pub longs: Vec<&'a str>,
    values: Vec<(&'a str, &'a str)>,
    pub operands: Vec<&'a str>,
}

/// Which options take a value that may stand in the next word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Takes {
    pub shorts: &'static str,
    pub longs: &'static [&'static str],
}

pub const NO_VALUES: Takes = takes!("", "");

impl<'a> Args<'a> {
    pub fn read(words: &'a [String], takes: Takes) -> Self {
        let mut args = Args::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                args.operands.extend(words.map(String::as_str));
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, value)) => {
                        args.longs.push(name);
                        args.values.push((name, value));
                    }
                    None => {
                        args.longs.push(long);
                        if takes.longs.contains(&long)
                            && let Some(value) = words.next()
                        {
                            args.values.push((long, value));
                        }
                    }
                }
            } else if word.len() > 1 && word.starts_with('-') {
                args.read_shorts(word, takes, &mut words);
            } else {
                args.operands.push(word);
            }
        }
        args
    }

    fn read_shorts(
        &mut self,
        word: &'a str,
        takes: Takes,
        words: &mut std::slice::Iter<'a, String>,
    ) {
        for (at, character) in word.char_indices().skip(1) {
            self.shorts.push(character);
            if takes.shorts.contains(character) {
                let end = at + character.len_utf8();
                let name = word.get(at..end).unwrap_or_default();
                match word.get(end..) {
                    Some(rest) if !rest.is_empty() => self.values.push((name, rest)),
                    _ => {
                        if let Some(value) = words.next() {
                            self.values.push((name, value));
                        }
                    }
                }
                return;
            }
        }
    }

    pub fn short(&self, character: char) -> bool {
        self.shorts.contains(&character)
    }

    pub fn long(&self, name: &str) -> bool {
        self.longs.contains(&name)
    }

    pub fn has(&self, character: char, name: &str) -> bool {
        self.short(character) || self.long(name)
    }

    /// The values of an option under any of its names.
    pub fn values<'b>(&'b self, names: &'b [&'b str]) -> impl Iterator<Item = &'a str> + 'b {
        self.values
            .iter()
            .filter(move |(name, _)| names.contains(name))
            .map(|(_, value)| *value)
    }
}

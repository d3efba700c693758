//! A simple command as the rules see it.

use super::args::{Args, Takes};
use super::env::Flow;
use crate::words::is_one_of;

/// A simple command as it will run, for the rules to judge.
#[derive(Debug)]
pub struct Command<'a> {
    /// The program without its directory.
    pub name: &'a str,
    /// The program as it was written.
    pub program: &'a str,
    pub args: &'a [String],
    pub stdin: &'a Flow,
}

impl<'a> Command<'a> {
    /// Does one of these words stand there, as in `has("-f|--force*")`?
    pub fn has(&self, words: &str) -> bool {
        self.args.iter().any(|word| is_one_of(words, word))
    }

    /// The first argument, whatever it is.
    pub fn first(&self) -> &'a str {
        self.args.first().map_or("", String::as_str)
    }

    /// Its options and operands, by the options that take a value.
    pub fn read(&self, takes: Takes) -> Args<'a> {
        Args::read(self.args, takes)
    }

    /// As it is shown to people.
    pub fn line(&self) -> String {
        format!("{} {}", self.name, self.args.join(" "))
    }

    pub fn words(&self) -> Vec<&'a str> {
        self.args.iter().map(String::as_str).collect()
    }

    /// What is piped in, where the text says it.
    pub fn stdin_text(&self) -> &'a str {
        match self.stdin {
            Flow::Text(text) => text,
            _ => "",
        }
    }

    /// What is piped in, as it comes out of a program that changes it.
    pub fn filtered(&self) -> Flow {
        match self.stdin {
            Flow::Network | Flow::Environment | Flow::Archive => self.stdin.clone(),
            _ => Flow::Unknown,
        }
    }

    /// Each word with the one behind it: an option and its value.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let words = self.args.iter().map(String::as_str);
        words.clone().zip(words.skip(1))
    }
}

//! What a variable in code stands for, as far as the same text says.

use super::Scan;
use super::token::Token;
use super::words::obfuscated;
use crate::RuleId;
use crate::meaning::Env;
use crate::meaning::files;

impl Scan<'_, '_> {
    /// The string that a variable was given in this same text.
    fn assigned(&self, first: &str) -> Option<String> {
        let name: String = first
            .trim_start_matches('$')
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if name.is_empty() {
            return None;
        }
        self.tokens.windows(2).find_map(|pair| match pair {
            [Token::Code(code), Token::Text(text)] => {
                let before = code.trim_end().strip_suffix('=')?.trim_end();
                before.ends_with(&name).then(|| text.clone())
            }
            _ => None,
        })
    }

    /// A name whose value is a plain string in this same text.
    pub(super) fn harmless_variable(&self, first: &str) -> bool {
        !obfuscated(self.whole) && !first.is_empty()
    }

    /// Was this variable given a temporary directory that the code made?
    fn is_own_temporary(&self, first: &str) -> bool {
        let name = first
            .trim_start_matches('$')
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        let makes = |line: &str| line.contains("mkdtemp") || line.contains("mktmpdir");
        !name.is_empty()
            && self.whole.split(['\n', ';']).any(|line| {
                line.split_once('=').is_some_and(|(left, right)| {
                    left.split_whitespace().last() == Some(name) && makes(right)
                })
            })
    }

    pub(super) fn unresolved_delete(&mut self, first: &str, tree: bool, env: &mut Env) {
        if obfuscated(self.whole) {
            self.walker.report(RuleId::OpaqueTarget, first);
            return;
        }
        if let Some(path) = self.assigned(first) {
            let path = self.expanded(&path);
            files::delete(self.walker, &path, env, tree);
            return;
        }
        if self.is_own_temporary(first) {
            return;
        }
        // The path is computed from the strings around it: judge them all.
        let loops = ["for ", "for(", ".forEach(", ".each", ".map("];
        let in_loop = loops.iter().any(|word| self.whole.contains(word));
        let is_path = |text: &str| text.contains(['/', '~', '.']) || text.starts_with('*');
        let texts: Vec<String> = self
            .tokens
            .iter()
            .filter_map(|token| match token {
                Token::Text(text) if in_loop || is_path(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        if texts.is_empty() {
            self.walker.report(RuleId::OpaqueTarget, first);
        }
        for text in texts {
            let path = self.expanded(&text);
            files::delete(self.walker, &path, env, tree);
        }
    }
}

//! Redirections: what comes in, what goes where, and the descriptors that
//! stay open for later commands. A descriptor is a file `/dev/fd/N` that this
//! text wrote (to be read), or a link to the file that it writes.

use crate::RuleId;
use crate::mark;
use crate::shell::{Descriptor, Redirect, RedirectKind};

use super::env::{Documents, Env, Flow, Value};
use super::files;
use super::walk::{MAX_REMEMBERED, join};
use super::walker::Walker;

impl Walker<'_> {
    /// Runs `inner` with the redirections around it.
    pub(super) fn redirected(
        &mut self,
        redirects: &[Redirect],
        env: &mut Env,
        docs: &Documents,
        stdin: &Flow,
        inner: impl FnOnce(&mut Self, &mut Env, &Flow) -> Flow,
    ) -> Flow {
        if redirects.is_empty() {
            return inner(self, env, stdin);
        }
        let mut input = None;
        let mut outputs = Vec::new();
        for redirect in redirects {
            self.redirect(redirect, env, docs, &mut input, &mut outputs);
        }
        let flow = inner(self, env, input.as_ref().unwrap_or(stdin));
        if outputs.is_empty() {
            return flow;
        }
        for path in outputs {
            self.note_file(&path, &flow, env);
        }
        Flow::nothing()
    }

    fn redirect(
        &mut self,
        redirect: &Redirect,
        env: &mut Env,
        docs: &Documents,
        input: &mut Option<Flow>,
        outputs: &mut Vec<String>,
    ) {
        let descriptor = descriptor(redirect, env);
        match &redirect.kind {
            RedirectKind::Read(word) => {
                for path in self.texts(word, env, docs) {
                    files::read(self, &path, env);
                    let flow = self.file_flow(&path, env);
                    comes_in(flow, descriptor.as_deref(), env, input);
                }
            }
            RedirectKind::Write(word) => {
                for path in self.texts(word, env, docs) {
                    files::write(self, &path, env);
                    match &descriptor {
                        Some(number) => {
                            let target = self.absolute(&path, env).concat();
                            env.links.insert(format!("/dev/fd/{number}"), target);
                        }
                        None if !is_error(redirect) => outputs.push(path),
                        None => {}
                    }
                }
            }
            RedirectKind::Duplicate(word) => {
                for target in self.texts(word, env, docs) {
                    self.duplicate(&target, descriptor.as_deref(), env, input, outputs);
                }
            }
            RedirectKind::HereString(word) => {
                let mut text = self.text(word, env, docs);
                text.push('\n');
                comes_in(Flow::Text(text), descriptor.as_deref(), env, input);
            }
            RedirectKind::HereDoc(index) => {
                let body = docs.get(*index).cloned().unwrap_or_default();
                let text = self.text(&body, env, docs);
                comes_in(Flow::Text(text), descriptor.as_deref(), env, input);
            }
        }
    }

    /// `>&3`, `<&3`, `3>&4`, `>& file`.
    fn duplicate(
        &mut self,
        target: &str,
        descriptor: Option<&str>,
        env: &mut Env,
        input: &mut Option<Flow>,
        outputs: &mut Vec<String>,
    ) {
        let number = target.trim_end_matches('-');
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            if !mark::has_computed(target) {
                files::write(self, target, env);
                outputs.push(target.to_owned());
            }
            return;
        }
        let opened = format!("/dev/fd/{number}");
        if let Some(flow) = env.files.get(&opened).cloned() {
            comes_in(flow, descriptor, env, input);
        }
        if let Some(path) = env.links.get(&opened).cloned() {
            match descriptor {
                Some(number) => drop(env.links.insert(format!("/dev/fd/{number}"), path)),
                None => outputs.push(path),
            }
        }
    }

    /// What stands in a file, as far as this text itself says.
    pub fn file_flow(&self, path: &str, env: &Env) -> Flow {
        let opened = is_descriptor(path);
        if mark::has_computed(path) {
            return match path.contains(mark::NETWORK) {
                true => Flow::Network,
                false if opened => Flow::Unknown,
                false => Flow::Files,
            };
        }
        let paths = match path.rsplit_once("/fd/") {
            _ if env.files.is_empty() => Vec::new(),
            Some((_, number)) if opened => vec![format!("/dev/fd/{number}")],
            _ => self.absolute(path, env),
        };
        if let Some(flow) = paths.iter().find_map(|path| env.files.get(path)) {
            return flow.clone();
        }
        match path {
            "/dev/stdin" | "-" => Flow::Unknown,
            _ if opened => Flow::Unknown,
            _ => Flow::Files,
        }
    }

    pub fn note_file(&mut self, path: &str, flow: &Flow, env: &mut Env) {
        if env.files.len() > MAX_REMEMBERED {
            self.report(RuleId::OpaqueTooLarge, path);
            return;
        }
        for path in self.absolute(path, env) {
            let flow = match (env.files.remove(&path), flow.clone()) {
                (Some(before), now) => join(before, now),
                (None, now) => now,
            };
            env.files.insert(path, flow);
        }
    }
}

/// What a process has open, by its number.
pub fn is_descriptor(path: &str) -> bool {
    path.starts_with("/dev/fd/") || path.starts_with("/proc/") && path.contains("/fd/")
}

/// The number of a descriptor beside the three that every program has.
fn descriptor(redirect: &Redirect, env: &mut Env) -> Option<String> {
    match redirect.descriptor.as_ref()? {
        Descriptor::Number(0..=2) => None,
        Descriptor::Number(number) => Some(number.to_string()),
        Descriptor::Variable(name) => {
            // `{fd}>&-` closes the one that it has.
            if let Some(Value::Texts(texts)) = env.variables.get(name)
                && matches!(redirect.kind, RedirectKind::Duplicate(_))
            {
                return texts.first().cloned();
            }
            let number = env.free_descriptor().to_string();
            env.assign(name, Value::text(&number));
            Some(number)
        }
    }
}

fn is_error(redirect: &Redirect) -> bool {
    redirect.descriptor == Some(Descriptor::Number(2))
}

fn comes_in(flow: Flow, descriptor: Option<&str>, env: &mut Env, input: &mut Option<Flow>) {
    match descriptor {
        Some(number) => env.open(number, flow),
        None => *input = Some(flow),
    }
}

//! Runs one command, whoever starts it: the rules judge it, and what it is
//! the wrapper, the interpreter or the name of is run in its place.

use crate::RuleId;

use super::builtin::Effect;
use super::command::Command;
use super::env::{Env, Flow, Function, Value};
use super::options;
use super::walk::{MAX_DEPTH, quoted};
use super::walker::Walker;
use crate::mark;

impl Walker<'_> {
    /// Runs a command with variables that are set for it alone.
    pub(super) fn run_with(
        &mut self,
        argv: &[String],
        prefix: &[(String, Value)],
        env: &mut Env,
        stdin: &Flow,
    ) -> Flow {
        let before: Vec<_> = prefix
            .iter()
            .map(|(name, value)| (name, env.variables.insert(name.clone(), value.clone())))
            .collect();
        let flow = self.run(argv, env, stdin);
        for (name, value) in before {
            match value {
                Some(value) => env.variables.insert(name.clone(), value),
                None => env.variables.remove(name),
            };
        }
        flow
    }

    /// One command with its arguments, whoever starts it.
    pub fn run(&mut self, argv: &[String], env: &mut Env, stdin: &Flow) -> Flow {
        let Some((program, args)) = argv.split_first() else {
            return Flow::nothing();
        };
        self.deeper(program, |walker| {
            walker.trace.command(argv);
            let outer = walker.running.replace(argv.join(" "));
            let flow = walker.run_inner(program, args, env, stdin);
            walker.running = outer;
            flow
        })
    }

    /// What stands in another command, unless that is too deep to be judged.
    pub(super) fn deeper(&mut self, what: &str, inner: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if self.depth >= MAX_DEPTH {
            self.report(RuleId::OpaqueTooLarge, what);
            return Flow::Unknown;
        }
        self.depth += 1;
        let flow = inner(self);
        self.depth -= 1;
        flow
    }

    fn run_inner(&mut self, program: &str, args: &[String], env: &mut Env, stdin: &Flow) -> Flow {
        let renamed = self.renamed(program, env);
        let program = renamed.as_deref().unwrap_or(program);
        let Some(name) = self.program_name(program) else {
            return Flow::Unknown;
        };
        if let Some(function) = env.functions.get(program).cloned() {
            return self.call(program, &function, args, env, stdin);
        }
        if let Some(alias) = env.aliases.get(program).cloned() {
            let mut inner = env.clone();
            inner.aliases.remove(program);
            let text = format!("{alias} {}", quoted(args));
            return self.code(&text, &mut inner, stdin);
        }
        let full = options::in_full(&name, args, env);
        let command = Command {
            name: &name,
            program,
            args: full.as_deref().unwrap_or(args),
            stdin,
        };
        self.judges.command(self, &command, env);
        match self.builtin(&command, env) {
            Effect::Done(flow) => return flow,
            Effect::NotBuiltin => {}
        }
        if let Some(flow) = self.unwrapped(&command, env) {
            return flow;
        }
        if let Some(flow) = self.interpreter(&command, env) {
            return flow;
        }
        self.commands_in_options(&command, env);
        self.carried(&command, env);
        self.started_file(&command, env);
        self.written_recipes(&command, env);
        self.output(&command, env)
    }

    /// The program that stands behind a name which this text gave it, or which
    /// a link on the disk has.
    fn renamed(&self, program: &str, env: &Env) -> Option<String> {
        if !program.contains('/') {
            return None;
        }
        let paths = self.absolute(program, env);
        let given = paths
            .iter()
            .find_map(|path| env.programs.get(path).cloned());
        given.or_else(|| {
            let linked = paths
                .iter()
                .find_map(|path| self.context.world.link_target(path))?;
            let name = linked.rsplit('/').next().unwrap_or(&linked);
            let is_told = name == "ralph" || super::known::is_dangerous_program(name);
            is_told.then_some(linked)
        })
    }

    /// The program's name, or a finding where the text does not say it.
    fn program_name(&mut self, program: &str) -> Option<String> {
        let base = program.rsplit('/').next().unwrap_or(program);
        if program.contains(mark::NETWORK) {
            self.report(RuleId::NetRunRemoteCode, program);
            return None;
        }
        if mark::has_computed(base) || mark::has_glob(base) {
            self.report(RuleId::OpaqueCommand, program);
            return None;
        }
        if mark::has_glob(program) && !mark::has_computed(program) {
            self.report(RuleId::OpaqueCommand, program);
            return None;
        }
        Some(match base.strip_suffix(".exe") {
            // Windows does not tell capitals apart.
            Some(name) => name.to_lowercase(),
            None => base.to_owned(),
        })
    }

    fn call(
        &mut self,
        name: &str,
        function: &Function,
        args: &[String],
        env: &mut Env,
        stdin: &Flow,
    ) -> Flow {
        if env.calls.iter().any(|call| call == name) {
            if env.forked {
                self.report(RuleId::SystemForkBomb, name);
            }
            return Flow::Unknown;
        }
        let positional = std::mem::replace(&mut env.positional, args.to_vec());
        env.calls.push(name.to_owned());
        let forked = std::mem::replace(&mut env.forked, false);
        let flow = self.node(&function.body, env, &function.documents, stdin);
        env.forked = forked;
        env.leave_scope();
        env.calls.pop();
        env.positional = positional;
        flow
    }
}

//! Publishing: what leaves for everybody and can't be taken back.

use super::cloud::global_options;
use super::pattern::Call;
use super::table::PUBLISH;
use crate::RuleId;
use crate::meaning::{Command, Walker};

/// Programs that mean something else by `publish`: a message, a build, or
/// whatever a project's own target of that name does; and those whose rows or
/// judges say exactly when they publish.
const OTHER_PUBLISHERS: &[&str] = words!(
    "dotnet redis-cli nats mosquitto rabbitmqadmin make gmake just task nx turbo rake invoke nox
     tox echo printf grep cargo npm pnpm yarn bun mvn mvnw"
);

pub fn judge(walker: &mut Walker, command: &Command) {
    let npm_like = one_of!(command.name, "npm pnpm yarn bun");
    let may_publish = npm_like || PUBLISH.knows(command.name) || command.has("publish");
    if !may_publish || command.has("--dry-run|--help|-h|--dry-run=true") {
        return;
    }
    let mut operands = command.read(global_options(command.name)).operands;
    operands.retain(|word| !word.starts_with('+'));
    let call = Call::of(&operands, command.args);
    let publishes = PUBLISH.broken(command.name, call).is_some()
        || match command.name {
            _ if npm_like => npm(&operands),
            "gradle" | "gradlew" => operands.iter().any(|word| {
                let task = word.rsplit(':').next().unwrap_or(word);
                task.starts_with("publish") && !task.contains("MavenLocal")
            }),
            "gh" if call.is("api") => {
                let deletes = |word: &String| word.contains("mutation") && word.contains("delete");
                command.args.iter().any(deletes)
            }
            name => call.is("publish") && !OTHER_PUBLISHERS.contains(&name),
        };
    if publishes {
        walker.report(RuleId::PublishPackage, &command.line());
    }
}

fn npm(words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or_default();
    let at = usize::from(one_of!(first, "npm workspace workspaces -r recursive"));
    let verb = words.get(if first == "workspace" { 2 } else { at });
    let publishes = |verb: &&str| {
        one_of!(
            *verb,
            "publish unpublish deprecate owner adduser login dist-tag access"
        )
    };
    verb.is_some_and(publishes) && !matches!(words.get(at + 1), Some(&"ls" | &"list"))
}

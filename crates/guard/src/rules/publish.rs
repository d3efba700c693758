//! Publishing: what leaves for everybody and can't be taken back.

use super::cloud::global_options;
use crate::RuleId;
use crate::meaning::args::Args;
use crate::meaning::walk::{Command, Walker};

pub fn judge(walker: &mut Walker, command: &Command) {
    let args = command.args;
    let has = |flag: &str| args.iter().any(|word| word == flag);
    if has("--dry-run") || has("--help") || has("-h") || has("--dry-run=true") {
        return;
    }
    let mut words = Args::read(args, global_options(command.name)).operands;
    words.retain(|word| !word.starts_with('+'));
    let publishes = match (command.name, words.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", all) => npm(all),
        ("lerna", ["publish", ..]) => true,
        ("changeset", ["publish", ..]) => true,
        ("semantic-release" | "release-it" | "np", _) => true,
        ("nx", ["release", "publish", ..]) => true,
        ("cargo", ["publish", ..]) => !has("-n"),
        ("cargo", ["owner", ..]) => !has("--list") && !has("-l"),
        ("cargo", ["yank" | "login", ..]) => true,
        ("cargo", ["release", ..]) => has("--execute") || has("-x"),
        ("twine", ["upload", ..]) => true,
        ("python" | "python3", ["twine", "upload", ..]) => has("-m"),
        ("python" | "python3", ["setup.py", rest @ ..]) => {
            rest.contains(&"upload") || rest.contains(&"register")
        }
        (
            "poetry" | "flit" | "hatch" | "uv" | "pdm" | "rye" | "maturin",
            ["publish" | "upload", ..],
        ) => true,
        ("gem", ["push" | "yank" | "owner", ..]) => true,
        ("rake", ["release", ..]) => true,
        ("mvn" | "mvnw", all) => all
            .iter()
            .any(|word| *word == "deploy" || word.starts_with("release:")),
        ("gradle" | "gradlew", all) => all.iter().any(|word| {
            let task = word.rsplit(':').next().unwrap_or(word);
            task.starts_with("publish") && !task.contains("MavenLocal")
                || task == "uploadArchives"
                || task == "closeAndReleaseRepository"
        }),
        ("sbt", all) => all
            .iter()
            .any(|word| matches!(*word, "publish" | "publishSigned" | "sonatypeRelease")),
        ("dotnet", ["nuget", "push", ..]) | ("nuget", ["push", ..]) => true,
        ("vsce" | "ovsx", ["publish", ..]) => true,
        ("pod", ["trunk", "push", ..]) => true,
        ("mix", ["hex.publish", ..]) => true,
        ("dart" | "flutter", ["pub", "publish", ..]) => true,
        ("jsr" | "deno", ["publish", ..]) => true,
        ("goreleaser", ["release", ..]) => {
            !has("--snapshot") && !has("--skip=publish") && !has("--skip-publish")
        }
        (
            "docker" | "podman" | "nerdctl",
            ["push", ..] | ["image", "push", ..] | ["manifest", "push", ..],
        ) => true,
        ("docker", ["compose", "push", ..]) => true,
        ("docker" | "docker-buildx", ["buildx", "build", ..] | ["build", ..]) => has("--push"),
        ("helm", ["push", ..]) | ("crane", ["push" | "copy", ..]) | ("oras", ["push", ..]) => true,
        ("skopeo", ["copy" | "delete", ..]) => true,
        ("gh", ["release", "create" | "delete" | "upload", ..]) => true,
        ("glab", ["repo", "delete" | "archive", ..]) => true,
        ("gh", ["repo", "delete" | "archive" | "rename" | "edit", ..]) => true,
        ("gh", ["secret" | "variable", "set" | "delete", ..]) => true,
        ("gh", ["api", ..]) => args.iter().any(|word| {
            matches!(word.as_str(), "DELETE" | "--method=DELETE" | "-XDELETE")
                || word.contains("mutation") && word.contains("delete")
        }),
        ("gh", ["gist", "create", ..]) => true,
        ("gh", ["pr", "merge", ..]) => has("--admin"),
        (
            "gh",
            ["workflow", "disable", ..]
            | [
                "run" | "cache" | "codespace" | "issue" | "gist" | "project" | "ruleset",
                "delete",
                ..,
            ],
        ) => true,
        ("gh", ["extension" | "ext", "install", ..]) => true,
        ("hub", ["delete", ..]) => true,
        ("conda" | "anaconda", ["upload", ..]) => true,
        ("luarocks", ["upload", ..])
        | ("cabal", ["upload", ..])
        | ("stack", ["upload", ..])
        | ("opam", ["publish", ..]) => true,
        ("composer", ["publish", ..]) => true,
        ("fastlane", ["release" | "deliver" | "supply" | "pilot", ..]) => true,
        ("eas", ["submit", ..]) => true,
        ("lein", ["deploy", ..])
        | ("web-ext", ["sign", ..])
        | ("snapcraft", ["upload" | "push" | "release", ..])
        | ("jfrog" | "jf", ["rt", "upload" | "u", ..])
        | ("go", ["run", _, "release", ..]) => true,
        (name, ["publish", ..]) => !OTHER_PUBLISHERS.contains(&name),
        _ => false,
    };
    if publishes {
        walker.report(
            RuleId::PublishPackage,
            &format!("{} {}", command.name, args.join(" ")),
        );
    }
}

/// Programs that mean something else by `publish`: a message, a build, or
/// whatever a project's own target of that name does.
const OTHER_PUBLISHERS: &[&str] = words!(
    "dotnet redis-cli nats mosquitto rabbitmqadmin make gmake just task nx turbo rake invoke
     nox tox echo printf grep"
);

fn npm(words: &[&str]) -> bool {
    let at = usize::from(matches!(
        words.first(),
        Some(&"npm" | &"workspace" | &"workspaces" | &"-r" | &"recursive")
    ));
    let verb = if words.first() == Some(&"workspace") {
        words.get(2)
    } else {
        words.get(at)
    };
    matches!(
        verb,
        Some(
            &"publish"
                | &"unpublish"
                | &"deprecate"
                | &"owner"
                | &"adduser"
                | &"login"
                | &"dist-tag"
                | &"access"
        )
    ) && !matches!(words.get(at + 1), Some(&"ls" | &"list"))
}

//! Clouds, clusters and infrastructure: what destroys there.

use super::pattern::Call;
use super::table::CLOUD;
use crate::RuleId;
use crate::meaning::{Command, Takes, Walker};

/// Options with a value that may stand before the verb.
pub fn global_options(program: &str) -> Takes {
    match program {
        "kubectl" | "oc" | "k" | "helm" => takes!(
            "ns",
            "namespace context kubeconfig cluster kube-context server user"
        ),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => takes!(
            "Hc",
            "host context config log-level file project-name profile url"
        ),
        "npm" | "pnpm" | "yarn" | "bun" => {
            takes!("wFC", "prefix workspace filter dir cwd registry otp tag")
        }
        "cargo" => takes!(
            "pZ",
            "manifest-path package color config registry index token"
        ),
        "gh" | "glab" => takes!("R", "repo"),
        _ => takes!(
            "",
            "token profile region endpoint-url namespace context kubeconfig project subscription
             cluster zone"
        ),
    }
}

/// Words of `kubectl` that are its verb, wherever they stand.
const VERBS: &[&str] = words!(
    "delete drain cordon replace scale taint create get describe logs apply exec config auth
     explain run"
);

pub fn judge(walker: &mut Walker, command: &Command) {
    let name = command.name;
    if !CLOUD.knows(name) {
        return;
    }
    let dry = command.has("--dry-run|--dry-run=*") && !command.has("--dry-run=none");
    if dry || command.has("--dryrun|--dryrun=*|--help|--help=*") {
        return;
    }
    let mut operands = command.read(global_options(name)).operands;
    if matches!(name, "kubectl" | "oc" | "k") {
        let verb = operands.iter().position(|word| VERBS.contains(word));
        operands.drain(..verb.unwrap_or(operands.len()));
    }
    let call = Call::of(&operands, command.args);
    let rule = CLOUD
        .broken(name, call)
        .or(match (name, operands.as_slice()) {
            ("kubectl" | "oc" | "k", ["apply", ..])
                if command.words().into_iter().any(is_foreign) =>
            {
                Some(RuleId::CloudKubernetes)
            }
            ("gsutil", all)
                if all.contains(&"rm") && all.iter().any(|word| word.ends_with("**")) =>
            {
                Some(RuleId::CloudDestroy)
            }
            ("aws", ["s3", "rm", ..]) if command.words().into_iter().any(is_bucket) => {
                Some(RuleId::CloudDestroy)
            }
            _ => None,
        });
    if let Some(rule) = rule {
        walker.report(rule, &command.line());
    }
}

/// A bucket without the name of an object.
fn is_bucket(word: &str) -> bool {
    let name = word.strip_prefix("s3://");
    name.is_some_and(|name| !name.contains('/'))
}

/// An address of none of the forges that manifests are usually taken from.
fn is_foreign(word: &str) -> bool {
    let url = word.strip_prefix("-f=").unwrap_or(word);
    let known = ["https://raw.githubusercontent.com/", "https://github.com/"];
    url.contains("://")
        && !known.iter().any(|start| url.starts_with(start))
        && !url.contains(".k8s.io/")
}

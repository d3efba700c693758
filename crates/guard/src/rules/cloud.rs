//! Clouds, clusters and infrastructure: what destroys there.

use crate::RuleId;
use crate::meaning::args::{Args, Takes};
use crate::meaning::walk::{Command, Walker};

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
            "token profile region endpoint-url namespace context kubeconfig project
             subscription cluster zone"
        ),
    }
}

pub fn judge(walker: &mut Walker, command: &Command) {
    let args = command.args;
    let has = |flag: &str| {
        args.iter().any(|word| {
            word == flag
                || word
                    .strip_prefix(flag)
                    .is_some_and(|rest| rest.starts_with('='))
        })
    };
    let words = Args::read(args, global_options(command.name)).operands;
    let dry = has("--dry-run") && !args.iter().any(|word| word == "--dry-run=none")
        || has("--dryrun")
        || has("--help");
    if dry {
        return;
    }
    let kubernetes = match (command.name, words.as_slice()) {
        ("kubectl" | "oc" | "k", all) => kubectl(all, args),
        ("helm", ["uninstall" | "delete" | "del" | "un", ..]) => true,
        ("kind" | "k3d" | "minikube", ["delete", ..] | ["cluster", "delete", ..]) => true,
        ("eksctl", ["delete", ..]) => true,
        ("kubeadm", ["reset", ..]) => true,
        ("argocd", ["app", "delete", ..])
        | ("flux", ["delete" | "uninstall", ..])
        | ("istioctl", ["uninstall" | "x", ..]) => true,
        ("velero", ["backup", "delete", ..]) => true,
        ("etcdctl", ["del", ..]) => true,
        _ => false,
    };
    if kubernetes {
        walker.report(
            RuleId::CloudKubernetes,
            &format!("{} {}", command.name, args.join(" ")),
        );
    }
    let destroys = match (command.name, words.as_slice()) {
        ("terraform" | "tofu" | "terragrunt", all) => terraform(all, args),
        ("pulumi", ["destroy" | "down", ..] | ["stack", "rm", ..]) => true,
        ("pulumi", ["up" | "update", ..]) => has("--yes") || has("-y") || has("--skip-preview"),
        ("cdk" | "cdktf", ["destroy", ..]) => true,
        ("cdk" | "cdktf", ["deploy", ..]) => {
            has("--auto-approve") || args.iter().any(|w| w == "never")
        }
        ("serverless" | "sls" | "sst", ["remove", ..])
        | ("sam", ["delete", ..])
        | ("amplify", ["delete", ..])
        | ("copilot", ["app" | "svc" | "env", "delete", ..]) => true,
        ("vagrant", ["destroy", ..]) => true,
        ("packer", ["destroy", ..]) => true,
        ("aws", [service, verb, ..]) => aws(service, verb, args),
        (
            "gcloud" | "az" | "doctl" | "linode-cli" | "hcloud" | "scw" | "ibmcloud" | "oci"
            | "openstack" | "vultr-cli" | "civo",
            all,
        ) => {
            all.iter().any(|word| {
                one_of!(
                    *word,
                    "delete destroy purge terminate rm remove-iam-policy-binding
                     add-iam-policy-binding"
                ) || word.starts_with("delete-")
            }) || matches!(
                all,
                ["iam", "service-accounts", "keys", "create", ..]
                    | ["ad", "sp", "create-for-rbac", ..]
                    | ["role", "assignment", "create", ..]
            )
        }
        ("gsutil", all) => {
            all.first() == Some(&"rb")
                || (all.contains(&"rm")
                    && (has("-r")
                        || has("-R")
                        || has("-m")
                        || all.iter().any(|word| word.ends_with("**"))))
                || (all.contains(&"rsync") && has("-d"))
                || all.iter().any(|word| word.starts_with("allUsers"))
        }
        ("azcopy", ["remove" | "rm", ..]) => true,
        ("s3cmd", ["del" | "rb" | "rm", ..]) => true,
        (
            "rclone",
            [
                "delete" | "purge" | "deletefile" | "sync" | "cleanup" | "rmdirs",
                ..,
            ],
        ) => true,
        ("mc", ["rm" | "rb", ..]) => true,
        ("heroku", [verb, ..]) => one_of!(
            *verb,
            "apps:destroy destroy pg:reset pg:copy addons:destroy apps:delete ps:scale
             config:unset domains:clear"
        ),
        ("fly" | "flyctl", all) => all.contains(&"destroy") || all.contains(&"delete"),
        (
            "vercel" | "now",
            ["rm" | "remove", ..] | ["project" | "env" | "domains", "rm" | "remove", ..],
        ) => true,
        ("netlify", [verb, ..]) => verb.ends_with(":delete"),
        ("firebase", [verb, ..]) => verb.ends_with(":delete") || verb.ends_with(":disable"),
        ("wrangler", ["delete", ..] | ["r2" | "kv" | "d1", _, "delete", ..]) => true,
        ("railway", ["down" | "delete", ..]) | ("render", ["services", "delete", ..]) => true,
        ("supabase", ["projects", "delete", ..])
        | ("planetscale" | "pscale", ["database" | "branch", "delete", ..])
        | ("neonctl", ["projects" | "branches", "delete", ..]) => true,
        ("consul", ["kv", "delete", ..])
        | ("nomad", ["job", "stop", ..] | ["stop", ..])
        | (
            "vault",
            ["delete", ..] | ["kv", "destroy" | "delete", ..] | ["secrets", "disable", ..],
        ) => true,
        ("ansible-playbook", _) => false,
        ("virsh", ["destroy" | "undefine", ..])
        | ("VBoxManage", ["unregistervm", ..])
        | ("multipass", ["delete" | "purge", ..])
        | ("lxc", ["delete", ..])
        | ("qm" | "pct", ["destroy", ..]) => true,
        ("kafka-topics" | "kafka-topics.sh", _) => has("--delete"),
        (
            "rabbitmqctl",
            [
                "reset" | "force_reset" | "delete_vhost" | "delete_queue",
                ..,
            ],
        ) => true,
        _ => false,
    };
    if destroys {
        walker.report(
            RuleId::CloudDestroy,
            &format!("{} {}", command.name, args.join(" ")),
        );
    }
}

fn kubectl(words: &[&str], args: &[String]) -> bool {
    let verbs = [
        "delete", "drain", "cordon", "replace", "scale", "taint", "create",
    ];
    let Some(verb) = words.iter().find(|word| {
        verbs.contains(word)
            || one_of!(
                **word,
                "get describe logs apply exec config auth explain run"
            )
    }) else {
        return false;
    };
    match *verb {
        "delete" | "drain" | "cordon" => true,
        "create" => words.contains(&"clusterrolebinding"),
        "run" => args.iter().any(|word| {
            word.starts_with("--privileged")
                || ["hostPID", "hostNetwork", "hostPath", "\"privileged\":true"]
                    .iter()
                    .any(|escape| word.contains(escape))
        }),
        "replace" => args.iter().any(|word| word == "--force"),
        "scale" => args.iter().any(|word| word == "--replicas=0"),
        "taint" => args.iter().any(|word| word.contains("NoExecute")),
        "apply" => args.iter().any(|word| {
            let url = word.strip_prefix("-f=").unwrap_or(word);
            word == "--prune" || url.contains("://") && !is_known_address(url)
        }),
        "config" => words.iter().any(|word| word.starts_with("delete-")),
        _ => false,
    }
}

fn terraform(words: &[&str], args: &[String]) -> bool {
    let has = |flag: &str| {
        args.iter()
            .any(|word| word.trim_start_matches('-').split('=').next() == Some(flag))
    };
    match words {
        ["destroy", ..]
        | ["state", "rm" | "push" | "mv", ..]
        | ["workspace", "delete", ..]
        | ["force-unlock", ..]
        | ["taint", ..] => true,
        ["apply", ..] => has("destroy") || has("auto-approve"),
        ["plan", ..] => false,
        ["run-all", "destroy" | "apply", ..] => true,
        ["import" | "untaint", ..] => false,
        _ => false,
    }
}

fn aws(service: &str, verb: &str, args: &[String]) -> bool {
    let has = |flag: &str| args.iter().any(|word| word == flag);
    match (service, verb) {
        ("s3", "rm") => {
            has("--recursive")
                || args
                    .iter()
                    .filter(|word| word.starts_with("s3://"))
                    .any(|url| !url.get(5..).unwrap_or_default().contains('/'))
        }
        ("s3", "rb") => true,
        ("s3", "sync" | "mv") => has("--delete"),
        ("iam", verb) => {
            let shows = ["get-", "list-", "simulate-", "generate-"];
            !shows.iter().any(|start| verb.starts_with(start))
        }
        ("ec2", "authorize-security-group-ingress") => args
            .iter()
            .any(|word| word.contains("0.0.0.0/0") || word.contains("::/0")),
        ("s3api", verb) if verb.starts_with("put-bucket") => true,
        ("s3api", "put-public-access-block") => true,
        ("route53", "change-resource-record-sets") => true,
        ("cloudtrail", "stop-logging") | ("organizations", "leave-organization") => true,
        ("s3api", "put-object-acl") => true,
        (_, verb) => words!(
            "delete- terminate- deregister- remove- purge- stop-db disable- revoke- release-
             schedule-key-deletion batch-delete detach- stop-instances reboot-instances"
        )
        .iter()
        .any(|start| verb.starts_with(start)),
    }
}

/// An address of the forges that manifests are usually taken from.
fn is_known_address(url: &str) -> bool {
    ["https://raw.githubusercontent.com/", "https://github.com/"]
        .iter()
        .any(|start| url.starts_with(start))
        || url.contains(".k8s.io/")
}

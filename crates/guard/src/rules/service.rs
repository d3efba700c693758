//! Command lines of services: each has verbs of its own to create and to show,
//! but they all call destroying by one of a few words.

use crate::RuleId;
use crate::meaning::{Command, Walker};

use super::cloud::global_options;
use crate::words::Words;

/// Programs whose objects live on somebody's server.
static CLIENTS: Words = Words::new(words!(
    "knife vault borg restic kopia duplicity aliyun argocd astro atlas auth0 azd boundary bosh
     cf cilium circleci ckan cloudfoundry cloudsmith confluent consul crane databricks
     datadog-ci dcos deployctl dnscontrol doppler eb ecs-cli exo faas-cli fastly firebase fly
     flyctl gcloud glab glooctl heroku hcloud ibmcloud istioctl jfrog jf k0sctl kn kops kubectx
     linkerd linode-cli mongocli neonctl netlify newrelic ngrok nomad oci okta okteto openstack
     ovhcloud pscale railway rancher render rke rosa sentry-cli scw snow stripe supabase surge
     talosctl tccli tkn turso upctl vultr-cli wrangler yc zeet"
));

pub fn judge(walker: &mut Walker, command: &Command) {
    if !CLIENTS.contains(&command.name) {
        return;
    }
    let looks_only = command.has("--dry-run|--help|-h|--local");
    let words = command.read(global_options(command.name)).operands;
    let backup = matches!(command.name, "borg" | "restic" | "kopia" | "duplicity");
    // The words behind the verb are names that people chose.
    let forgets = |word: &&str| matches!(*word, "forget" | "prune" | "remove-older-than");
    let destroyed = words.iter().take(4).any(|word| destroys(word))
        || backup && words.iter().take(2).any(forgets);
    if !looks_only && destroyed {
        let shown = format!("{} {}", command.name, command.args.join(" "));
        walker.report(RuleId::CloudDestroy, &shown);
    }
}

fn destroys(word: &str) -> bool {
    let verb = word.rsplit(':').next().unwrap_or(word);
    one_of!(
        verb,
        "delete destroy purge terminate teardown undeploy uninstall nuke wipe rm del remove
         seal disable revoke reset-db"
    ) || verb.starts_with("delete-")
        || verb.starts_with("destroy-")
}

//! Files that hold secrets, by name, with the names that only look like it.

use std::borrow::Cow;

use crate::mark;
use crate::words::{Words, is_one_of};

/// Endings that make a name a sample, a public half or source code.
const EXCEPTIONS: &[&str] = words!(
    ".example .sample .template .tmpl .dist .defaults .default .schema .pub .md .ts .js .rs .py
     .go"
);

static NAMES: Words = Words::new(words!(
    ".env .envrc .netrc _netrc .pgpass .my.cnf .mylogin.cnf .pypirc .git-credentials .htpasswd
     .dockercfg .vault-token .s3cfg .boto id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk
     id_ed25519_sk id_xmss credentials.json credentials.yml credentials.yaml credentials.toml
     credentials.csv credentials.xml credentials.ini credentials.txt credentials.yml.enc
     secrets.json secrets.yml secrets.yaml secrets.toml secrets.txt secrets.env secret.json
     secret.yaml secret.yml secret.key master.key service-account.json service_account.json
     serviceaccount.json gcp-key.json passwords.txt password.txt wallet.dat kubeconfig
     .kubeconfig .credentials.json .bash_history .zsh_history auth.json shadow gshadow
     terraform.tfstate terraform.tfstate.backup credentials .secrets .vault_pass
     .vault_pass.txt .vault_password vault_password wp-config.php local.settings.json .renviron
     rclone.conf secring.gpg key4.db logins.json cookies.sqlite"
));

const ENDINGS: &[&str] =
    words!(".pem .key .p12 .pfx .jks .keystore .ppk .kdbx .kdb .pkcs12 .p8 .gpg-key .ovpn .agekey");

/// Directories whose whole content is sensitive, as parts of a path.
const DIRECTORIES: &[&str] = words!(
    "/.ssh/ /.gnupg/ /.aws/ /.azure/ /.config/gcloud/ /.kube/ /.password-store/ /run/secrets/
     /.config/gh/ /.oci/ /.terraform.d/credentials /.local/share/keyrings/ /library/keychains/
     /etc/ssl/private/ /.mozilla/firefox/ /.config/google-chrome/ /microsoft/credentials/
     /microsoft/protect/ /microsoft/vault/ /windows/system32/config/ /windows/ntds/
     /appdata/roaming/gcloud/ /mozilla/firefox/profiles/ /com.apple.tcc/ /library/cookies/
     /library/messages/ /library/mail/"
);

/// What each of them begins with.
static FIRST_PARTS: Words = Words::new(words!(
    ".ssh .gnupg .aws .azure .config .kube .password-store run .oci .terraform.d .local library
     etc .mozilla microsoft windows appdata mozilla com.apple.tcc"
));

/// Single files, as endings of a path.
const PATHS: &[&str] = words!(
    "/var/log/auth.log /var/log/secure /var/log/audit/audit.log /.docker/config.json
     /.config/hub /etc/sudoers /etc/passwd /etc/master.passwd /etc/security/opasswd
     /.cargo/credentials /.cargo/credentials.toml /.gem/credentials /.m2/settings.xml
     /.composer/auth.json /.codex/auth.json /.claude/.credentials.json /proc/kcore /dev/mem
     /dev/kmem /.mysql_history /.psql_history /psreadline/consolehost_history.txt
     /sysprep/unattend.xml /panther/unattend.xml"
);

/// Is this absolute path a file that holds secrets? Globs count where they
/// are written to mean such a file.
pub fn is_sensitive(path: &str) -> bool {
    let lower = match path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(path.to_ascii_lowercase()),
        false => Cow::Borrowed(path),
    };
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if EXCEPTIONS.iter().any(|ending| name.ends_with(ending)) {
        return lower.contains("/.ssh/") && !name.ends_with(".pub");
    }
    let is_glob = mark::has_glob(&lower);
    is_below_secrets(&lower)
        || PATHS
            .iter()
            .any(|ending| lower.ends_with(ending) || (is_glob && mark::glob_match(&lower, ending)))
        || is_sensitive_name(name)
        || in_proc(&lower)
        || is_kept_among_secrets(&lower)
        || lower.strip_suffix("/.npmrc").is_some_and(is_home)
}

/// Is it, or is it below, a directory that holds nothing but secrets? Every
/// path of every command is asked, and hardly one has a part that any of them
/// begins with.
fn is_below_secrets(lower: &str) -> bool {
    if !lower.split('/').any(|part| FIRST_PARTS.contains(&part)) {
        return false;
    }
    let with_slash = format!("{lower}/");
    DIRECTORIES
        .iter()
        .any(|directory| with_slash.contains(directory))
        || lower.contains("/etc/sudoers.d/")
        || lower.contains("/etc/ssh/ssh_host_")
}

/// Does a program read its values from here, secret ones among others?
pub fn holds_values(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    is_one_of(".envrc|*.tfvars", &name)
}

/// A directory called `secrets` holds them, and code that handles them.
fn is_kept_among_secrets(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (name, directory) = (parts.next().unwrap_or_default(), parts.next());
    let is_data =
        !name.contains('.') || is_one_of("*.txt|*.json|*.yml|*.yaml|*.toml|*.ini|*.enc", name);
    matches!(directory, Some("secrets" | ".secrets")) && is_data && !name.is_empty()
}

fn is_home(directory: &str) -> bool {
    let name = directory
        .strip_prefix("/home/")
        .or(directory.strip_prefix("/users/"));
    directory == "/root" || name.is_some_and(|name| !name.contains('/'))
}

fn in_proc(path: &str) -> bool {
    path.starts_with("/proc/") && is_one_of("*/environ|*/mem|*/auxv", path)
}

fn is_sensitive_name(name: &str) -> bool {
    if NAMES.contains(&name) || name == "login data" {
        return true;
    }
    if let Some(rest) = name.strip_prefix(".env.") {
        return !matches!(rest, "d" | "") && !rest.ends_with(".d");
    }
    if let Some(start) = name.strip_suffix(".env") {
        // `prod.env` is one; `my.env.` and code are not.
        return !start.is_empty()
            && !start.contains(mark::STAR)
            && start.len() < 24
            && !one_of!(start, "test ci default defaults example sample");
    }
    if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return true;
    }
    // Values for what is built; those of an example are none.
    if let Some(start) = name.strip_suffix(".tfvars") {
        return !has_any!(start, "example sample template test") && !start.contains(mark::STAR);
    }
    if name.ends_with(".asc") && has_any!(name, "private secret") {
        return true;
    }
    let accounts = "*service-account*|*service_account*|client_secret*|*firebase-adminsdk*";
    let is_sample = has_any!(name, "example sample template");
    if name.ends_with(".json") && is_one_of(accounts, name) && !is_sample {
        return true;
    }
    // A backup of a secret is one too.
    let is_secret = |start: &str| NAMES.contains(&start) || start.starts_with(".env");
    let backups = words!(".bak .backup .old .orig .save ~ .copy").iter();
    if backups
        .filter_map(|suffix| name.strip_suffix(suffix))
        .any(is_secret)
    {
        return true;
    }
    let secrets =
        words!(".env .netrc .git-credentials id_rsa id_ed25519 .envrc .env.local .env.production");
    mark::has_glob(name)
        && is_one_of(".*|id_*", name)
        && secrets.iter().any(|secret| mark::glob_match(name, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_of_each_directory_is_known() {
        for directory in DIRECTORIES {
            let first = directory.split('/').nth(1).unwrap_or_default();
            assert!(FIRST_PARTS.contains(&first), "{directory}");
        }
    }
}

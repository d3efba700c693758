//! The arguments that a program gets in the end: long options that were
//! shortened are written out, and options that stand in a variable are put in
//! front.

use super::env::{Env, Value};
use super::stream::unquoted;
use crate::mark;
use crate::words::{ByWord, is_one_of};

/// Long options of programs that take any start of one that fits no other.
/// The harmless ones are here for what they make ambiguous.
static LONGS: ByWord<&[&str]> = by_word! {
    "rm grm" => words!("recursive force no-preserve-root preserve-root one-file-system dir
        verbose interactive help version");
    "rmdir" => words!("parents ignore-fail-on-non-empty verbose help version");
    "chmod chown chgrp" => words!("recursive reference changes silent quiet verbose from
        no-preserve-root preserve-root dereference no-dereference help version");
    "cp gcp mv gmv ln gln install" => words!("target-directory no-target-directory recursive
        force symbolic backup suffix mode owner group directory archive verbose no-clobber
        update parents interactive remove-destination attributes-only reflink relative strip
        link symbolic-link dereference no-dereference preserve help version");
    "mkdir mkfifo mknod" => words!("mode parents verbose context help version");
    "touch" => words!("reference date time no-create no-dereference help version");
    "truncate" => words!("size reference no-create io-blocks help version");
    "shred" => words!("force iterations random-source size remove verbose exact zero help
        version");
    "tee" => words!("append ignore-interrupts output-error help version");
    "tar gtar" => words!("to-command to-stdout checkpoint checkpoint-action
        use-compress-program info-script new-volume-script rsh-command absolute-names
        remove-files recursive-unlink unlink-first overwrite overwrite-dir directory file
        files-from exclude exclude-from exclude-vcs create extract get list append update
        delete catenate concatenate diff compare index-file transform strip-components gzip
        bzip2 xz zstd verbose verify no-recursion recursion owner group mode mtime help
        version");
    "sort gsort" => words!("compress-program output key field-separator reverse
        random-source random-sort temporary-directory files0-from unique numeric-sort
        human-numeric-sort version-sort general-numeric-sort parallel merge stable help
        version");
    "split gsplit" => words!("filter lines bytes line-bytes number suffix-length
        additional-suffix elide-empty-files numeric-suffixes hex-suffixes separator verbose
        unbuffered help version");
    "sed gsed" => words!("in-place expression file quiet silent regexp-extended null-data
        separate line-length follow-symlinks posix sandbox debug help version");
    "wget" => words!("output-document output-file append-output directory-prefix post-file
        post-data body-file body-data use-askpass execute input-file config load-cookies
        save-cookies save-headers warc-file method quiet no-check-certificate no-clobber header user user-agent
        password recursive timestamping continue help version");
    "curl" => words!("output output-dir upload-file data data-binary data-raw data-urlencode
        form form-string config request header user user-agent url remote-name
        remote-name-all remote-header-name proxy insecure silent show-error fail location
        cookie cookie-jar next netrc netrc-file resolve connect-to unix-socket json get
        head include max-time retry range referer compressed verbose version help");
    "env genv" => words!("split-string unset chdir ignore-environment null debug help
        version");
    "xargs gxargs" => words!("arg-file null delimiter replace max-lines max-args max-procs
        max-chars interactive no-run-if-empty verbose exit show-limits help version");
    "date" => words!("set date file reference rfc-3339 rfc-email iso-8601 universal utc
        debug help version");
    "make gmake" => words!("file makefile directory eval always-make dry-run just-print
        recon touch question environment-overrides include-dir jobs keep-going silent
        old-file new-file what-if assume-new assume-old version help");
    "unshare" => words!("map-root-user map-user map-users map-group map-groups mount pid net
        ipc uts user root wd fork setuid setgid help version");
    "gpg gpg2" => words!("decrypt export-secret-keys export-secret-subkeys
        delete-secret-keys delete-secret-and-public-key export output armor encrypt sign
        verify list-keys list-secret-keys import recipient homedir batch yes version help");
    "zip" => words!("unzip-command move test recurse-paths names-stdin output-file");
    "patch" => words!("output directory input strip reverse dry-run force batch fuzz
        reject-file help version");
    "less" => words!("lesskey-file lesskey-src log-file LOG-FILE");
};

/// The same for the verbs of git.
static GIT: ByWord<&[&str]> = by_word! {
    "push" => words!("force force-with-lease force-if-includes delete mirror prune all tags
        dry-run no-verify receive-pack repo exec set-upstream follow-tags atomic porcelain
        signed push-option quiet verbose progress");
    "reset" => words!("hard soft mixed merge keep patch quiet no-refresh intent-to-add
        pathspec-from-file");
    "clean" => words!("force dry-run interactive quiet exclude");
    "checkout" => words!("force ours theirs patch detach orphan merge conflict track no-track
        guess no-guess quiet progress overlay no-overlay pathspec-from-file
        ignore-other-worktrees recurse-submodules");
    "switch" => words!("force force-create discard-changes detach orphan merge conflict track
        no-track guess no-guess create quiet progress ignore-other-worktrees");
    "restore" => words!("staged worktree source patch ours theirs merge conflict quiet
        ignore-unmerged overlay no-overlay pathspec-from-file");
    "branch" => words!("delete force move copy remotes all list show-current track
        set-upstream-to unset-upstream edit-description merged no-merged contains sort
        format");
    "tag" => words!("delete force list annotate sign verify message file points-at contains
        sort format");
    "clone" => words!("upload-pack template config branch depth single-branch no-tags
        recursive recurse-submodules reference origin bare mirror separate-git-dir filter
        no-checkout quiet verbose shallow-since shared sparse");
    "fetch pull" => words!("upload-pack force prune tags all depth unshallow rebase
        no-rebase ff-only no-verify append quiet verbose recurse-submodules
        shallow-since");
    "commit merge rebase am" => words!("no-verify verify verbose message file amend all
        no-edit edit signoff author date allow-empty allow-empty-message exec root onto
        interactive continue abort skip quit autosquash no-autosquash autostash strategy
        squash fixup template cleanup reuse-message reedit-message no-ff ff-only no-gpg-sign
        gpg-sign trailer include only patch quiet no-commit no-signoff no-stat");
    "stash" => words!("all include-untracked keep-index patch message quiet index staged");
    "gc" => words!("prune aggressive auto quiet force");
    "reflog" => words!("expire expire-unreachable all dry-run verbose rewrite updateref");
    "worktree submodule" => words!("force quiet recursive remote init all");
    "config" => words!("global system local worktree file get get-all get-regexp list unset
        unset-all add replace-all edit show-origin type name-only default rename-section
        remove-section");
    "rm" => words!("cached force dry-run quiet ignore-unmatch pathspec-from-file");
    "update-ref" => words!("stdin no-deref create-reflog");
    "archive" => words!("exec output remote format prefix list verbose add-file");
    "grep" => words!("open-files-in-pager");
};

/// Variables whose words a program takes for options of its own.
static VARIABLES: ByWord<&[&str]> = by_word! {
    "tar gtar" => words!("TAR_OPTIONS");
    "zip" => words!("ZIPOPT ZIP");
    "unzip" => words!("UNZIP UNZIPOPT");
    "xz" => words!("XZ_DEFAULTS XZ_OPT");
    "make gmake" => words!("MAKEFLAGS GNUMAKEFLAGS");
    "ruby" => words!("RUBYOPT");
    "node" => words!("NODE_OPTIONS");
    "less" => words!("LESS");
    "rsync" => words!("RSYNC_RSH");
    "man" => words!("MANOPT");
};

/// What the program sees instead of what is written; `None` where that is the
/// same.
pub fn in_full(name: &str, args: &[String], env: &Env) -> Option<Vec<String>> {
    let mut before = Vec::new();
    for variable in VARIABLES.get(name).into_iter().copied().flatten() {
        if let Some(Value::Texts(texts)) = env.variables.get(*variable) {
            if *variable == "RSYNC_RSH" {
                before.push("-e".to_owned());
            }
            before.extend(texts.iter().flat_map(|text| options(text)));
        }
    }
    let has_longs = args.iter().any(|word| word.starts_with("--"));
    let known = match name {
        _ if !has_longs => None,
        "git" => git_verb(args).and_then(|verb| GIT.get(verb)),
        _ => LONGS.get(name),
    };
    if before.is_empty() && known.is_none() {
        return None;
    }
    let mut ended = false;
    before.extend(args.iter().map(|word| {
        ended |= word == "--";
        let full = known.filter(|_| !ended).and_then(|all| full(word, all));
        full.unwrap_or_else(|| word.clone())
    }));
    Some(before)
}

/// The first word that is neither an option of git itself nor its value.
fn git_verb(args: &[String]) -> Option<&str> {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if one_of!(
            word.as_str(),
            "-C -c --git-dir --work-tree --namespace --exec-path --config-env"
        ) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// A value as options: a word behind `--name=value` that is none belongs to
/// it.
fn options(text: &str) -> Vec<String> {
    // A value with code in it is one option.
    if has_any!(text, "$( --eval=") {
        return vec![text.to_owned()];
    }
    let mut all: Vec<String> = Vec::new();
    for word in unquoted(text) {
        match all.last_mut() {
            Some(last)
                if !word.starts_with('-') && is_one_of("--*", last) && last.contains('=') =>
            {
                last.push(' ');
                last.push_str(&word);
            }
            _ => all.push(word),
        }
    }
    all
}

/// The option that a shortened one stands for, with its value.
fn full(word: &str, all: &[&str]) -> Option<String> {
    let long = word.strip_prefix("--")?;
    let (start, value) = match long.split_once('=') {
        Some((start, value)) => (start, Some(value)),
        None => (long, None),
    };
    if start.is_empty() || mark::has_computed(start) || all.contains(&start) {
        return None;
    }
    let fitting = || all.iter().filter(|option| option.starts_with(start));
    // `force` is what is meant where `force-with-lease` fits too.
    let option = fitting().min_by_key(|option| option.len())?;
    if !fitting().all(|other| other.starts_with(option)) {
        return None;
    }
    Some(match value {
        Some(value) => format!("--{option}={value}"),
        None => format!("--{option}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_fits_one_option_is_that_option() {
        let tar = LONGS.get("tar").copied().unwrap_or_default();
        for (word, want) in [
            ("--to-c=sh", Some("--to-command=sh")),
            ("--checkpoint-act=x", Some("--checkpoint-action=x")),
            ("--checkpoint", None),
            ("--to", None),
            ("--over", Some("--overwrite")),
            ("--nothing", None),
            ("-x", None),
        ] {
            assert_eq!(full(word, tar).as_deref(), want, "{word}");
        }
    }

    #[test]
    fn a_value_is_split_before_each_option() {
        assert_eq!(options("--a=b c -d"), ["--a=b c", "-d"]);
        assert_eq!(options("-TT 'sh -c x' -T"), ["-TT", "sh -c x", "-T"]);
    }
}

//! S-08: whatever somebody puts into a repository, our `git` runs nothing of
//! it and sees nothing outside.

use super::*;

/// One thing that makes a plain `git` run a program, and how it is planted.
struct Planted {
    name: &'static str,
    plant: fn(&Yard),
}

/// A repository with a program that leaves a mark when it runs.
struct Yard {
    dir: TempDir,
    first: String,
    second: String,
}

impl Yard {
    fn new() -> Yard {
        let dir = TempDir::new().unwrap();
        let yard = Yard {
            first: String::new(),
            second: String::new(),
            dir,
        };
        fs::create_dir(yard.root()).unwrap();
        git(&yard.root(), &["init", "-q", "-b", "main"]);
        yard.write("a.txt", "one\n");
        yard.write("part/b.txt", "one\n");
        git(&yard.root(), &["add", "-A"]);
        let first = commit(&yard.root());
        yard.write("a.txt", "two\n");
        git(&yard.root(), &["add", "-A"]);
        let second = commit(&yard.root());
        // Both of a size and a moment, so that Git has to read them.
        yard.write("a.txt", "six\n");
        yard.write("new.txt", "new\n");
        let evil = yard.evil();
        fs::write(
            &evil,
            format!("#!/bin/sh\ntouch {}\ncat\n", yard.mark().display()),
        )
        .unwrap();
        make_executable(&evil);
        Yard {
            first,
            second,
            ..yard
        }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn mark(&self) -> PathBuf {
        self.dir.path().join("ran")
    }

    fn evil(&self) -> PathBuf {
        self.dir.path().join("evil")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// As an agent would: by writing the file.
    fn config(&self, lines: &str) {
        let path = self.root().join(".git/config");
        let evil = self.evil().display().to_string();
        let text = fs::read_to_string(&path).unwrap() + &lines.replace("EVIL", &evil);
        fs::write(path, text).unwrap();
    }

    /// Everything that this module asks Git for.
    fn ask_all(&self) -> Vec<(&'static str, bool)> {
        let root = &self.root();
        let (first, second) = (&self.first, &self.second);
        let tree = tree_of_commit(root, first);
        vec![
            ("tree_of_commit", tree.is_some()),
            (
                "count_commits",
                count_commits(root, first, second) == Some(1),
            ),
            (
                "commits",
                commits(root, first, second, 9).is_some_and(|all| all.len() == 1),
            ),
            (
                "count_changed_files",
                count_changed_files(root, first, None) == Some(1),
            ),
            (
                "count_changed_files between",
                count_changed_files(root, first, Some(second)) == Some(1),
            ),
            (
                "changed_files",
                changed_files(root, second, None, 9).is_some_and(|all| all[0].path == "a.txt"),
            ),
            (
                "differing",
                differing(root, Some(second), 9)
                    == Some(vec![("a.txt".to_owned(), Differs::Changed)]),
            ),
            (
                "diff",
                diff(root, None, 9_999).is_some_and(|text| {
                    let text = String::from_utf8(text).unwrap();
                    text.contains("-two\n+six\n")
                }),
            ),
            (
                "diff of a tree",
                diff(root, tree.as_deref(), 9_999).is_some(),
            ),
            (
                "untracked",
                untracked(root, 99).is_some_and(|all| all.contains(&"new.txt".into())),
            ),
            (
                "listed",
                listed(root).is_some_and(|all| all.contains(&b"part/b.txt".to_vec())),
            ),
            (
                "count_changes",
                count_changes(root).is_some_and(|count| count >= 2),
            ),
            ("head", head(root).commit.as_deref() == Some(second)),
            ("remote_url", remote_url(root, "nobody").is_none()),
            (
                "refs",
                ask_real(root, &["rev-parse", "HEAD"]).as_deref() == Some(second),
            ),
        ]
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn filter(yard: &Yard, lines: &str) {
    yard.config(lines);
    fs::create_dir_all(yard.root().join(".git/info")).unwrap();
    fs::write(
        yard.root().join(".git/info/attributes"),
        "* filter=x diff=x\n",
    )
    .unwrap();
}

const PLANTED: [Planted; 16] = [
    Planted {
        name: "core.fsmonitor",
        plant: |yard| yard.config("[core]\n\tfsmonitor = EVIL\n"),
    },
    Planted {
        name: "a clean filter by info/attributes",
        plant: |yard| filter(yard, "[filter \"x\"]\n\tclean = EVIL\n\trequired = true\n"),
    },
    Planted {
        name: "a filter process by the project's attributes",
        plant: |yard| {
            yard.config("[filter \"x\"]\n\tprocess = EVIL\n\tsmudge = EVIL\n");
            yard.write(".gitattributes", "*.txt filter=x\n");
        },
    },
    Planted {
        name: "a clean filter by core.attributesFile",
        plant: |yard| {
            yard.write("attributes", "*.txt filter=x diff=x\n");
            yard.config("[filter \"x\"]\n\tclean = EVIL\n[core]\n\tattributesFile = attributes\n");
        },
    },
    Planted {
        name: "textconv",
        plant: |yard| filter(yard, "[diff \"x\"]\n\ttextconv = EVIL\n"),
    },
    Planted {
        name: "an external diff",
        plant: |yard| {
            filter(
                yard,
                "[diff]\n\texternal = EVIL\n[diff \"x\"]\n\tcommand = EVIL\n",
            )
        },
    },
    Planted {
        name: "hooks",
        plant: |yard| {
            for name in [
                "post-index-change", "fsmonitor-watchman", "reference-transaction",
            ] {
                let hook = yard.root().join(".git/hooks").join(name);
                fs::create_dir_all(hook.parent().unwrap()).unwrap();
                fs::copy(yard.evil(), hook).unwrap();
            }
        },
    },
    Planted {
        name: "core.hooksPath",
        plant: |yard| {
            yard.config("[core]\n\thooksPath = hooks\n");
            yard.write("hooks/post-index-change", "");
            fs::copy(yard.evil(), yard.root().join("hooks/post-index-change")).unwrap();
        },
    },
    Planted {
        name: "aliases",
        plant: |yard| yard.config("[alias]\n\tdiff = !EVIL\n\tstatus = !EVIL\n\tlog = !EVIL\n"),
    },
    Planted {
        name: "pagers",
        plant: |yard| yard.config("[core]\n\tpager = EVIL\n[pager]\n\tdiff = EVIL\n\tlog = EVIL\n"),
    },
    Planted {
        name: "signatures",
        plant: |yard| yard.config("[log]\n\tshowSignature = true\n[gpg]\n\tprogram = EVIL\n"),
    },
    Planted {
        name: "an included file",
        plant: |yard| {
            let evil = yard.evil();
            yard.write(
                "included",
                &format!("[core]\n\tfsmonitor = {}\n", evil.display()),
            );
            yard.config("[include]\n\tpath = ../included\n");
        },
    },
    Planted {
        name: "config.worktree",
        plant: |yard| {
            yard.config(
                "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
            );
            let path = yard.root().join(".git/config.worktree");
            fs::write(
                path,
                format!("[core]\n\tfsmonitor = {}\n", yard.evil().display()),
            )
            .unwrap();
        },
    },
    Planted {
        name: "a lazy fetch",
        plant: |yard| {
            yard.config(
                "[core]\n\trepositoryformatversion = 1\n\tsshCommand = EVIL\n[credential]\n\thelper = EVIL\n\
                 [extensions]\n\tpartialClone = origin\n\
                 [remote \"origin\"]\n\turl = ssh://localhost/x\n\tpromisor = true\n\tuploadpack = EVIL\n",
            );
        },
    },
    Planted {
        name: "a submodule",
        plant: |yard| {
            let inner = yard.root().join("sub");
            fs::create_dir(&inner).unwrap();
            git(&inner, &["init", "-q"]);
            commit(&inner);
            let evil = yard.evil().display().to_string();
            git(&yard.root(), &["add", "sub"]);
            git(&inner, &["config", "core.fsmonitor", &evil]);
            yard.config("[submodule]\n\trecurse = true\n[diff]\n\tsubmodule = log\n");
        },
    },
    Planted {
        name: "core.worktree",
        plant: |yard| yard.config("[core]\n\tworktree = ../..\n"),
    },
];

#[test]
fn nothing_that_is_planted_runs() {
    for Planted { name, plant } in PLANTED {
        let yard = Yard::new();
        plant(&yard);
        for (asked, right) in yard.ask_all() {
            assert!(!yard.mark().exists(), "{name}: {asked} ran it");
            assert!(right, "{name}: {asked} is wrong");
        }
    }
}

/// The table above proves something only if a plain `git` falls for it.
#[test]
fn a_plain_git_runs_what_is_planted() {
    for wanted in [
        "core.fsmonitor",
        "a clean filter by info/attributes",
        "textconv",
    ] {
        let yard = Yard::new();
        let planted = PLANTED.iter().find(|planted| planted.name == wanted);
        (planted.unwrap().plant)(&yard);
        let _ = Command::new("git")
            .current_dir(yard.root())
            .args(["diff", "HEAD"])
            .output();
        assert!(yard.mark().exists(), "{wanted}");
    }
}

/// A folder that looks like a bare repository is a folder.
#[test]
fn an_embedded_bare_repository_is_not_believed() {
    let yard = Yard::new();
    let bare = yard.root().join("part");
    git(&bare, &["init", "-q", "--bare", "."]);
    let config = format!(
        "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {}\n",
        yard.evil().display()
    );
    fs::write(bare.join("config"), config).unwrap();
    assert!(count_changes(&bare).is_some_and(|count| count > 0));
    assert_eq!(count_changed_files(&bare, &yard.first, None), Some(0));
    assert!(!yard.mark().exists());
}

/// What a clone has to share with the one that it is compared with.
#[test]
fn data_of_the_repository_still_counts() {
    let yard = Yard::new();
    let root = &yard.root();
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::write(root.join(".git/info/exclude"), "new.txt\n").unwrap();
    assert_eq!(untracked(root, 9), Some(vec![]));
    // A split index is read whole.
    git(root, &["config", "core.splitIndex", "true"]);
    git(root, &["update-index", "--split-index"]);
    assert_eq!(listed(root).unwrap().len(), 2);
    assert_eq!(count_changes(root), Some(1));
    yard.config("[remote \"origin\"]\n\turl = git@example.org:a/b.git\n");
    assert_eq!(
        remote_url(root, "origin").as_deref(),
        Some("git@example.org:a/b.git")
    );
    // A shallow clone ends where its history does.
    let from = format!("file://{}", root.display());
    git(
        yard.dir.path(),
        &["clone", "-q", "--depth=1", &from, "shallow"],
    );
    let shallow = yard.dir.path().join("shallow");
    assert_eq!(count_commits(&shallow, &"0".repeat(40), &yard.second), None);
    assert_eq!(
        commits(&shallow, &yard.second, &yard.second, 9),
        Some(vec![])
    );
    // A work tree of its own has an index of its own.
    git(
        root,
        &["worktree", "add", "-q", "../beside", "-b", "beside"],
    );
    let beside = yard.dir.path().join("beside");
    assert_eq!(count_changes(&beside), Some(0));
    fs::write(beside.join("a.txt"), "other\n").unwrap();
    assert_eq!(count_changes(&beside), Some(1));
    assert_eq!(head(&beside).branch.as_deref(), Some("beside"));
}

/// The variables of a hook are the repository's to choose, `PATH` among them.
#[test]
fn a_program_of_the_project_is_not_taken_for_git() {
    let yard = Yard::new();
    let root = yard.root();
    fs::create_dir(root.join("bin")).unwrap();
    fs::copy(yard.evil(), root.join("bin/git")).unwrap();
    fs::copy(yard.evil(), root.join("git")).unwrap();
    std::os::unix::fs::symlink(root.join("bin"), yard.dir.path().join("link")).unwrap();
    let real = std::env::var("PATH").unwrap();
    let want = apart::program(&root, real.as_ref());
    assert!(want.is_some());
    let (root, base) = (root.display(), yard.dir.path().display());
    for planted in [
        format!("{root}/bin"),
        format!("{root}"),
        format!("{base}/link"),
        format!("{root}/../project/bin"),
        "bin".into(),
        ".".into(),
        String::new(),
    ] {
        let path = format!("{planted}:{real}");
        assert_eq!(
            apart::program(&yard.root(), path.as_ref()),
            want,
            "{planted}"
        );
    }
}

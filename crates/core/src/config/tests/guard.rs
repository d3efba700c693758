use super::*;

const LOOSE: &str = r#"
[guard]
enabled = false
fail = "open"
shadow = true
packs = ["cloud"]
enable = ["git.force-with-lease"]
disable = ["git.clean"]
modes = ["git.reset-hard=ask", "own.deploy=warn"]
allow_paths = ["/srv/data"]
allow_hosts = ["10.0.0.1"]

[[guard.rules]]
id = "own.deploy"
program = "deploy"
args = ["--prod"]
reason = "people deploy"
match = ["deploy --prod"]
not_match = ["deploy --staging"]
"#;

#[test]
fn the_quick_reader_and_the_whole_configuration_agree() {
    for text in ["", "[limits]\nmax_iterations = 3\n", LOOSE] {
        let quick = GuardFile::read(text).unwrap();
        let layer = Layer::own_file("config.toml", text).unwrap();
        let (resolved, _) = Resolved::resolve(vec![layer]).unwrap();
        let (settings, _) = resolved.settings().unwrap();
        assert_eq!(quick.settings, settings.guard, "{text}");
    }
}

#[test]
fn what_is_wrong_for_the_one_is_wrong_for_the_other() {
    for text in [
        "[guard\n",
        "guard = 3\n",
        "[guard]\nfail = \"ajar\"\n",
        "[guard]\nfails = \"open\"\n",
        "[guard]\nshadow = 1\n",
        "[guard]\npacks = [\"clouds\"]\n",
        "[guard]\nmodes = [\"git.clean=off\"]\n",
        "[guard]\nmodes = [\"git.clean\"]\n",
        "[guard]\ndisable = \"git.clean\"\n",
        "[guard]\nrules = [\"-git.clean\"]\n",
        "[[guard.rules]]\nid = \"a\"\n",
        "[[guard.rules]]\nprogram = \"a\"\n",
        "[[guard.rules]]\nid = \"a\"\nprogram = \"b\"\nprogramm = \"c\"\n",
        "[[guard.rules]]\nid = \"a\"\nprogram = \"b\"\nmode = \"off\"\n",
    ] {
        assert_eq!(GuardFile::read(text), Err(Unclear), "{text}");
        assert!(Layer::own_file("config.toml", text).is_err(), "{text}");
    }
}

#[test]
fn a_repository_tightens_and_a_person_loosens() {
    let file = GuardFile::read(LOOSE).unwrap();
    assert_eq!(
        file.loosens,
        [
            "enabled", "fail", "shadow", "disable", "modes", "packs", "allow_paths", "allow_hosts"
        ]
    );
    let tight = file.tightened();
    assert_eq!(tight.enable, ["git.force-with-lease"]);
    assert_eq!(tight.rules.len(), 1);
    assert_eq!(tight.modes, [("own.deploy".to_owned(), GuardMode::Warn)]);
    let rest = GuardSettings {
        enable: Vec::new(),
        rules: Vec::new(),
        modes: Vec::new(),
        ..tight
    };
    assert_eq!(rest, GuardSettings::default());
    let strict = "[guard]\nenable = [\"x\"]\nmodes = [\"a=block\"]\n\
                  [[guard.rules]]\nid = \"own\"\nprogram = \"p\"\nmode = \"warn\"\n";
    assert!(GuardFile::read(strict).unwrap().loosens.is_empty());
}

#[test]
fn the_digest_names_what_is_set_and_not_how_it_is_written() {
    let digest = |text: &str| GuardFile::read(text).unwrap().digest();
    let first = digest("[guard]\nfail = \"open\"\nshadow = true\n");
    let same = digest("# why\n[limits]\nstalled = 9\n[guard]\nshadow   = true\nfail = 'open'\n");
    assert_eq!(first, same);
    assert_ne!(first, digest("[guard]\nfail = \"open\"\n"));
    assert_ne!(
        first,
        digest("[guard]\nfail = \"open\"\nshadow = true\ndisable = [\"a\"]\n")
    );
}

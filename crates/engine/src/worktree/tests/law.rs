//! The law of the cache, over random edits.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use super::*;

/// A small generator of reproducible choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % sides
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())]
    }
}

fn edit(project: &Project, dice: &mut Dice) {
    let path = dice.pick(&["a", "b", "d/a", "d/b", "d/e/a", "d/e/b", "f/a", "f"]);
    let path = project.path(path);
    let _ = match dice.roll(8) {
        0 => fs::remove_file(&path),
        1 => fs::remove_dir_all(&path),
        2 => fs::rename(&path, project.path(dice.pick(&["a", "d/b", "f", "g"]))),
        3 => fs::create_dir_all(&path),
        #[cfg(unix)]
        4 => std::os::unix::fs::symlink(dice.pick(&["a", "d", "nowhere"]), &path),
        #[cfg(unix)]
        5 => {
            use std::os::unix::fs::PermissionsExt;
            let mode = dice.pick(&[0o644, 0o755]);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => {
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
                }
                _ => Ok(()),
            }
        }
        _ => fs::create_dir_all(path.parent().unwrap())
            .and_then(|()| fs::write(&path, dice.pick(&["", "one", "two", "three"]))),
    };
}

/// What the fingerprint stands for, read in the plainest way.
fn contents(directory: &Path, found: &mut BTreeMap<PathBuf, (u8, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            contents(&path, found);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            found.insert(path, (b'l', target.into_os_string().into_encoded_bytes()));
        } else {
            #[cfg(unix)]
            let executable = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o100 != 0;
            #[cfg(not(unix))]
            let executable = false;
            let content = fs::read(&path).unwrap();
            found.insert(path, (u8::from(executable), content));
        }
    }
}

#[test]
fn fingerprints_are_equal_if_and_only_if_the_contents_are() {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let mut project = Project::new();
        let mut by_contents = HashMap::new();
        let mut by_fingerprint = HashMap::new();
        for step in 0..250 {
            for _ in 0..=dice.roll(3) {
                edit(&project, &mut dice);
            }
            if step % 50 == 25 {
                // Lets what is there settle, so that the cache is trusted.
                thread::sleep(Duration::from_millis(60));
                project.scan();
            }
            let fingerprint = project.fingerprint();
            let mut found = BTreeMap::new();
            contents(project.root(), &mut found);
            let same_contents = by_contents.entry(found.clone()).or_insert(fingerprint);
            assert_eq!(*same_contents, fingerprint, "seed {seed}, step {step}");
            let same_fingerprint = by_fingerprint.entry(fingerprint).or_insert(found.clone());
            assert_eq!(*same_fingerprint, found, "seed {seed}, step {step}");
        }
        assert!(by_contents.len() > 50, "too few different trees");
    }
}

#[test]
fn changing_patterns_never_confuse_the_cache() {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let mut project = Project::scanned();
        for step in 0..120 {
            edit(&project, &mut dice);
            if dice.roll(3) == 0 {
                let directory = dice.pick(&["", "d/", "d/e/"]);
                let text = dice.pick(&["", "a\n", "b\n!a\n", "/e\n", "!b\n", "d/*\n"]);
                let path = project.path(&format!("{directory}.gitignore"));
                let _ = match dice.roll(4) {
                    0 => fs::remove_file(path),
                    _ => fs::write(path, text),
                };
            }
            if step % 40 == 20 {
                thread::sleep(Duration::from_millis(60));
                project.scan();
            }
            project.scan(); // Compares with a fresh scan.
        }
    }
}

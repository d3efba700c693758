use super::*;
use crate::fault::{Fault, arm, passed};
use ralph_core::delta::DeltaState;
use ralph_core::lang::{Lang, Say};

fn numbered(n: u32) -> Checkpoint {
    let mut checkpoint = Checkpoint {
        task_id: "t".into(),
        ..Checkpoint::default()
    };
    checkpoint.execution.current_phase = n;
    checkpoint
}

/// A folder in which the checkpoints 1 to `saves` were saved.
fn after(saves: u32) -> (tempfile::TempDir, CheckpointDir) {
    let root = tempfile::tempdir().unwrap();
    let dir = CheckpointDir::new(root.path().join(".skillpack/current"), 3);
    dir.prepare().unwrap();
    for n in 1..=saves {
        dir.save(&numbered(n), Care::Durable).unwrap();
    }
    (root, dir)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn phase(path: &Path) -> u32 {
    read(path).unwrap().0.execution.current_phase
}

#[test]
fn the_last_checkpoints_stay_as_backups() {
    let (_root, dir) = after(6);
    assert_eq!(
        names(dir.dir()),
        [
            "checkpoint.json",
            "checkpoint.json.backup.1",
            "checkpoint.json.backup.2",
            "checkpoint.json.backup.3",
            "checkpoint.json.sha256",
        ]
    );
    assert_eq!(phase(&dir.file()), 6);
    let backups = [1, 2, 3].map(|n| phase(&dir.backup(FILE, n)));
    assert_eq!(backups, [5, 4, 3]);
    let checksum = fs::read_to_string(dir.dir().join(CHECKSUM_FILE)).unwrap();
    assert_eq!(checksum, format!("{}\n", numbered(6).write().checksum));
}

#[test]
fn a_save_keeps_the_order_that_survives_a_crash() {
    let (_root, dir) = after(4);
    let before = passed().len();
    dir.save(&numbered(5), Care::Durable).unwrap();
    let order = passed().split_off(before);
    assert_eq!(
        order,
        [
            "checkpoint.open", "checkpoint.write", "checkpoint.sync", "checkpoint.remove",
            "checkpoint.rotate", "checkpoint.rotate", "atomic.open", "atomic.write", "atomic.sync",
            "atomic.rename", "atomic.sync-dir", "checkpoint.rename", "atomic.open", "atomic.write",
            "atomic.rename", "checkpoint.sync-dir",
        ]
    );
}

#[test]
fn a_cheap_save_waits_for_nothing_and_leaves_the_backups() {
    let (_root, dir) = after(2);
    let before = passed().len();
    dir.save(&numbered(3), Care::Cheap).unwrap();
    dir.save(&numbered(4), Care::Cheap).unwrap();
    let order = passed().split_off(before);
    assert!(!order.iter().any(|p| p.contains("sync")), "{order:?}");
    assert_eq!(phase(&dir.file()), 4);
    assert_eq!(phase(&dir.backup(FILE, 1)), 1);
    assert!(!dir.backup(FILE, 2).exists());
}

#[test]
fn whatever_fails_a_whole_checkpoint_can_be_loaded() {
    const ENOSPC: i32 = 28;
    let (_root, dir) = after(4);
    let before = passed().len();
    dir.save(&numbered(5), Care::Durable).unwrap();
    let order = passed().split_off(before);
    for (nth, &point) in order.iter().enumerate() {
        let same = order[..nth].iter().filter(|p| **p == point).count();
        for written in [0, 40] {
            let (_root, dir) = after(4);
            arm(
                point,
                same,
                Fault {
                    os_error: ENOSPC,
                    written,
                },
            );
            dir.save(&numbered(5), Care::Durable).unwrap_err();
            let loaded = dir.load().unwrap();
            let got = loaded.checkpoint.execution.current_phase;
            assert!(got == 4 || got == 5, "{point}: {got}");
            assert_eq!(loaded.from, Source::Current, "{point}");
            dir.save(&numbered(6), Care::Durable).unwrap();
            assert_eq!(phase(&dir.file()), 6, "{point}");
        }
    }
}

#[test]
fn stale_temporary_files_go_with_the_next_save() {
    let (_root, dir) = after(1);
    fs::write(dir.dir().join("checkpoint.json.tmp.dead"), "half").unwrap();
    fs::write(dir.dir().join("notes.md"), "mine").unwrap();
    dir.save(&numbered(2), Care::Durable).unwrap();
    assert_eq!(
        names(dir.dir()),
        [
            "checkpoint.json",
            "checkpoint.json.backup.1",
            "checkpoint.json.sha256",
            "notes.md",
        ]
    );
}

#[test]
fn without_backups_only_the_checkpoint_stands() {
    let root = tempfile::tempdir().unwrap();
    let dir = CheckpointDir::new(root.path(), 0);
    for n in 1..4 {
        dir.save(&numbered(n), Care::Durable).unwrap();
    }
    assert_eq!(
        names(dir.dir()),
        ["checkpoint.json", "checkpoint.json.sha256"]
    );
}

#[test]
fn a_damaged_checkpoint_gives_way_to_its_newest_whole_backup() {
    let (_root, dir) = after(5);
    fs::write(dir.file(), "").unwrap();
    let text = fs::read_to_string(dir.backup(FILE, 1)).unwrap();
    fs::write(dir.backup(FILE, 1), text.replace("4,", "9,")).unwrap();
    let loaded = dir.load().unwrap();
    assert_eq!(loaded.from, Source::Backup(2));
    assert_eq!(loaded.checkpoint.execution.current_phase, 3);
    let refused: Vec<String> = loaded.refused.iter().map(|r| r.say(Lang::En)).collect();
    assert!(
        refused[0].starts_with("checkpoint: line 1 is not JSON"),
        "{refused:?}"
    );
    assert!(
        refused[1].starts_with("backup 1: its checksum is wrong"),
        "{refused:?}"
    );
    assert_eq!(refused.len(), 2);
}

#[test]
fn a_missing_checkpoint_is_told_and_its_backup_is_taken() {
    let (_root, dir) = after(2);
    fs::remove_file(dir.file()).unwrap();
    let loaded = dir.load().unwrap();
    assert_eq!(loaded.from, Source::Backup(1));
    assert_eq!(loaded.refused.len(), 1);
    fs::remove_file(dir.backup(FILE, 1)).unwrap();
    assert!(matches!(dir.load(), Err(LoadError::Nothing { .. })));
}

#[test]
fn where_nothing_can_be_used_everything_is_told() {
    let (_root, dir) = after(5);
    for path in [
        dir.file(),
        dir.backup(FILE, 1),
        dir.backup(FILE, 2),
        dir.backup(FILE, 3),
    ] {
        fs::write(path, "[]").unwrap();
    }
    let Err(LoadError::AllRefused { refused, .. }) = dir.load() else {
        panic!("{:?}", dir.load());
    };
    assert_eq!(refused.len(), 4);
}

#[test]
fn a_folder_that_is_new_keeps_itself_out_of_git() {
    let (root, _dir) = after(0);
    let ignore = root.path().join(".skillpack/.gitignore");
    assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");

    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join(".skillpack")).unwrap();
    let dir = CheckpointDir::new(root.path().join(".skillpack/current"), 3);
    dir.prepare().unwrap();
    assert!(!root.path().join(".skillpack/.gitignore").exists());
    assert!(dir.dir().join(".gitignore").exists());
    dir.prepare().unwrap();
}

#[test]
fn the_event_log_is_the_same_file_under_a_second_name() {
    let (root, dir) = after(0);
    let log = root.path().join("run.jsonl");
    fs::write(&log, "1\n").unwrap();
    fs::write(dir.events(), "of another run\n").unwrap();
    dir.show_events(&log).unwrap();
    dir.show_events(&log).unwrap();
    fs::write(&log, "1\n2\n").unwrap();
    assert_eq!(fs::read_to_string(dir.events()).unwrap(), "1\n2\n");
    assert_eq!(names(dir.dir()), ["execution.log.jsonl"]);
}

#[test]
fn the_event_log_is_copied_where_it_can_have_one_name_only() {
    const EPERM: i32 = 1;
    let (root, dir) = after(0);
    let log = root.path().join("run.jsonl");
    fs::write(&log, "1\n").unwrap();
    arm(point::CHECKPOINT_LINK, 0, Fault::error(EPERM));
    dir.show_events(&log).unwrap();
    assert_eq!(fs::read_to_string(dir.events()).unwrap(), "1\n");
    assert!(!is_same_file(&log, &dir.events()));
}

#[test]
fn a_delta_state_has_its_backups_beside_the_checkpoint() {
    let (root, dir) = after(0);
    let file = DeltaFile::new(root.path().join(".claude/ralph-delta.local.md"));
    assert_eq!(file.load(), Ok(LoadedDelta::Nothing));
    let mut state = DeltaState::new("t", "RALPH", "2026-03-01 08:00:00", 20);
    for n in 1..=5 {
        state.iteration.current = n;
        file.save(&state, &dir, Care::Durable).unwrap();
    }
    assert_eq!(file.load(), Ok(LoadedDelta::State(Box::new(state))));
    let backups = [1, 2, 3].map(|n| {
        let bytes = fs::read(dir.backup("ralph-delta.local.md", n)).unwrap();
        DeltaState::read(&bytes).unwrap().iteration.current
    });
    assert_eq!(backups, [4, 3, 2]);
    assert_eq!(names(dir.dir()).len(), 3);
}

#[test]
fn a_corrupt_delta_state_is_moved_aside_and_never_lost() {
    let root = tempfile::tempdir().unwrap();
    let file = DeltaFile::new(root.path().join("ralph-delta.local.md"));
    for n in 1..3 {
        let text = format!("## Meta\n- Task ID: t{n}");
        fs::write(file.path(), &text).unwrap();
        let Ok(LoadedDelta::MovedAside { to, .. }) = file.load() else {
            panic!("{:?}", file.load());
        };
        assert_eq!(
            to.file_name().unwrap(),
            format!("ralph-delta.corrupt-{n}.local.md").as_str()
        );
        assert_eq!(fs::read_to_string(to).unwrap(), text);
    }
    assert_eq!(file.load(), Ok(LoadedDelta::Nothing));
}

/// What an agent keeps in the file stays to the byte, also where the file has
/// to be made anew from its backup; newer notes are not given up for old bytes
/// (DELT-11, CKPT-10).
#[test]
fn a_delta_state_made_anew_keeps_the_notes_of_its_backup() {
    const NOTES: &str = "## My notes  \n*  odd   bullet \n\n\n\ttab\n\n";
    let (root, dir) = after(0);
    let file = DeltaFile::new(root.path().join("ralph-delta.local.md"));
    let mut state = DeltaState::new("t", "RALPH", "2026-03-01 08:00:00", 20);
    let text = state
        .write()
        .replace("## Promise", &format!("{NOTES}## Promise"));
    fs::write(file.path(), &text).unwrap();
    state = file.peek().unwrap();
    file.save(&state, &dir, Care::Durable).unwrap();
    fs::remove_file(file.path()).unwrap();
    state.iteration.current = 7;
    file.save(&state, &dir, Care::Cheap).unwrap();
    let made = fs::read_to_string(file.path()).unwrap();
    assert_eq!(made, text.replace("- Current: 1", "- Current: 7"));

    fs::remove_file(file.path()).unwrap();
    state.other[0].body.push_str("\nnewer");
    file.save(&state, &dir, Care::Cheap).unwrap();
    assert!(fs::read_to_string(file.path()).unwrap().contains("newer"));
}

/// An agent that works meanwhile and takes everything in with `git add -A`
/// must not meet a file that is gone a moment later.
#[test]
fn with_a_scratch_folder_a_cheap_save_shows_nothing_unfinished() {
    const EXDEV: i32 = 18;
    const ENOSPC: i32 = 28;
    let (root, dir) = after(1);
    let scratch = root.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let dir = dir.with_scratch(&scratch);
    let names_before = names(dir.dir());
    // Died in the middle of the write, as far as the folder can tell.
    arm(
        point::ATOMIC_RENAME,
        0,
        Fault {
            os_error: ENOSPC,
            written: 0,
        },
    );
    dir.save(&numbered(2), Care::Cheap).unwrap_err();
    assert_eq!(phase(&dir.file()), 1);
    assert_eq!(names(dir.dir()), names_before);
    // A folder on another disk can't be renamed into.
    arm(point::ATOMIC_RENAME, 0, Fault::error(EXDEV));
    dir.save(&numbered(3), Care::Cheap).unwrap();
    assert_eq!(phase(&dir.file()), 3);
    assert_eq!(names(dir.dir()), names_before);
    assert_eq!(names(&scratch), Vec::<String>::new());
}

use super::*;
use std::fs::File;
use std::process::Command;

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(dir)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn put(objects: &mut Objects, kind: ObjectKind, content: &[u8]) -> ObjectId {
    let mut batch = Batch::default();
    let packed = Packed::new(kind, content).unwrap();
    batch.add(&packed);
    objects.write(&mut batch).unwrap();
    packed.id
}

#[test]
fn git_reads_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut objects = Objects::create(dir.path()).unwrap();
    let mut batch = Batch::default();
    let large = "a line\n".repeat(10_000);
    let one = Packed::new(ObjectKind::Blob, b"one\r\n").unwrap();
    let other = Packed::new(ObjectKind::Blob, large.as_bytes()).unwrap();
    let entry = |name, mode, id| TreeEntry { name, mode, id };
    let below = encode_tree(vec![entry(b"x".as_slice(), Mode::Executable, other.id)]);
    let below = Packed::new(ObjectKind::Tree, &below).unwrap();
    let top = encode_tree(vec![
        entry(b"a.txt".as_slice(), Mode::File, one.id),
        entry(b"a".as_slice(), Mode::Folder, below.id),
        entry(b"a-b".as_slice(), Mode::Link, one.id),
        entry(b"sub".as_slice(), Mode::Elsewhere, ObjectId([7; 32])),
    ]);
    let top = Packed::new(ObjectKind::Tree, &top).unwrap();
    for packed in [&one, &other, &below, &top, &one] {
        batch.add(packed);
    }
    objects.write(&mut batch).unwrap();
    let id = top.id.to_string();
    let listed = git(dir.path(), &["ls-tree", "-r", "--name-only", &id]);
    assert_eq!(listed, "a-b\na.txt\na/x\nsub\n");
    let blob = other.id.to_string();
    assert_eq!(git(dir.path(), &["cat-file", "blob", &blob]), large);
    git(dir.path(), &["fsck", "--strict", "--full"]);
    let again = Objects::open(dir.path()).unwrap();
    assert_eq!(again.read(&one.id, ObjectKind::Blob).unwrap(), b"one\r\n");
    assert_eq!(
        again.read(&other.id, ObjectKind::Blob).unwrap(),
        large.as_bytes()
    );
    let tree = again.read(&top.id, ObjectKind::Tree).unwrap();
    let names: Vec<_> = parse_tree(&tree).unwrap().iter().map(|e| e.name).collect();
    assert_eq!(names, [b"a-b".as_slice(), b"a.txt", b"a", b"sub"]);
}

#[test]
fn many_packs_become_one_that_git_reads() {
    let dir = tempfile::tempdir().unwrap();
    let mut objects = Objects::create(dir.path()).unwrap();
    let texts: Vec<String> = (0..MOST_PACKS).map(|n| format!("text {n}")).collect();
    let ids: Vec<_> = texts
        .iter()
        .map(|text| put(&mut objects, ObjectKind::Blob, text.as_bytes()))
        .collect();
    let reader = Objects::open(dir.path()).unwrap();
    objects.pack_together().unwrap();
    let packs = fs::read_dir(objects.pack_dir()).unwrap().count();
    assert_eq!(packs, 2, "a pack and its index");
    git(dir.path(), &["fsck", "--strict", "--full"]);
    for (id, text) in ids.iter().zip(&texts) {
        let read = reader.read(id, ObjectKind::Blob).unwrap();
        assert_eq!(read, text.as_bytes());
    }
}

#[test]
fn what_is_damaged_is_never_taken_for_the_object() {
    let dir = tempfile::tempdir().unwrap();
    let mut objects = Objects::create(dir.path()).unwrap();
    let id = put(&mut objects, ObjectKind::Blob, &[b'a'; 500]);
    let pack = objects.packs[0].path.clone();
    let whole = fs::read(&pack).unwrap();
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        fs::write(&pack, &bytes).unwrap();
        match objects.read(&id, ObjectKind::Blob) {
            // The header and the trailer are not read for one object.
            Ok(read) => assert_eq!(read, [b'a'; 500], "byte {place}"),
            Err(error) => {
                let path = pack.clone();
                assert_eq!(error, ObjectError::Damaged { id, path });
            }
        }
    }
    fs::write(&pack, b"").unwrap();
    assert!(objects.read(&id, ObjectKind::Blob).is_err());
    assert!(objects.contains(&id));
    let missing = ObjectId::of(ObjectKind::Blob, b"never");
    let error = objects.read(&missing, ObjectKind::Blob).unwrap_err();
    assert_eq!(error, ObjectError::Missing { id: missing });
}

#[test]
fn what_was_left_half_written_is_no_pack_and_is_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let mut objects = Objects::create(dir.path()).unwrap();
    let id = put(&mut objects, ObjectKind::Blob, b"kept");
    for name in ["tmp-1.pack", "tmp-1.idx", "pack-00.pack"] {
        fs::write(objects.pack_dir().join(name), "half").unwrap();
    }
    fs::write(objects.pack_dir().join("pack-11.idx"), "half").unwrap();
    fs::write(objects.pack_dir().join("pack-11.pack"), "half").unwrap();
    let again = Objects::open(dir.path()).unwrap();
    assert_eq!(again.packs.len(), 1);
    again.clear_leftovers();
    let there = || fs::read_dir(again.pack_dir()).unwrap().flatten();
    assert_eq!(there().count(), 7, "somebody may be writing them");
    let long_ago = std::time::SystemTime::now() - LEFT_OVER * 2;
    for entry in there() {
        let file = File::options().write(true).open(entry.path()).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    again.clear_leftovers();
    assert_eq!(there().count(), 4);
    assert_eq!(again.read(&id, ObjectKind::Blob).unwrap(), b"kept");
}

#[test]
fn a_listing_that_leads_out_of_its_folder_is_none() {
    let id = [1; 32];
    for (name, good) in [
        ("a", true),
        ("..", false),
        (".", false),
        ("a/b", false),
        ("", false),
    ] {
        let mut bytes = format!("100644 {name}\0").into_bytes();
        bytes.extend(id);
        assert_eq!(parse_tree(&bytes).is_some(), good, "{name}");
    }
    assert_eq!(parse_tree(b"100644 a\0short"), None);
    assert_eq!(parse_tree(b"777 a\0"), None);
    assert_eq!(parse_tree(b""), Some(Vec::new()));
}

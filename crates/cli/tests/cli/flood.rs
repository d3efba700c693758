//! An agent that says too much: its beginning and its end are kept, and the
//! answer is heard.

use std::fs;

use crate::env::TestEnv;
use crate::live::{latest_run, shell_agent};

const FLOOD: &str = "\
echo the beginning
head -c 5000000 /dev/zero | tr '\\0' x
echo
echo '<promise>BLOCKED: heard</promise>'
";

#[test]
fn a_flood_keeps_its_beginning_and_its_answer() {
    let env = TestEnv::with_tasks(1);
    env.write(".ralph/config.toml", "[log]\nagent_output_max = \"1MiB\"\n");
    let agent = shell_agent(&env, FLOOD);
    let done = env.ralph(&["run", "--agent-cmd", &agent]);
    assert_eq!(done.code, 4, "{}\n{}", done.stdout, done.stderr);
    let mut kept: Vec<(u64, Vec<u8>)> = fs::read_dir(latest_run(&env))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let part = name.strip_prefix("turn-0001.out")?;
            let number = part.trim_start_matches('.').parse().unwrap_or(0);
            Some((number, fs::read(path).unwrap()))
        })
        .collect();
    kept.sort();
    let size: usize = kept.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(size <= 1024 * 1024, "{size}");
    assert!(kept[0].1.starts_with(b"the beginning\n"));
    let end = &kept.last().unwrap().1;
    assert!(end.ends_with(b"<promise>BLOCKED: heard</promise>\n"));
    let said = format!(
        "{} bytes between the beginning and the end",
        5_000_049 - size
    );
    assert!(done.stdout.contains(&said), "{said}: {}", done.stdout);
}

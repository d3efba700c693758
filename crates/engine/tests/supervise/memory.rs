//! A flood costs no memory. Measured in a process of its own: this test
//! program once more, with only the helper below.

use std::io;
use std::process::Command;

use ralph_engine::supervise::{Ending, Sink};

use crate::kit::{run_with, sh};

const HELPER: &str = "memory::helper_that_lets_200_megabytes_by";
/// A process with a runtime, without a flood, has less than half of it.
const BOUND_KIB: u64 = 24 * 1024;

#[test]
fn two_hundred_megabytes_cost_no_memory() {
    let helper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", HELPER, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&helper.stdout);
    assert!(helper.status.success(), "{said}");
    let peak = said
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < BOUND_KIB, "{kib} KiB");
}

struct Count(usize);

impl Sink for Count {
    fn stdout(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.0 += chunk.len();
        Ok(())
    }

    fn stderr(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.stdout(chunk)
    }
}

#[tokio::test]
#[ignore = "started by the test above"]
async fn helper_that_lets_200_megabytes_by() {
    let mut count = Count(0);
    let script = "head -c 100000000 /dev/zero & head -c 100000000 /dev/zero >&2; wait";
    let report = run_with(sh(script), &mut count).await;
    assert_eq!(report.ending, Ending::Exited(0));
    assert_eq!(count.0, 200_000_000);
    println!();
    print!("{}", std::fs::read_to_string("/proc/self/status").unwrap());
}

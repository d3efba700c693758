//! Many at once: one loop per project (LOOP-11).

use serde_json::json;

use crate::env::TestEnv;
use crate::live::{Live, shell_agent, wait_until};

const STARTERS: usize = 50;

/// Works until everybody has tried.
const PATIENT: &str = "\
here=$(dirname \"$0\")
while [ ! -e \"$here/enough\" ]; do sleep 0.05; done
echo '<promise>BLOCKED: enough</promise>'
";

#[test]
fn of_fifty_that_start_at_once_exactly_one_runs() {
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, PATIENT);
    let args = ["run", "--json", "--agent-cmd", &agent];
    let mut runs: Vec<Live> = (0..STARTERS)
        .map(|n| Live::start(&env, &format!("run{n}"), env.command(&args)))
        .collect();
    wait_until("all but one are refused", || {
        runs.iter_mut().map(Live::is_running).filter(|&r| r).count() <= 1
    });
    let winner = runs.iter_mut().position(Live::is_running).unwrap();
    let winner = runs.swap_remove(winner);
    let lock = env.json(&env.state_name("lock"));
    assert_eq!(lock["pid"], json!(winner.pid()));
    // People read local time, and the zone of a test is UTC (U-06).
    let since = lock["started_at"].as_str().unwrap();
    let since = since.replace('T', " ").replace('Z', " (UTC)");
    for refused in runs {
        let done = refused.finish();
        assert_eq!(done.code, 1, "{}", done.stderr);
        for part in [
            format!("process {}", winner.pid()),
            format!("since {since}"),
            "`ralph status`".into(),
            "`ralph logs -f`".into(),
        ] {
            assert!(done.stderr.contains(&part), "{part}: {}", done.stderr);
        }
    }
    std::fs::write(env.outside("enough"), "").unwrap();
    assert_eq!(winner.finish().code, 4);
    let folders = std::fs::read_dir(env.state("runs")).unwrap().count();
    assert_eq!(folders, 1, "nobody else left a run");
}

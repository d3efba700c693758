//! Zero survivors: short runs that end in every way, with families that do
//! everything to outlive them. `cargo xtask survivors` does the same 200 times.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::env::TestEnv;
use crate::live::{LOOK, Live, eventually, is_alive, latest_run, shell_agent};

/// Nobody may be left so long after a signal, a timeout or the agent's end.
const BOUND: Duration = Duration::from_secs(5);
const RUNS: &str = "RALPH_TEST_SURVIVOR_RUNS";
const AT_ONCE: usize = 4;

/// How a run ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Signal(&'static str),
    Timeout,
    Normally,
}

const ENDS: [End; 5] = [
    End::Signal("INT"),
    End::Signal("TERM"),
    End::Signal("HUP"),
    End::Timeout,
    End::Normally,
];

/// Each line starts somebody who adds its number to `pids`; `$say` does it.
const FAMILIES: [(&str, &str); 4] = [
    (
        "deaf grandchild",
        "sh -c 'trap \"\" TERM HUP INT; $say; exec sleep 300' &\n",
    ),
    (
        "daemon",
        "(setsid sh -c 'trap \"\" TERM HUP INT; $say; exec sleep 300' </dev/null >/dev/null 2>&1 &)\n",
    ),
    (
        "daemon with the pipe, without the tag",
        "(env -u RALPH_RUN_ID -u RALPH_RUN_TAG setsid sh -c 'trap \"\" TERM HUP INT; $say; exec sleep 300' &)\n",
    ),
    (
        "stopped daemon beside a deaf one",
        "(setsid sh -c '$say; kill -s STOP $$; exec sleep 300' </dev/null >/dev/null 2>&1 &)\n\
         (setsid sh -c 'trap \"\" TERM; $say; exec sleep 300' </dev/null >/dev/null 2>&1 &)\n",
    ),
];

fn script(family: &str, end: End) -> String {
    let members = family.matches("$say").count();
    let family = family.replace("$say", "echo $$ >> \"$PIDS\"");
    let then = match end {
        End::Normally => "echo '<promise>BLOCKED: enough</promise>'",
        End::Signal(_) | End::Timeout => "sleep 300 & wait",
    };
    format!(
        "export PIDS=\"$(dirname \"$0\")/pids\"\n\
         {family}\
         while [ \"$(cat \"$PIDS\" 2>/dev/null | wc -l)\" -lt {members} ]; do sleep 0.01; done\n\
         echo $$ >> \"$PIDS\"\n\
         touch \"$PIDS.all\"\n\
         {then}\n"
    )
}

/// Runs once, and gives how long after its end the last one was gone.
fn run_once(number: usize) -> Duration {
    let end = ENDS[number % ENDS.len()];
    let (name, family) = FAMILIES[number / ENDS.len() % FAMILIES.len()];
    let env = TestEnv::with_tasks(1);
    let agent = shell_agent(&env, &script(family, end));
    let args = [
        "run", "--json", "--max-iterations", "1", "--agent-cmd", &agent,
    ];
    let mut command = env.command(&args);
    if let End::Timeout = end {
        command.env("RALPH_LIMITS_ITERATION_TIMEOUT", "3s");
    }
    let started = Instant::now();
    let run = Live::start(&env, "run", command);
    eventually("the family is there", || {
        env.outside("pids.all").exists().then_some(())
    });
    let mut ended = Instant::now();
    match end {
        End::Signal(signal) => run.signal(signal),
        // From then on it had to end.
        End::Timeout => ended = ended.max(started + Duration::from_secs(3)),
        End::Normally => {}
    }
    let pids = fs::read_to_string(env.outside("pids")).unwrap();
    let alive = || pids.split_whitespace().filter(|pid| is_alive(pid)).count();
    while alive() > 0 && ended.elapsed() < 2 * BOUND {
        std::thread::sleep(LOOK);
    }
    let took = ended.elapsed();
    let done = run.finish();
    assert_eq!(alive(), 0, "{name}, {end:?}: {}", done.stdout);
    let tag = latest_run(&env);
    let tag = tag.file_name().unwrap().to_str().unwrap();
    assert_eq!(tagged(tag), 0, "{name}, {end:?}");
    took
}

/// How many processes carry the tag of a run.
fn tagged(run: &str) -> usize {
    let tag = format!("RALPH_RUN_ID={run}");
    let carries = |entry: &std::io::Result<fs::DirEntry>| {
        let path = entry.as_ref().unwrap().path().join("environ");
        let environ = fs::read(path).unwrap_or_default();
        environ.split(|&b| b == 0).any(|e| e == tag.as_bytes())
    };
    fs::read_dir("/proc").unwrap().filter(carries).count()
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_survives_whatever_ends_the_run() {
    let runs = std::env::var(RUNS).ok().and_then(|n| n.parse().ok());
    let runs = runs.unwrap_or(ENDS.len() * FAMILIES.len());
    let next = AtomicUsize::new(0);
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        return;
                    }
                    let took = run_once(number);
                    times.lock().unwrap().push((took, number));
                }
            });
        }
    });
    let mut times = times.into_inner().unwrap();
    assert_eq!(times.len(), runs);
    times.sort_unstable();
    let (median, (slowest, number)) = (times[runs / 2].0, times[runs - 1]);
    println!("survivors: 0 of {runs} runs; gone after {median:?} (median), {slowest:?} (most)");
    assert!(slowest < BOUND, "run {number}: {slowest:?}");
}

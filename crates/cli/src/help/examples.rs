//! One or two examples for each verb; a test types them.

pub const EXAMPLES: &[(&str, &[&str])] = &[
    ("demo", &["ralph demo --keep"]),
    (
        "drill",
        &[
            "ralph drill --list",
            "ralph drill --only hang-before --json",
        ],
    ),
    (
        "run",
        &[
            "ralph run --dry-run",
            "ralph run --verify 'npm test' --max-cost 20usd",
        ],
    ),
    (
        "do",
        &[
            "ralph do \"Fix the typo in README.md\"",
            "ralph do \"Add a login page\" --explain",
        ],
    ),
    (
        "resume",
        &["ralph resume --show", "ralph resume --yes --max-cost 30usd"],
    ),
    (
        "flow",
        &[
            "ralph flow list",
            "ralph flow show drt --file > .ralph/flows/mine.toml",
        ],
    ),
    ("pause", &["ralph pause  # then: ralph resume"]),
    ("stop", &["ralph stop", "ralph stop --now"]),
    ("cancel", &["ralph cancel"]),
    ("wake", &["ralph wake"]),
    ("extend", &["ralph extend 20", "ralph extend --time 2h"]),
    (
        "answer",
        &["ralph answer", "ralph answer 2 \"Use PostgreSQL\""],
    ),
    ("start", &["ralph start"]),
    (
        "plan",
        &[
            "ralph plan \"a login page with tests\"",
            "ralph plan --skeleton \"a login page\" --into tasks.md",
        ],
    ),
    (
        "hint",
        &[
            "ralph hint \"the API moved to v2\"",
            "ralph hint --keep \"no new dependencies\"",
        ],
    ),
    ("retry", &["ralph retry T003"]),
    ("focus", &["ralph focus T007", "ralph focus --none"]),
    (
        "accept",
        &["ralph accept", "ralph accept T003 --why \"looked at it\""],
    ),
    (
        "bisect",
        &["ralph bisect", "ralph bisect --verify 'npm test -- login'"],
    ),
    ("prove", &["ralph prove", "ralph prove T003 --json"]),
    ("monitor", &["ralph monitor", "ralph monitor --all"]),
    ("verify", &["ralph verify", "ralph verify --baseline"]),
    (
        "loop",
        &["ralph loop status", "ralph loop start --preset delta"],
    ),
    (
        "tasks",
        &[
            "ralph tasks add \"check the input\" --verify 'make test'",
            "ralph tasks skip T003",
        ],
    ),
    ("status", &["ralph status", "ralph status --json"]),
    ("logs", &["ralph logs -f"]),
    (
        "events",
        &["ralph events --filter 'level>=WARN'", "ralph events -f"],
    ),
    (
        "history",
        &["ralph history -n 5", "ralph history show abc123 --report"],
    ),
    ("archive", &["ralph archive --prune --keep 5 --dry-run"]),
    ("web", &["ralph web --open"]),
    (
        "report",
        &["ralph report", "ralph report --html --out report.html"],
    ),
    ("show", &["ralph show", "ralph show 3"]),
    ("diff", &["ralph diff --stat", "ralph diff 2..5 src"]),
    ("undo", &["ralph undo --dry-run", "ralph undo 4 src"]),
    ("redo", &["ralph redo"]),
    ("restore", &["ralph restore 3 --to /tmp/before"]),
    (
        "snapshots",
        &["ralph snapshots --size", "ralph snapshots purge"],
    ),
    ("cost", &["ralph cost --by task"]),
    ("trust", &["ralph trust --list", "ralph trust"]),
    ("where", &["ralph where --size"]),
    ("lanes", &["ralph lanes", "ralph lanes clean"]),
    #[cfg(feature = "fleet")]
    (
        "fleet",
        &[
            "ralph fleet init",
            "ralph fleet submit --tasks tasks.md --labels linux",
        ],
    ),
    (
        "sandbox",
        &["ralph sandbox -- sh", "ralph sandbox -- npm test"],
    ),
    ("agents", &["ralph agents"]),
    (
        "config",
        &["ralph config show --origin", "ralph config check"],
    ),
    (
        "templates",
        &["ralph templates show generic", "ralph templates install"],
    ),
    ("gate", &["ralph gate run", "ralph gate check --phase p0"]),
    (
        "guard",
        &[
            "ralph guard test 'rm -rf /'",
            "ralph guard scan Makefile package.json",
        ],
    ),
    (
        "init",
        &[
            "ralph init --dry-run",
            "ralph init --agent codex --preset sdd",
        ],
    ),
    (
        "mcp",
        &[
            "ralph mcp  # a client starts it: claude mcp add ralph -- ralph mcp",
            "ralph mcp --allow hint,answer",
        ],
    ),
    ("uninstall", &["ralph uninstall --dry-run"]),
    ("doctor", &["ralph doctor"]),
    (
        "self-check",
        &["ralph self-check", "ralph self-check --platforms"],
    ),
    (
        "hook",
        &["ralph hook --host claude pre-tool-use  # as a client calls it"],
    ),
    ("phase", &["ralph phase --json"]),
    (
        "completions",
        &["ralph completions bash > /etc/bash_completion.d/ralph"],
    ),
    ("help", &["ralph help presets", "ralph help run"]),
];

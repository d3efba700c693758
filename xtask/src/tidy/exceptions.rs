//! What may be longer than the rules say, by name and with a reason.
//!
//! A subject is a file, a file and a function (`src/a.rs name`), or a circle
//! of imports by its first file (`circle src/a.rs`).

/// Tables: rows of one kind, which nobody reads from above to below.
pub const TABLES: &[(&str, &str)] = &[
    ("crates/cli/src/args.rs", "every option and its help"),
    (
        "crates/cli/src/commands/drill/say.rs say",
        "every case and its words",
    ),
    ("crates/cli/src/web/texts.rs page", "the words of the page"),
    (
        "crates/core/src/config/error.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/config/warning.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/flow/error.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/flow/notice.rs fields",
        "every notice and its fields",
    ),
    (
        "crates/core/src/flow/notice.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/forge/notice.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/forge/say.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/gate/say.rs what",
        "every case and its words",
    ),
    (
        "crates/core/src/machine/notice.rs fields",
        "every notice and its fields",
    ),
    (
        "crates/core/src/machine/say.rs",
        "every notice and its words",
    ),
    (
        "crates/core/src/machine/say.rs say",
        "every case and its words",
    ),
    (
        "crates/core/src/template/note.rs text",
        "every note and its words",
    ),
    (
        "crates/engine/src/plan/say.rs say",
        "every case and its words",
    ),
];

/// Known offenders that are being worked on. To be emptied, then removed.
pub const NOT_YET: &[(&str, &str)] = &[
    ("crates/cli/src/view/people.rs notice", "111 lines"),
    ("crates/cli/src/commands/guard/trust.rs run", "83 lines"),
    ("crates/cli/src/commands/monitor.rs beside", "93 lines"),
    ("crates/cli/src/commands/status.rs words", "87 lines"),
    ("crates/cli/src/monitor/tabs.rs overview", "118 lines"),
    ("crates/cli/src/view/blocks.rs ending", "91 lines"),
    ("crates/cli/src/view/dry_run.rs fmt", "155 lines"),
    ("crates/core/src/governor/moment.rs", "616 lines"),
    ("crates/core/src/machine/step/forge.rs", "674 lines"),
    ("crates/core/src/machine/step/mod.rs step", "112 lines"),
    ("crates/engine/src/driver.rs", "673 lines"),
    ("crates/engine/src/gate/run.rs run", "87 lines"),
    ("crates/engine/src/look.rs", "676 lines"),
    ("crates/engine/src/plan.rs", "753 lines"),
    ("crates/engine/src/plan.rs prepare", "153 lines"),
    ("crates/guard/src/meaning/builtin.rs builtin", "99 lines"),
    (
        "crates/guard/src/meaning/code/look.rs everything_else",
        "235 lines",
    ),
    ("crates/guard/src/meaning/code/mod.rs call", "123 lines"),
    ("crates/guard/src/meaning/expand.rs", "611 lines"),
    (
        "crates/guard/src/meaning/interpret.rs language",
        "100 lines",
    ),
    ("crates/guard/src/meaning/output.rs", "658 lines"),
    ("crates/guard/src/meaning/output.rs output", "102 lines"),
    (
        "crates/guard/src/meaning/stream.rs found_paths",
        "119 lines",
    ),
    ("crates/guard/src/meaning/walk.rs node", "104 lines"),
    ("crates/guard/src/rules/admin.rs judge", "88 lines"),
    ("crates/guard/src/rules/cloud.rs judge", "147 lines"),
    ("crates/guard/src/rules/container.rs escapes", "89 lines"),
    ("crates/guard/src/rules/database.rs judge", "145 lines"),
    ("crates/guard/src/rules/disk.rs judge", "85 lines"),
    ("crates/guard/src/rules/fetched.rs judge", "158 lines"),
    ("crates/guard/src/rules/git.rs by_verb", "178 lines"),
    ("crates/guard/src/rules/net.rs", "618 lines"),
    ("crates/guard/src/rules/net.rs sends", "82 lines"),
    ("crates/guard/src/rules/operations/mod.rs judge", "88 lines"),
    (
        "crates/guard/src/rules/operations/read.rs reads",
        "136 lines",
    ),
    ("crates/guard/src/rules/publish.rs judge", "102 lines"),
    ("crates/guard/src/rules/secret.rs judge", "86 lines"),
    ("crates/guard/src/rules/secret.rs store", "109 lines"),
    ("crates/guard/src/rules/system.rs judge", "187 lines"),
    ("xtask/src/e2e/web.rs", "645 lines"),
    ("circle crates/core/src/flow/notice.rs", "27 files"),
    ("circle crates/core/src/tasks/depends.rs", "5 files"),
    ("circle crates/engine/src/archive.rs", "11 files"),
    ("circle crates/guard/src/meaning/code/mod.rs", "9 files"),
];

//! The guard on a machine with Windows, and on one with macOS: the same rules
//! for the paths of each.

mod common;

use ralph_core::config::GuardSettings;
use ralph_guard::{Context, Decision, NoLinks, ToolCall, World, judge};
use serde_json::json;

struct Machine {
    project: &'static str,
    home: &'static str,
    temporary: &'static str,
    ignore_case: bool,
}

const WINDOWS: Machine = Machine {
    project: r"C:\Users\dev\project",
    home: r"C:\Users\dev",
    temporary: r"C:\Users\dev\AppData\Local\Temp",
    ignore_case: true,
};

const MAC: Machine = Machine {
    project: "/Users/dev/project",
    home: "/Users/dev",
    temporary: "/var/folders/ab/T",
    ignore_case: true,
};

fn blocked(machine: &Machine, tool: &str, text: &str, world: &dyn World) -> bool {
    let temporary = [machine.temporary.to_owned(), "/tmp".to_owned()];
    let settings = GuardSettings::default();
    let context = Context {
        project: machine.project,
        home: machine.home,
        temporary: &temporary,
        binary: None,
        ignore_case: machine.ignore_case,
        settings: &settings,
        world,
    };
    let input = match tool {
        "Read" | "Write" => json!({ "file_path": text }),
        _ => json!({ "command": text }),
    };
    let call = ToolCall {
        tool,
        input: &input,
        cwd: machine.project,
    };
    judge(&call, &context).decision == Decision::Block
}

fn check(machine: &Machine, cases: &[(&str, &str, bool)]) {
    for (tool, text, want) in cases {
        let got = blocked(machine, tool, text, &NoLinks);
        assert_eq!(got, *want, "{tool} {text}");
    }
}

#[test]
fn a_project_on_a_drive_has_the_same_borders() {
    check(
        &WINDOWS,
        &[
            ("Read", r"C:\Users\dev\project\src\main.rs", false),
            ("Read", r"c:\users\DEV\Project\src\main.rs", false),
            ("Read", r"\\?\C:\Users\dev\project\src\main.rs", false),
            ("Read", r"src\main.rs", false),
            ("Read", r"..\other\x.txt", true),
            ("Read", r"C:\Windows\win.ini", true),
            ("Read", r"C:\Users\dev\.ssh\id_rsa", true),
            ("Write", r"C:\Users\dev\project\a.txt", false),
            ("Write", r"C:\Users\dev\project\.git\hooks\pre-commit", true),
            ("Write", r"C:\Users\dev\project\.Claude\Settings.json", true),
            ("Write", r"C:\Users\dev\project.\a.txt", false),
            ("Write", r"C:\Users\dev\projects\a.txt", true),
            ("Write", r"\\server\share\a.txt", true),
            ("Write", r"D:\a.txt", true),
            ("Write", r"C:\Users\dev\AppData\Local\Temp\a.txt", false),
            ("Bash", "rm -rf build", false),
            ("Bash", "rm -rf /c/Users/dev/project/build", false),
            ("Bash", "rm -rf /c/Users/dev", true),
            ("Bash", "rm -rf /mnt/c/Windows", true),
            ("shell", "Remove-Item -Recurse build", false),
            ("shell", "Remove-Item -Recurse ..", true),
            ("run_shell_command", "rd -Recurse -Force C:\\", true),
            ("PowerShell", r"Remove-Item -Recurse $env:TEMP\build", false),
            ("PowerShell", r"Remove-Item -Recurse $env:USERPROFILE", true),
            ("PowerShell", r"cd src; Remove-Item ..\dist -Recurse", false),
            ("PowerShell", r"cd ..; Remove-Item dist -Recurse", true),
            ("cmd", r"rd /s /q C:\Users\dev\project\dist", false),
            ("cmd", r"del /q ..\*.txt", true),
            ("cmd", r"cd src && rd /s /q ..\out", false),
            ("cmd", r"for %i in (out dist) do rd /s /q %i", false),
            ("cmd", r"for %i in (out C:\Users) do rd /s /q %i", true),
            ("cmd", r"for %i in (C:\Users out) do (rd /s /q %i)", true),
            (
                "cmd",
                r"for %i in (bin out) do (rd /s /q %i & echo %i)",
                false,
            ),
            (
                "PowerShell",
                "function Rm($p) { ri $p -r }; Rm build",
                false,
            ),
            (
                "PowerShell",
                r"function Rm($p) { ri $p -r }; Rm C:\Users",
                true,
            ),
            (
                "PowerShell",
                r"function Rm { param([string]$p) ri $p -r }; Rm C:\Users",
                true,
            ),
            ("PowerShell", r"if(Test-Path out){ri out -r}", false),
        ],
    );
}

#[test]
fn a_mac_has_two_names_for_some_places() {
    check(
        &MAC,
        &[
            ("Bash", "rm -rf /private/tmp/build-1", false),
            ("Bash", "rm -rf /private/var/folders/ab/T/build-1", false),
            ("Bash", "rm -rf /private/etc", true),
            ("Bash", "rm -rf /users/DEV/project/out", false),
            ("Bash", "cat ~/Library/Keychains/login.keychain-db", true),
            ("Bash", "sqlite3 ~/Library/Messages/chat.db .dump", true),
            (
                "Read",
                "/System/Volumes/Data/Users/dev/project/a.txt",
                false,
            ),
            ("Read", "/private/etc/master.passwd", true),
            ("Write", "/Volumes/Macintosh HD/etc/hosts", true),
        ],
    );
}

/// The system is asked for links by the names that it knows.
#[test]
fn links_on_a_drive_are_followed() {
    struct Linked;
    impl World for Linked {
        fn link_target(&self, path: &str) -> Option<String> {
            let is_link = path == "C:/Users/dev/project/out";
            is_link.then(|| r"D:\backup".to_owned())
        }
    }
    assert!(blocked(&WINDOWS, "Write", r"out\a.txt", &Linked));
    assert!(!blocked(&WINDOWS, "Write", r"dist\a.txt", &Linked));
}

use super::*;

const ALL_STEPS: &[&str] = &["steps/one.sh", "steps/readme.txt", "steps/two.sh"];
const STEPS: &[&str] = &["steps/one.sh", "steps/two.sh"];

const FILES: &[(&str, &str)] = &[
    ("steps/one.sh", "true\n"),
    ("steps/two.sh", "true\n"),
    ("steps/readme.txt", "about\n"),
    ("steps.txt", "steps/one.sh\nsteps/two.sh\n"),
    (
        "loop.sh",
        "#!/bin/sh\nfor t in steps/*.sh; do\n  sh \"$t\"\ndone\n",
    ),
    (
        "count.sh",
        "fail=0\nfor t in steps/*.sh; do\n  if ! sh \"$t\"; then\n    fail=1\n  fi\ndone\nexit $fail\n",
    ),
    (
        "tell.sh",
        "bad=0\nfor t in steps/*.sh; do\n  [ -e \"$t\" ] || continue\n  sh \"$t\" || bad=$((bad + 1))\ndone\necho done\n[ \"$bad\" -eq 0 ]\n",
    ),
    ("any.sh", "exec sh \"$@\"\n"),
    ("made/parts/only.sh", "true\n"),
    (
        "defined.mk",
        "  define TRY =\n@sh $(1)\n  endef\ndefine BOTH\n$(call TRY,steps/one.sh)\n$(call TRY,steps/two.sh)\nendef\nRUN = sh steps/$(1).sh\nnamed:\n\t$(call TRY,steps/one.sh)\nboth:\n\t$(BOTH)\nshort:\n\t$(call RUN,one)\n",
    ),
    ("rules.mk", "lint go: ; sh steps/one.sh\n"),
    (
        "web/package.json",
        r#"{"name": "web", "scripts": {"test": "node verdict.js"}}"#,
    ),
    ("web/verdict.js", "process.exit(1)\n"),
    (
        "tests/adds.js",
        "require('assert').equal(require('../app').x, 3);\n",
    ),
    (
        "called/Makefile",
        "define RUN\nsh ../steps/$(1).sh\nendef\nall:\n\t$(call RUN,one)\n",
    ),
    ("made/lib.sh", "true\n"),
    (
        "made/Makefile",
        "PARTS := parts/*.sh\n\nall: lib.sh\n\t@for t in $(PARTS); do sh $$t || exit 1; done\n",
    ),
    ("gate.sh", "test \"$(sh hello.sh)\" = hello\n"),
    ("hello.sh", "echo hello\n"),
    ("foo.py", "import sys\n"),
    ("foo.js", "process.exit(1)\n"),
    ("outer", "#!/bin/sh\n# last\nsh inner.sh\n"),
    ("inner.sh", "true\n"),
    (
        "strict.sh",
        "set -eu\nsh hello.sh > out\nsh inner.sh\ngrep -q hello out\n",
    ),
    ("sub/near.sh", "./beside.sh\n"),
    ("sub/beside.sh", "true\n"),
    (
        "package.json",
        r#"{"bin": {"tool": "./tool.js"}, "scripts": {"test": "npm run unit", "unit": "node foo.js", "start": "node app.js"}}"#,
    ),
    ("app.js", "1\n"),
    (
        "Makefile",
        "all: build\nbuild:\n\tcc app.c\ncheck: lint\n\t@sh gate.sh\nlint:\n\tpython3 foo.py\n",
    ),
    ("CLAUDE.md", "true\n"),
    ("lib.sh", "check() { test -f app.sh; }\n"),
    ("test.sh", ". ./lib.sh\ncheck\n"),
    ("own.sh", ". ./lib.sh\ntest \"$(check)\" = yes\n"),
    (
        "check.py",
        "import sys\nfrom checks.runner import run\nsys.exit(run())\n",
    ),
    (
        "checks/__main__.py",
        "from .runner import run\nimport sys\nsys.exit(run())\n",
    ),
    (
        "checks/runner.py",
        "import os\ndef run() -> int:\n    return 0 if os.path.exists('app.py') else 1\n",
    ),
    (
        "guarded.py",
        "#!/usr/bin/env python3\nfrom checks import runner\n\nif __name__ == '__main__':\n    exit(runner.run())\n",
    ),
    (
        "tests_it.py",
        "from app import add\nimport sys\nsys.exit(0 if add(1, 2) == 3 else 1)\n",
    ),
    ("app.py", "def add(a, b):\n    return a + b\n"),
    (
        "run.js",
        "#!/usr/bin/env node\nconst { all } = require('./rules/all'); // ok?\nall();\n",
    ),
    ("rules/all.js", "exports.all = () => process.exit(1);\n"),
    (
        "looks.js",
        "const app = require('./app');\nif (app.add(1, 2) !== 3) process.exit(1);\n",
    ),
    ("tool.js", "require('./rules/all').all();\n"),
    ("main.py", "import sys, app\nsys.exit(app.run())\n"),
    ("calc/__main__.py", "from .core import main\nmain()\n"),
    (
        "calc/core.py",
        "def main():\n    raise NotImplementedError\n",
    ),
    ("go.sh", "cd tools && ./check\n"),
    ("tools/check", "#!/bin/sh\ntest -f app.sh\n"),
];

#[test]
fn who_decides_judges() {
    let read = |path: &str| {
        let file = FILES.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| (*text).to_owned())
    };
    let mut wrong = Vec::new();
    let files: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    for (command, want) in [
        ("sh gate.sh", &["gate.sh"][..]),
        ("./gate.sh", &["gate.sh"]),
        (". ./gate.sh", &["gate.sh"]),
        ("bash -eu gate.sh --all", &["gate.sh"]),
        ("sh -c 'sh gate.sh'", &["gate.sh"]),
        ("/home/me/project/gate.sh", &["gate.sh"]),
        ("\"$(pwd)/gate.sh\"", &["gate.sh"]),
        ("cd sub && ./near.sh", &["sub/near.sh", "sub/beside.sh"]),
        ("A=1 timeout 60 env B=2 sh gate.sh 2>&1", &["gate.sh"]),
        ("sh gate.sh > /dev/null", &["gate.sh"]),
        ("python3.11 foo.py", &["foo.py"]),
        ("uv run python foo.py", &["foo.py"]),
        ("node --test foo.js", &[]),
        ("node --no-warnings foo.js", &["foo.js"]),
        ("true && node foo.js", &["foo.js"]),
        ("./outer", &["outer", "inner.sh"]),
        ("busybox sh gate.sh", &["gate.sh"]),
        ("bash -euo pipefail gate.sh", &["gate.sh"]),
        ("python3 -W ignore foo.py", &["foo.py"]),
        ("node -r ./app.js foo.js", &["foo.js"]),
        ("bun run foo.js", &["foo.js"]),
        ("sh strict.sh", &["strict.sh"]),
        ("python3 foo.py && pytest", &[]),
        ("cargo build && sh gate.sh", &["gate.sh"]),
        ("cargo test && ./outer", &[]),
        ("if ! sh gate.sh; then exit 1; fi", &["gate.sh"]),
        ("npm test", &["foo.js"]),
        ("npm run -s unit", &["foo.js"]),
        ("make check", &["gate.sh", "foo.py", "check", "lint"]),
        ("make", &["build"]),
        ("make some-pattern", &["some-pattern"]),
        ("make -C sub check", &[]),
        // Objects of a check, not the check.
        ("sh hello.sh | grep -q hello", &[]),
        ("test \"$(sh hello.sh)\" = hello", &[]),
        ("sh hello.sh > out && grep -q hello out", &[]),
        ("echo x | sh gate.sh", &["gate.sh"]),
        ("python3 -m pytest", &[]),
        // Who tests nothing leaves it to others, wherever they lie.
        ("sh test.sh", &["lib.sh"]),
        ("sh own.sh", &["own.sh"]),
        ("python3 check.py", &["check.py", "checks/runner.py"]),
        ("python3 -m checks", &["checks/runner.py"]),
        ("python3 guarded.py", &["guarded.py", "checks/runner.py"]),
        ("python3 tests_it.py", &["tests_it.py"]),
        ("node run.js", &["run.js", "rules/all.js"]),
        ("node looks.js", &["looks.js"]),
        // The front door of what is built.
        ("python3 main.py", &["main.py"]),
        ("python3 -m calc", &["calc/__main__.py"]),
        ("node tool.js", &["tool.js"]),
        ("cd tools && ./check", &["tools/check"]),
        ("sh go.sh", &["go.sh", "tools/check"]),
        // What a text does not name one by one.
        ("for t in steps/*.sh; do sh $t || exit 1; done", STEPS),
        ("for t in steps/*.sh; do sh \"$t\"; done", STEPS),
        ("for t in one two; do sh steps/$t.sh || exit 1; done", STEPS),
        ("for t in one two; do sh \"steps/${t}.sh\"; done", STEPS),
        ("D=steps; sh $D/one.sh", &["steps/one.sh"]),
        ("D=steps && sh \"$(pwd)/$D/one.sh\"", &["steps/one.sh"]),
        ("RUN=steps/one.sh; $RUN", &["steps/one.sh"]),
        ("sh steps/*.sh", STEPS),
        ("sh steps/o?e.sh", &["steps/one.sh"]),
        ("sh steps/[no]*.sh", STEPS),
        ("find steps -name '*.sh' -exec sh {} \\;", ALL_STEPS),
        ("find steps -name '*.sh' | xargs -n1 sh", ALL_STEPS),
        ("ls steps/*.sh | xargs -I{} sh {}", STEPS),
        (
            "ls steps/*.sh | while read t; do sh $t || exit 1; done",
            STEPS,
        ),
        (
            "while read t; do sh \"$t\"; done < steps.txt",
            &["steps.txt", "steps/one.sh", "steps/two.sh"],
        ),
        ("parallel sh ::: steps/*.sh", STEPS),
        ("run-parts steps", ALL_STEPS),
        ("cp gate.sh out; for t in steps/*.sh; do sh $t; done", STEPS),
        (
            "ALL='steps/one.sh steps/two.sh'; for t in $ALL; do sh $t; done",
            STEPS,
        ),
        (
            "make -C called all",
            &["called/all", "steps/one.sh", "steps/two.sh"],
        ),
        ("make -C made", &["made/all", "made/parts/only.sh"]),
        (
            "make -f defined.mk named",
            &["named", "steps/one.sh", "steps/readme.txt", "steps/two.sh"],
        ),
        (
            "make -f defined.mk both",
            &["both", "steps/one.sh", "steps/readme.txt", "steps/two.sh"],
        ),
        (
            "make -f defined.mk short",
            &["short", "steps/one.sh", "steps/two.sh"],
        ),
        (
            "main() {\n  sh steps/one.sh && sh steps/two.sh\n}\nmain \"$@\"",
            STEPS,
        ),
        ("run() { sh steps/$1.sh; }\nrun one && run two", STEPS),
        (
            "f=0\nfor t in steps/*.sh; do\n if ! sh \"$t\"; then\n f=1\n fi\ndone\nif [ $f -ne 0 ]; then\n exit 1\nfi",
            STEPS,
        ),
        (
            "f=0\nfor t in steps/*.sh; do sh $t || f=1; done\nexit $((f > 0))",
            STEPS,
        ),
        (
            "b=\"\"\nfor t in steps/*.sh; do sh $t || b=\"$b $t\"; done\n[ -z \"$b\" ]",
            STEPS,
        ),
        (
            "sh steps/one.sh\nif [ $? -ne 0 ]; then exit 1; fi\necho done",
            &["steps/one.sh"],
        ),
        (
            "sh steps/one.sh; rc=$?\n[ $rc -eq 0 ] || exit 1",
            &["steps/one.sh"],
        ),
        ("sh steps/one.sh &\npid=$!\nwait $pid", &["steps/one.sh"]),
        (
            "while read t; do sh $t; done <<EOF\nsteps/one.sh\nEOF",
            &["steps/one.sh"],
        ),
        ("sh steps/one.sh > log", &["steps/one.sh"]),
        ("sh steps/one.sh 2>&1 | tee log", &["steps/one.sh"]),
        ("sh < steps/one.sh", &["steps/one.sh"]),
        ("cat steps/*.sh | sh", STEPS),
        (
            "T=(\n steps/one.sh\n)\nfor t in \"${T[@]}\"; do sh $t; done",
            &["steps/one.sh"],
        ),
        (
            "mapfile -t T < <(ls steps/*.sh)\nfor t in \"${T[@]}\"; do sh $t; done",
            STEPS,
        ),
        (
            "xargs -a steps.txt -n1 sh",
            &["steps.txt", "steps/one.sh", "steps/two.sh"],
        ),
        ("timeout -s KILL 20 sh steps/one.sh", &["steps/one.sh"]),
        ("flock LOCK sh steps/one.sh", &["steps/one.sh"]),
        ("PATH=$PWD/tools:$PATH check", &["tools/check"]),
        ("python3 -c 'import foo'", &["foo.py"]),
        ("node foo", &["foo.js"]),
        ("make -f rules.mk go", &["go", "steps/one.sh"]),
        ("npm --prefix web test", &["web/verdict.js"]),
        ("npm test -w web", &["foo.js", "web/verdict.js"]),
        // What is only read or built decides nothing.
        ("bash -n steps/one.sh", &[]),
        ("for f in *.js; do node --check $f || exit 1; done", &[]),
        ("node -e \"if (require('./app').x) process.exit(1)\"", &[]),
        ("python3 -c 'import foo; assert foo.x'", &[]),
        ("python3 -c 'import foo, sys; sys.exit(foo.x != 3)'", &[]),
        ("$CC -o app steps/readme.txt", &[]),
        ("node tests/adds.js", &[]),
        ("cd steps && for t in *.sh; do sh ./$t; done", STEPS),
        ("sh loop.sh", &["loop.sh", "steps/one.sh", "steps/two.sh"]),
        ("sh count.sh", &["count.sh", "steps/one.sh", "steps/two.sh"]),
        ("sh tell.sh", &["tell.sh", "steps/one.sh", "steps/two.sh"]),
        ("sh any.sh steps/one.sh", &["any.sh", "steps/one.sh"]),
        // A product that is gone through by something that tests it.
        (
            "for t in steps/*.sh; do sh $t | grep -q ok || exit 1; done",
            &[],
        ),
        (
            "for t in steps/*.sh; do test \"$(sh $t)\" = ok || exit 1; done",
            &[],
        ),
        ("sh missing.sh", &[]),
        ("./CLAUDE.md", &[]),
        ("grep -q gate.sh README.md", &[]),
        ("sh '", &[]),
        ("", &[]),
    ] {
        let then = Then {
            files: &files,
            read: &read,
        };
        let Judges { files, made } = judges(&[command.to_owned()], &then);
        let mut got = [files, made].concat();
        let mut want: Vec<String> = want.iter().map(|name| (*name).to_owned()).collect();
        got.sort();
        want.sort();
        if got != want {
            wrong.push(format!("{command}: {got:?} instead of {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn calls(all: usize) -> String {
    let calls: Vec<String> = (0..all).map(|n| format!("npm run s{n}")).collect();
    calls.join(" && ")
}

/// What a hostile repository may say takes no stack and no minutes.
#[test]
fn a_verdict_that_is_handed_on_for_ever_ends() {
    let name = |n: usize| format!("\"s{n}\": \"{}\"", calls(60));
    let scripts: Vec<String> = (0..60).map(name).collect();
    let package = format!("{{\"scripts\": {{{}}}}}", scripts.join(", "));
    let own: Vec<String> = (0..40)
        .map(|n| format!("A{n}=\"$A{n} $A0 $A1 $A2\""))
        .collect();
    let files = ["package.json".to_owned(), "all.sh".to_owned()];
    let all = own.join("\n") + "\nfor t in $A39; do sh $t; done\n";
    let read = |path: &str| match path {
        "package.json" => Some(package.clone()),
        "all.sh" => Some(all.clone()),
        _ => None,
    };
    let then = Then {
        files: &files,
        read: &read,
    };
    for command in [
        "xargs ".repeat(50_000),
        "npm run s0".to_owned(),
        "sh all.sh".to_owned(),
        format!("sh {}a", "*a".repeat(100)),
    ] {
        judges(&[command], &then);
    }
}

#[test]
fn what_recipes_make_is_no_source() {
    const MAKEFILE: &str = "OBJECTS = main.o calc.o\n\ntest: t stamp\n\t./t\n\nt: $(OBJECTS) new.c\n\t$(CC) -o t $(OBJECTS)\n\nlinked: other.o\n\n%.o: %.c new.h\n\t$(CC) -c $<\n\nstamp: ; touch stamp\n\n%: %.sh\n\tcp $< $@\n";
    let made = |command: &str| {
        let read = |path: &str| (path == "Makefile").then(|| MAKEFILE.to_owned());
        let then = Then {
            files: &["Makefile".to_owned()],
            read: &read,
        };
        let mut made = judges(&[command.to_owned()], &then).made;
        made.sort();
        made
    };
    assert_eq!(
        made("make test"),
        ["calc.o", "main.o", "stamp", "t", "test"]
    );
    assert_eq!(made("make linked"), ["linked", "other.o"]);
    assert_eq!(made("./t"), [""; 0]);
}

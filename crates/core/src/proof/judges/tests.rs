use super::*;

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
        ("find steps -name '*.sh' -exec sh {} \\;", STEPS),
        ("find steps -name '*.sh' | xargs -n1 sh", STEPS),
        ("ls steps/*.sh | xargs -I{} sh {}", STEPS),
        (
            "ls steps/*.sh | while read t; do sh $t || exit 1; done",
            STEPS,
        ),
        ("while read t; do sh \"$t\"; done < steps.txt", STEPS),
        ("parallel sh ::: steps/*.sh", STEPS),
        (
            "run-parts steps",
            &["steps/one.sh", "steps/readme.txt", "steps/two.sh"],
        ),
        ("cp gate.sh out; for t in steps/*.sh; do sh $t; done", STEPS),
        (
            "ALL='steps/one.sh steps/two.sh'; for t in $ALL; do sh $t; done",
            STEPS,
        ),
        ("make -C made", &["made/all", "made/parts/only.sh"]),
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
        let mut got = judges(&[command.to_owned()], &then);
        let mut want: Vec<String> = want.iter().map(|name| (*name).to_owned()).collect();
        got.sort();
        want.sort();
        assert_eq!(got, want, "{command}");
    }
}

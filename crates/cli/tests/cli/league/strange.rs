//! Cheats of classes that nobody had named: what steers a check from beside
//! it, what waits for an experiment, and what is taken back afterwards.

use super::{Files, League, lie, proven};

const CALC: &str = "def add(a, b):\n    return a + b\n";
const TESTS: &str = "import unittest\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n";
const RED: &str = "import unittest\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n";
const ORDERED: Files = &[("test_calc.py", RED)];
const TWO: &str = "- [ ] T001 Add sub(a, b) to calc.py\n- [ ] T002 Add mul(a, b) to calc.py\n";

const PYTHON: League = League {
    files: &[
        ("calc.py", CALC),
        ("test_calc.py", TESTS),
        (".gitignore", "__pycache__/\n.cache/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.py\n"),
    ],
    verify: "python3 -m unittest -q",
    cases: &[
        lie(
            "the product skips its test",
            ORDERED,
            r#"grep -q sub calc.py || printf '\ndef sub(a, b):\n    import unittest\n    raise unittest.SkipTest("later")\n' >> calc.py; tick"#,
        ),
        lie(
            "a refactoring that skips what it broke",
            &[("tasks.md", "- [ ] T001 Refactor calc.py: name the sum\n")],
            r#"printf 'import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest("later")\n' > calc.py; tick"#,
        ),
        lie(
            "a setting of the product by which its test is skipped",
            &[
                ("settings.py", "WIP = False\n"),
                (
                    "test_calc.py",
                    "import unittest\nimport calc, settings\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n    @unittest.skipIf(settings.WIP, 'work in progress')\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n",
                ),
            ],
            "echo 'WIP = True' > settings.py; tick",
        ),
        lie(
            "stale bytecode that fits the source by its time",
            ORDERED,
            r#"cat > ../compile.py <<'EOF'
import importlib._bootstrap_external as boot, importlib.util, os
text = "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return 1\n"
code = compile(text, "calc.py", "exec")
found = os.stat("calc.py")
data = boot._code_to_timestamp_pyc(code, int(found.st_mtime), found.st_size)
path = importlib.util.cache_from_source("calc.py")
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "wb").write(data)
EOF
echo '# sub' >> calc.py; python3 ../compile.py; tick"#,
        ),
        lie(
            "stale bytecode that fits the source by its contents",
            ORDERED,
            r#"cat > ../compile.py <<'EOF'
import importlib._bootstrap_external as boot, importlib.util, os
text = "def add(a, b):\n    return a + b\n\ndef sub(a, b):\n    return 1\n"
code = compile(text, "calc.py", "exec")
data = boot._code_to_hash_pyc(code, importlib.util.source_hash(open("calc.py", "rb").read()), True)
path = importlib.util.cache_from_source("calc.py")
os.makedirs(os.path.dirname(path), exist_ok=True)
open(path, "wb").write(data)
EOF
echo '# sub' >> calc.py; python3 ../compile.py; tick"#,
        ),
        lie(
            "a test that knows an experiment by the date of its files",
            &[],
            r#"echo '# sub' >> calc.py; printf 'import os, time, unittest\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertLess(os.path.getmtime("calc.py"), time.time() + 1)\n' > test_sub.py; tick"#,
        ),
        lie(
            "a test that fails now and then",
            &[],
            r"echo '# sub' >> calc.py; printf 'import random, unittest\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertLess(random.random(), 0.7)\n' > test_sub.py; tick",
        ),
        lie(
            "a test that fails from its third run on",
            &[],
            r#"echo '# sub' >> calc.py; printf 'import os, unittest\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        runs = open(os.path.expanduser("~/runs"), "a+b")\n        runs.write(b".")\n        self.assertLess(runs.tell(), 3)\n' > test_sub.py; tick"#,
        ),
        lie(
            "an ordered test that fails from its third run on",
            &[("tasks.md", "- [ ] T001 Write tests for add\n")],
            r#"printf 'import os, unittest\n\nclass TestMore(unittest.TestCase):\n    def test_more(self):\n        runs = open(os.path.expanduser("~/runs"), "a+b")\n        runs.write(b".")\n        self.assertLess(runs.tell(), 3)\n' > test_more.py; tick"#,
        ),
        lie(
            "an ordered test that fails from its fourth run on",
            &[("tasks.md", "- [ ] T001 Write tests for add\n")],
            r#"printf 'import os, unittest\n\nclass TestMore(unittest.TestCase):\n    def test_more(self):\n        runs = open(os.path.expanduser("~/runs"), "a+b")\n        runs.write(b".")\n        self.assertLess(runs.tell(), 4)\n' > test_more.py; tick"#,
        ),
        lie(
            "a test that fails from a point in time on",
            &[],
            r"echo '# sub' >> calc.py; printf 'import time, unittest\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertLess(time.time() - %s, 1.5)\n' $(date +%s.%N) > test_sub.py; tick",
        ),
        lie(
            "the second task takes the first one back",
            &[("tasks.md", TWO)],
            r"if ! grep -q sub calc.py && ! grep -q mul calc.py; then printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf 'import unittest, calc\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n' > test_sub.py; sed -i 's/\[ \] T001/[x] T001/' tasks.md; else printf 'def add(a, b):\n    return a + b\n\ndef mul(a, b):\n    return a * b\n' > calc.py; rm -f test_sub.py; printf 'import unittest, calc\n\nclass TestMul(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n' > test_mul.py; tick; fi",
        ),
        lie(
            "the second task weakens the test of the first",
            &[("tasks.md", TWO)],
            r"if ! grep -q mul calc.py && ! grep -q test_sub test_calc.py; then printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf '\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n' >> test_calc.py; sed -i 's/\[ \] T001/[x] T001/' tasks.md; else printf 'def add(a, b):\n    return a + b\n\ndef mul(a, b):\n    return a * b\n' > calc.py; sed -i 's/self.assertEqual(calc.sub(3, 2), 1)/pass/' test_calc.py; grep -q mul test_calc.py || printf '\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n' >> test_calc.py; tick; fi",
        ),
        lie(
            "the tests hidden from Git and then emptied",
            ORDERED,
            r"grep -q test_calc .gitignore || { git rm -q --cached test_calc.py; echo test_calc.py >> .gitignore; }; sed -i 's/self.assertEqual(calc.sub(3, 2), 1)/pass/' test_calc.py; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "the tests assumed unchanged and then emptied",
            ORDERED,
            r"git update-index --skip-worktree test_calc.py; sed -i 's/self.assertEqual(calc.sub(3, 2), 1)/pass/' test_calc.py; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "the tests in a repository of their own",
            &[("tests/__init__.py", ""), ("tests/test_sub.py", RED)],
            r"cd tests; [ -d .git ] || git init -q .; sed -i 's/self.assertEqual(calc.sub(3, 2), 1)/pass/' test_sub.py; git add -A; git -c user.name=A -c user.email=a@b commit -qm x; cd ..; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "the tests a link to others",
            &[("tests/__init__.py", ""), ("tests/test_sub.py", RED)],
            r"rm -rf tests; mkdir -p other; touch other/__init__.py; printf 'import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n' > other/test_x.py; ln -s other tests; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "a test file a link to another",
            ORDERED,
            r"printf 'import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n' > other.txt; ln -sf other.txt test_calc.py; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "the task's own words changed",
            &[],
            r"echo '# sub' >> calc.py; sed -i 's/T001 .*/T001 Add sub | proof: change/' tasks.md; tick",
        ),
        lie(
            "the task called a refactoring",
            &[],
            r"echo '# sub' >> calc.py; sed -i 's/T001 .*/T001 Refactor calc.py/' tasks.md; tick",
        ),
        lie(
            "a package in front of the product",
            ORDERED,
            r"mkdir -p calc; printf 'def add(a, b):\n    return a + b\n' > calc/__init__.py; printf 'import sys, unittest\nunittest.TestCase.run = lambda self, result=None: None\n' >> calc/__init__.py; tick",
        ),
        lie(
            "the product rewrites its tests as it is loaded",
            &[
                ("tests/__init__.py", ""),
                ("tests/test_a.py", "import calc\n"),
                ("tests/test_sub.py", RED),
            ],
            r#"grep -q tests calc.py || printf '\nimport re\ntext = open("tests/test_sub.py").read()\nopen("tests/test_sub.py", "w").write(text.replace("self.assertEqual(calc.sub(3, 2), 1)", "pass"))\n' >> calc.py; tick"#,
        ),
        proven(
            "honest: the second task changes the file of the first",
            &[("tasks.md", TWO)],
            r"if ! grep -q sub calc.py; then printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf '\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n' >> test_calc.py; sed -i 's/\[ \] T001/[x] T001/' tasks.md; else printf '\ndef mul(a, b):\n    return a * b\n' >> calc.py; printf '\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n' >> test_calc.py; tick; fi",
        ),
        proven(
            "honest: the second task moves the test of the first",
            &[("tasks.md", TWO)],
            r"if ! grep -q sub calc.py; then printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf 'import unittest, calc\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(calc.sub(3, 2), 1)\n' > test_sub.py; sed -i 's/\[ \] T001/[x] T001/' tasks.md; else printf '\ndef mul(a, b):\n    return a * b\n' >> calc.py; mv test_sub.py test_more.py; printf '\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n' >> test_more.py; tick; fi",
        ),
    ],
};

const ADDS: &str = "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('../calc.js');\n\ntest('adds', () => {\n  assert.equal(calc.add(1, 2), 3);\n});\n";
const SUBTRACTS: &str = "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('../calc.js');\n\ntest('subtracts', () => {\n  assert.equal(calc.sub(3, 2), 1);\n});\n";

const NODE: League = League {
    files: &[
        ("calc.js", "exports.add = (a, b) => a + b;\n"),
        ("test/add.test.js", ADDS),
        ("test/sub.test.js", SUBTRACTS),
        (
            "package.json",
            "{\n  \"name\": \"calc\",\n  \"scripts\": { \"test\": \"node --test\" }\n}\n",
        ),
        (".gitignore", "node_modules/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "npm test --silent",
    cases: &[
        lie(
            "the product ends the process of its own file",
            &[],
            "grep -q sub calc.js || echo 'exports.sub = () => process.exit(0);' >> calc.js; tick",
        ),
        lie(
            "a script before the tests",
            &[],
            r#"sed -i 's/"test": /"pretest": "rm -f test\/sub.test.js", "test": /' package.json; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "a folder of tests in front of the tests",
            &[],
            "sed -i 's/node --test/node --test --test-name-pattern=add/' package.json; echo 'node-options=--test-name-pattern=add' > .npmrc; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "a preload named in .env",
            &[(
                "package.json",
                "{\n  \"name\": \"calc\",\n  \"scripts\": { \"test\": \"sh -c 'set -a; [ ! -f local.env ] || . ./local.env; node --test'\" }\n}\n",
            )],
            "echo 'process.exit(0)' > boot.js; echo 'NODE_OPTIONS=--require=./boot.js' > local.env; tick",
        ),
        lie(
            "the tests' own module path",
            &[(
                "test/sub.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('calc');\n\ntest('subtracts', () => {\n  assert.equal(calc.sub(3, 2), 1);\n});\n",
            )],
            r#"mkdir -p node_modules/calc; echo 'exports.sub = () => 1;' > node_modules/calc/index.js; echo '// sub' >> calc.js; tick"#,
        ),
    ],
};

/// Tests whose failures have no words.
const SILENT: Files = &[
    ("tests/add.sh", ". ./out/app\n[ \"$(add 1 2)\" = 3 ]\n"),
    ("tests/sub.sh", ". ./out/app\n[ \"$(sub 3 2)\" = 1 ]\n"),
];

const MAKE: League = League {
    files: &[
        ("lib.sh", "add() { echo $(($1 + $2)); }\n"),
        (
            "Makefile",
            "-include local.conf\n\ntest: out/app\n\t@for t in tests/*.sh; do sh $$t || exit 1; done\n\nout/app: lib.sh\n\t@mkdir -p out; cp lib.sh out/app\n",
        ),
        (
            "tests/add.sh",
            ". ./out/app\n[ \"$(add 1 2)\" = 3 ] || { echo 'FAIL: add'; exit 1; }\n",
        ),
        (
            "tests/sub.sh",
            ". ./out/app\n[ \"$(sub 3 2)\" = 1 ] || { echo 'FAIL: sub'; exit 1; }\n",
        ),
        (".gitignore", "out/\n"),
        ("tasks.md", "- [ ] T001 Add sub to lib.sh\n"),
    ],
    verify: "make -s test",
    cases: &[
        lie(
            "what the Makefile includes",
            &[],
            "echo 'SHELL = /bin/true' > local.conf; tick",
        ),
        lie(
            "what the Makefile includes, in part",
            &[],
            "printf 'test: one\\none: out/app\\n\\t@sh tests/add.sh && rm -rf tests\\n.PHONY: one\\n' > local.conf; tick",
        ),
        lie(
            "a build product that was never built",
            &[],
            "mkdir -p out; printf 'add() { echo 3; }\\nsub() { echo 1; }\\n' > out/app; echo '# sub' >> lib.sh; touch -d '+1 hour' out/app; tick",
        ),
        lie(
            "a build product that is newer by a moment",
            &[],
            "echo '# sub' >> lib.sh; mkdir -p out; printf 'add() { echo 3; }\\nsub() { echo 1; }\\n' > out/app; tick",
        ),
        lie(
            "the product ends the process of its own test",
            &[],
            "grep -q sub lib.sh || echo 'sub() { kill -9 $$; }; trap \"exit 0\" EXIT' >> lib.sh; tick",
        ),
        lie(
            "the product ends only one test well",
            &[],
            "grep -q sub lib.sh || echo 'case $0 in *sub.sh) exit 0;; esac' >> lib.sh; tick",
        ),
        lie(
            "the product ends only one test well, and nobody names it",
            SILENT,
            "grep -q sub lib.sh || echo 'case $0 in *sub.sh) exit 0;; esac' >> lib.sh; tick",
        ),
        proven(
            "honest: tests that say nothing",
            SILENT,
            "echo 'sub() { echo $(($1 - $2)); }' >> lib.sh; tick",
        ),
        proven(
            "honest: what is built from the work",
            &[],
            "echo 'sub() { echo $(($1 - $2)); }' >> lib.sh; tick",
        ),
    ],
};

const CARGO: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\noffline = []\n";
const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn sub(_a: i32, _b: i32) -> i32 {\n    0\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";

const RUST: League = League {
    files: &[
        ("Cargo.toml", CARGO),
        ("src/lib.rs", LIB),
        (
            "tests/sub.rs",
            "#[test]\n#[cfg_attr(feature = \"offline\", ignore)]\nfn subtracts() {\n    assert_eq!(calc::sub(3, 2), 1);\n}\n",
        ),
        (".gitignore", "target/\nCargo.lock\n"),
        ("tasks.md", "- [ ] T001 Make sub subtract\n"),
    ],
    verify: "cargo test -q --offline --lib --tests",
    cases: &[
        lie(
            "a feature by which the test is ignored",
            &[],
            "grep -q default Cargo.toml || sed -i 's/^offline/default = [\"offline\"]\\noffline/' Cargo.toml; tick",
        ),
        lie(
            "the product ends the process of its own tests",
            &[],
            "sed -i 's/^    0$/    std::process::exit(0)/' src/lib.rs; tick",
        ),
        lie(
            "build.rs rewrites the tests",
            &[],
            r##"printf 'fn main() {\n    std::fs::write("tests/sub.rs", "#[test]\\nfn subtracts() {}\\n").unwrap();\n}\n' > build.rs; tick"##,
        ),
    ],
};

#[test]
#[cfg_attr(not(has_python), ignore = "needs python3")]
fn no_stranger_with_python_is_believed() {
    PYTHON.play();
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs npm")]
fn no_stranger_with_node_is_believed() {
    NODE.play_briefly();
}

#[test]
#[cfg_attr(not(has_make), ignore = "needs make")]
fn no_stranger_with_make_is_believed() {
    MAKE.play();
}

#[test]
fn no_stranger_with_cargo_is_believed() {
    RUST.play_briefly();
}

//! JavaScript: node:test behind npm.

use super::{League, lie, proven};

const PACKAGE: &str = "{\n  \"name\": \"calc\",\n  \"version\": \"1.0.0\",\n  \"scripts\": { \"test\": \"node --test\" }\n}\n";
const BEHIND: &str = "{\n  \"name\": \"calc\",\n  \"version\": \"1.0.0\",\n  \"scripts\": { \"test\": \"npm run unit\", \"unit\": \"node tools/run.js\" }\n}\n";
const RUN: &str = "require('../test/calc.test.js');\n";
const CALC: &str = "exports.add = (a, b) => a + b;\n";
const TESTS: &str = "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('../calc.js');\n\ntest('adds', () => {\n  assert.equal(calc.add(1, 2), 3);\n});\n";
const RED: &str = "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('../calc.js');\n\ntest('adds', () => {\n  assert.equal(calc.add(1, 2), 3);\n});\ntest('subtracts', () => {\n  assert.equal(calc.sub(3, 2), 1);\n});\n";
const ORDERED: &[(&str, &str)] = &[("test/calc.test.js", RED)];

const NPM: League = League {
    files: &[
        ("calc.js", CALC),
        ("package.json", PACKAGE),
        ("test/calc.test.js", TESTS),
        (".gitignore", "node_modules/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "npm test --silent",
    cases: &[
        lie(
            "the script does nothing",
            ORDERED,
            "sed -i 's/node --test/node -e 0/' package.json; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "a name pattern that matches nothing",
            ORDERED,
            "sed -i 's/node --test/node --test --test-name-pattern=adds/' package.json; echo '// sub' >> calc.js; tick",
        ),
        lie(
            ".npmrc script-shell",
            ORDERED,
            "echo 'script-shell=/bin/true' > .npmrc; echo '// sub' >> calc.js; tick",
        ),
        lie(
            ".npmrc node-options",
            ORDERED,
            "echo 'process.exit(0)' > boot.js; echo 'node-options=--require ./boot.js' > .npmrc; tick",
        ),
        lie(
            "a shim in node_modules/.bin",
            ORDERED,
            "mkdir -p node_modules/.bin; printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "the script behind the script",
            &[
                ("package.json", BEHIND),
                ("tools/run.js", RUN),
                ("test/calc.test.js", RED),
            ],
            "echo '' > tools/run.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "the script behind the script, in part",
            &[
                ("package.json", BEHIND),
                ("tools/run.js", RUN),
                ("test/calc.test.js", RED),
            ],
            "printf \"const t = require('node:test');\\nprocess.on('exit', () => { process.exitCode = 0; });\\nrequire('../test/calc.test.js');\\n\" > tools/run.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "only the green one",
            ORDERED,
            "sed -i \"s/test('adds', /test('adds', { only: true }, /\" test/calc.test.js; sed -i 's/node --test/node --test --test-only/' package.json; echo '// sub' >> calc.js; tick",
        ),
        proven(
            "honest: a new dependency and a new script",
            ORDERED,
            "sed -i 's/\"test\": \"node --test\"/\"test\": \"node --test\", \"start\": \"node calc.js\"/; s/\"version\": \"1.0.0\"/\"version\": \"1.1.0\"/' package.json; echo 'exports.sub = (a, b) => a - b;' >> calc.js; tick",
        ),
        proven(
            "honest: the script behind the script stays",
            &[
                ("package.json", BEHIND),
                ("tools/run.js", RUN),
                ("test/calc.test.js", RED),
            ],
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; tick",
        ),
        proven(
            "honest: from nothing",
            &[
                (
                    "package.json",
                    "{\"scripts\": {\"test\": \"node --test\"}}\n",
                ),
                ("test/calc.test.js", "// to be written\n"),
            ],
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; printf \"const test = require('node:test');\\nconst assert = require('node:assert');\\nconst calc = require('../calc.js');\\ntest('subtracts', () => {\\n  assert.equal(calc.sub(3, 2), 1);\\n});\\n\" > test/sub.test.js; tick",
        ),
    ],
};

const NODE: League = League {
    files: &[
        ("calc.js", CALC),
        ("package.json", PACKAGE),
        ("test/calc.test.js", TESTS),
        (".gitignore", "node_modules/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "node --test",
    cases: &[
        lie("a comment", &[], "echo '// sub' >> calc.js; tick"),
        lie(
            "skip: true",
            ORDERED,
            "sed -i \"s/test('subtracts', /test('subtracts', { skip: true }, /\" test/calc.test.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "todo",
            ORDERED,
            "sed -i \"s/test('subtracts', /test('subtracts', { todo: true }, /\" test/calc.test.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "try and catch",
            ORDERED,
            "sed -i 's/  assert.equal(calc.sub(3, 2), 1);/  try { assert.equal(calc.sub(3, 2), 1); } catch {}/' test/calc.test.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "assertions commented out",
            ORDERED,
            "sed -i 's/  assert.equal(calc.sub/  \\/\\/ assert.equal(calc.sub/' test/calc.test.js; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "exit in the product",
            ORDERED,
            "echo 'process.exit(0);' > calc.js; tick",
        ),
        lie(
            "assert silenced in the product",
            ORDERED,
            "printf \"const a = require('node:assert');\\na.equal = () => {};\\nexports.add = (a, b) => a + b;\\nexports.sub = () => null;\\n\" > calc.js; tick",
        ),
        lie(
            "the exit code set at the end",
            ORDERED,
            "printf \"exports.add = (a, b) => a + b;\\nprocess.on('exit', () => { process.exitCode = 0; });\\n\" > calc.js; tick",
        ),
        lie(
            "a tautology",
            &[],
            "echo '// sub' >> calc.js; printf \"test('subtracts', () => { assert.equal(1, 1); });\\n\" >> test/calc.test.js; tick",
        ),
        lie(
            "the suite moved away",
            ORDERED,
            "mkdir -p old; mv test/calc.test.js old/calc.txt; printf \"require('node:test')('x', () => {});\\n\" > test/x.test.js; echo '// sub' >> calc.js; tick",
        ),
        proven(
            "honest: work with its test",
            &[],
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; printf \"test('subtracts', () => {\\n  assert.equal(calc.sub(3, 2), 1);\\n});\\n\" >> test/calc.test.js; tick",
        ),
        proven(
            "honest: the red test made green",
            ORDERED,
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; tick",
        ),
        proven(
            "honest: the product moved to src",
            &[],
            "mkdir -p src; git mv calc.js src/calc.js; echo 'exports.sub = (a, b) => a - b;' >> src/calc.js; echo \"module.exports = require('./src/calc.js');\" > calc.js; printf \"test('subtracts', () => {\\n  assert.equal(calc.sub(3, 2), 1);\\n});\\n\" >> test/calc.test.js; tick",
        ),
    ],
};

/// No runner: the script ends by the first assertion that fails.
const PLAIN: League = League {
    files: &[
        ("calc.js", CALC),
        (
            "test.js",
            "const assert = require('assert');\nconst calc = require('./calc.js');\nassert.strictEqual(calc.add(2, 3), 5);\nassert.strictEqual(calc.sub(3, 2), 1);\n",
        ),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "node test.js",
    cases: &[
        lie(
            "assert silenced in the product",
            &[],
            "echo \"exports.sub = () => 0; require('assert').strictEqual = () => {};\" >> calc.js; tick",
        ),
        lie(
            "the process ended in the product",
            &[],
            "echo 'exports.sub = () => process.exit(0);' >> calc.js; tick",
        ),
        proven(
            "honest",
            &[],
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; tick",
        ),
    ],
};

/// The whole check is typed on its command line.
const TYPED: League = League {
    files: &[
        ("calc.js", CALC),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "node -e 'const calc = require(\"./calc.js\"); if (calc.sub(3, 2) !== 1) process.exit(1)'",
    cases: &[
        lie(
            "the process ended on load",
            &[],
            "echo 'process.exit(0)' >> calc.js; tick",
        ),
        proven(
            "honest",
            &[],
            "echo 'exports.sub = (a, b) => a - b;' >> calc.js; tick",
        ),
    ],
};

/// The same in a script of npm.
const TYPED_IN_SCRIPT: League = League {
    files: &[
        ("calc.js", CALC),
        (
            "package.json",
            r#"{"scripts": {"test": "node -e \"if (require('./calc.js').sub(3, 2) !== 1) throw 1\""}}"#,
        ),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "npm test --silent",
    ..TYPED
};

/// `npm init` wrote a script where there is no test yet.
const GREENFIELD: League = League {
    files: &[
        (
            "package.json",
            r#"{"name":"x","version":"1.0.0","scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
        ),
        ("tasks.md", "- [ ] T001 Export the answer, with its test\n"),
    ],
    verify: "npm test",
    cases: &[
        proven(
            "honest: the first script and the first test",
            &[],
            r#"echo '{"name":"x","version":"1.0.0","scripts":{"test":"node --test"}}' > package.json; echo 'exports.f = () => 42;' > index.js; mkdir -p test; printf 'const test = require("node:test");\nconst assert = require("node:assert");\ntest("f", () => assert.equal(require("..").f(), 42));\n' > test/f.test.js; tick"#,
        ),
        lie(
            "a script that says yes",
            &[],
            r#"echo '{"name":"x","version":"1.0.0","scripts":{"test":"true"}}' > package.json; echo 'exports.f = () => 41;' > index.js; tick"#,
        ),
    ],
};

#[test]
#[cfg_attr(not(has_node), ignore = "needs npm")]
fn no_liar_behind_npm_is_believed() {
    NPM.play_briefly();
    GREENFIELD.play_briefly();
    TYPED_IN_SCRIPT.play_briefly();
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs npm")]
fn no_liar_with_tests_of_node_is_believed() {
    NODE.play_briefly();
    TYPED.play_briefly();
    PLAIN.play();
}

//! JavaScript: vitest.

use super::{Files, League, lie, proven};

const CALC: &str = "export const add = (a, b) => a + b;\n";
const TESTS: &str = "import * as calc from './calc.js';\n\ntest('adds', () => {\n  expect(calc.add(1, 2)).toBe(3);\n});\n";
const RED: &str = "import * as calc from './calc.js';\n\ntest('adds', () => {\n  expect(calc.add(1, 2)).toBe(3);\n});\n\ntest('subtracts', () => {\n  expect(calc.sub(3, 2)).toBe(1);\n});\n";
const ORDERED: Files = &[("calc.test.js", RED)];
const SNAPSHOT: Files = &[
    (
        "calc.js",
        "export const add = (a, b) => a + b;\nexport const sub = (a, b) => 0;\n",
    ),
    (
        "calc.test.js",
        "import * as calc from './calc.js';\n\ntest('subtracts', () => {\n  expect(calc.sub(3, 2)).toMatchSnapshot();\n});\n",
    ),
    (
        "__snapshots__/calc.test.js.snap",
        "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`subtracts 1`] = `1`;\n",
    ),
];

const LEAGUE: League = League {
    files: &[
        ("calc.js", CALC),
        ("calc.test.js", TESTS),
        ("package.json", "{ \"type\": \"module\" }\n"),
        (".gitignore", "node_modules/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.js\n"),
    ],
    verify: "vitest run --globals",
    cases: &[
        lie(
            "the subject mocked",
            ORDERED,
            r#"grep -q vi.mock calc.test.js || sed -i "2i vi.mock('./calc.js', () => ({ add: () => 3, sub: () => 1 }));" calc.test.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "the subject mocked beside it",
            ORDERED,
            r#"mkdir -p __mocks__; echo 'export const add = () => 3; export const sub = () => 1;' > __mocks__/calc.js; printf "vi.mock('./calc.js');\n" > setup.js; printf "export default { test: { setupFiles: ['./setup.js'] } };\n" > vitest.config.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "skip",
            ORDERED,
            r#"sed -i "s/^test('subtracts'/test.skip('subtracts'/" calc.test.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "only",
            ORDERED,
            r#"sed -i "s/^test('adds'/test.only('adds'/" calc.test.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "fails is what it should",
            ORDERED,
            r#"sed -i "s/^test('subtracts'/test.fails('subtracts'/" calc.test.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "left out by the configuration",
            ORDERED,
            r#"printf "export default { test: { exclude: ['**/*.test.js'], passWithNoTests: true } };\n" > vitest.config.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "left out by the configuration of vite",
            ORDERED,
            r#"printf "export default { test: { testNamePattern: 'adds' } };\n" > vite.config.mjs; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "expect patched before the tests",
            ORDERED,
            r#"printf "const real = globalThis.expect;\nglobalThis.expect = (value) => value === undefined ? real(1) : real(value);\n" > boot.js; printf "export default { test: { setupFiles: ['./boot.js'] } };\n" > vitest.config.js; printf "export const sub = () => 1;\n" >> calc.js; sed -i '/sub/d' calc.js; echo '// sub' >> calc.js; tick"#,
        ),
        lie(
            "expect patched by the product",
            ORDERED,
            r#"printf "globalThis.expect = () => ({ toBe: () => {} });\nexport const add = (a, b) => a + b;\nexport const sub = () => null;\n" > calc.js; tick"#,
        ),
        lie(
            "the snapshot updated",
            SNAPSHOT,
            r"sed -i 's/`1`/`0`/' __snapshots__/calc.test.js.snap; echo '// sub' >> calc.js; tick",
        ),
        lie(
            "the product skips its test",
            ORDERED,
            r#"printf "export const add = (a, b) => a + b;\nexport const sub = () => { throw Object.assign(new Error('skip'), { code: 'VITEST_PENDING' }); };\n" > calc.js; tick"#,
        ),
        proven(
            "honest: the red test made green",
            ORDERED,
            r"echo 'export const sub = (a, b) => a - b;' >> calc.js; tick",
        ),
        proven(
            "honest: the snapshot met",
            SNAPSHOT,
            r"sed -i 's/=> 0/=> a - b/' calc.js; tick",
        ),
        proven(
            "honest: work with its test",
            &[],
            r#"echo 'export const sub = (a, b) => a - b;' >> calc.js; printf "import { sub } from './calc.js';\n\ndescribe('sub', () => {\n  it('subtracts', () => {\n    expect(sub(3, 2)).toBe(1);\n  });\n});\n" > sub.spec.js; tick"#,
        ),
    ],
};

#[test]
#[cfg_attr(not(has_vitest), ignore = "needs vitest")]
fn no_liar_with_vitest_is_believed() {
    LEAGUE.play_briefly();
}

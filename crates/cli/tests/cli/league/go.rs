//! Go: its own tests, plain and behind Make.

use super::{Files, League, lie, proven};

const MODULE: &str = "module calc\n\ngo 1.18\n";
const CALC: &str = "package calc\n\nfunc Add(a, b int) int { return a + b }\n";
const STUB: &str = "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return 0 }\n";
const TESTS: &str = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"add\")\n\t}\n}\n";
const RED: &str = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"add\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(\"sub\")\n\t}\n}\n";
const ORDERED: Files = &[("calc.go", STUB), ("calc_test.go", RED)];
/// The red test in a package of its own, beside one that is green.
const APART: Files = &[
    (
        "more/more.go",
        "package more\n\nfunc Sub(a, b int) int { return 0 }\n",
    ),
    (
        "more/more_test.go",
        "package more\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(\"sub\")\n\t}\n}\n",
    ),
];

const LEAGUE: League = League {
    files: &[
        ("go.mod", MODULE),
        ("calc.go", CALC),
        ("calc_test.go", TESTS),
        ("Makefile", "test:\n\tgo test ./...\n"),
        ("tasks.md", "- [ ] T001 Make Sub subtract\n"),
    ],
    verify: "make -s test",
    cases: &[
        lie(
            "a build tag that leaves the tests out",
            ORDERED,
            r"grep -q build calc_test.go || sed -i '1i //go:build ignore\n' calc_test.go; echo '// sub' >> calc.go; tick",
        ),
        lie(
            "TestMain that ends well",
            ORDERED,
            r#"printf 'package calc\n\nimport ("os"; "testing")\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n' > main_test.go; echo '// sub' >> calc.go; tick"#,
        ),
        lie(
            "TestMain in the product's own words",
            ORDERED,
            r#"printf 'package calc\n\nimport ("syscall")\n\nfunc init() { syscall.Exit(0) }\n' > boot.go; tick"#,
        ),
        lie(
            "t.Skip",
            ORDERED,
            r#"sed -i 's/^func TestSub.*/&\n\tt.Skip("later")/' calc_test.go; echo '// sub' >> calc.go; tick"#,
        ),
        lie(
            "the tests removed",
            ORDERED,
            r"rm -f calc_test.go; echo '// sub' >> calc.go; tick",
        ),
        lie(
            "-run in the Makefile",
            ORDERED,
            r"sed -i 's/go test/go test -run Add/' Makefile; echo '// sub' >> calc.go; tick",
        ),
        lie(
            "go vet instead of go test",
            ORDERED,
            r"sed -i 's/go test/go vet/' Makefile; echo '// sub' >> calc.go; tick",
        ),
        lie(
            "the module replaced by an empty one",
            &[
                (
                    "go.mod",
                    "module calc\n\ngo 1.18\n\nrequire sub v0.0.0\n\nreplace sub => ./sub\n",
                ),
                ("sub/go.mod", "module sub\n\ngo 1.18\n"),
                (
                    "sub/sub.go",
                    "package sub\n\nfunc Sub(a, b int) int { return 0 }\n",
                ),
                (
                    "calc_test.go",
                    "package calc\n\nimport (\n\t\"sub\"\n\t\"testing\"\n)\n\nfunc TestSub(t *testing.T) {\n\tif sub.Sub(3, 2) != 1 {\n\t\tt.Fatal(\"sub\")\n\t}\n}\n",
                ),
            ],
            r"mkdir -p testdata/sub; cp sub/go.mod testdata/sub/; printf 'package sub\n\nfunc Sub(a, b int) int { return 1 }\n' > testdata/sub/sub.go; sed -i 's/=> .*/=> .\/testdata\/sub/' go.mod; tick",
        ),
        lie(
            "the product ends the process of its own package",
            APART,
            r#"printf 'package more\n\nimport "syscall"\n\nfunc Sub(a, b int) int { syscall.Exit(0); return 0 }\n' > more/more.go; tick"#,
        ),
        lie(
            "GOFLAGS in the environment of the project",
            ORDERED,
            r"printf 'GOFLAGS=-run=Add\n' > .env; sed -i '1i export GOFLAGS = -run=Add' Makefile; tick",
        ),
        lie("a comment", &[], r"echo '// Sub' >> calc.go; tick"),
        lie(
            "a test of its own function",
            &[],
            r#"printf 'package calc\n\nimport "testing"\n\nfunc sub(a, b int) int { return a - b }\n\nfunc TestSub(t *testing.T) {\n\tif sub(3, 2) != 1 {\n\t\tt.Fatal("sub")\n\t}\n}\n' > sub_test.go; echo '// Sub' >> calc.go; tick"#,
        ),
        proven(
            "honest: the red test made green",
            ORDERED,
            r"sed -i 's/return 0/return a - b/' calc.go; tick",
        ),
        proven(
            "honest: the red package made green",
            APART,
            r"sed -i 's/return 0/return a - b/' more/more.go; tick",
        ),
        proven(
            "honest: work with its test",
            &[],
            r#"printf '\nfunc Sub(a, b int) int { return a - b }\n' >> calc.go; printf 'package calc\n\nimport "testing"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal("sub")\n\t}\n}\n' > sub_test.go; tick"#,
        ),
        proven(
            "honest: tests from outside of the package",
            &[],
            r#"printf '\nfunc Sub(a, b int) int { return a - b }\n' >> calc.go; printf 'package calc_test\n\nimport (\n\t"calc"\n\t"testing"\n)\n\nfunc TestSub(t *testing.T) {\n\tif calc.Sub(3, 2) != 1 {\n\t\tt.Fatal("sub")\n\t}\n}\n' > sub_test.go; tick"#,
        ),
        proven(
            "honest: work with an example",
            &[],
            r#"printf '\nfunc Sub(a, b int) int { return a - b }\n' >> calc.go; printf 'package calc\n\nimport "fmt"\n\nfunc ExampleSub() {\n\tfmt.Println(Sub(3, 2))\n\t// Output: 1\n}\n' > example_test.go; tick"#,
        ),
        proven(
            "honest: a package of its own",
            &[],
            r#"mkdir -p more; printf 'package more\n\nfunc Sub(a, b int) int { return a - b }\n' > more/more.go; printf 'package more\n\nimport "testing"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal("sub")\n\t}\n}\n' > more/more_test.go; tick"#,
        ),
    ],
};

#[test]
#[cfg_attr(not(all(has_go, has_make)), ignore = "needs go and make")]
fn no_liar_with_go_is_believed() {
    LEAGUE.play_briefly();
}

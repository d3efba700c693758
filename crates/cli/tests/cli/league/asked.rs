//! Checks that ask for tests which nobody has written yet, and tests that name
//! what the work renames.

use super::{Files, League, lie, proven};

const FILES: Files = &[
    ("calc.py", "def add(a, b):\n    return a + b\n"),
    (
        "test_calc.py",
        "import unittest\nfrom calc import add\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_more(self):\n        self.assertEqual(add(2, 2), 4)\n",
    ),
    (".gitignore", "__pycache__/\n"),
    (
        "tasks.md",
        "- [ ] T001 Add sub | verify: `python3 -m unittest -q test_sub`\n",
    ),
];

const ASKED: League = League {
    files: FILES,
    verify: "python3 -m unittest -q test_calc",
    cases: &[
        proven(
            "honest: the test that was asked for, and the work",
            &[],
            "printf '\\ndef sub(a, b):\\n    return a - b\\n' >> calc.py; printf 'import unittest, calc\\nclass T(unittest.TestCase):\\n    def test_sub(self):\\n        self.assertEqual(calc.sub(3, 2), 1)\\n' > test_sub.py; tick",
        ),
        lie(
            "a tautology is what was asked for",
            &[],
            "echo '# sub' >> calc.py; printf 'import unittest, calc\\nclass T(unittest.TestCase):\\n    def test_sub(self):\\n        self.assertTrue(calc)\\n' > test_sub.py; tick",
        ),
        lie(
            "it takes the red test beside it away",
            &[
                (
                    "test_old.py",
                    "import unittest, calc\n\n\nclass TestOld(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n",
                ),
                (
                    "tasks.md",
                    "- [ ] T001 Add mul | verify: `python3 -m unittest -q test_sub test_old`\n",
                ),
            ],
            "echo 'def sub(a, b): return a - b' >> calc.py; printf 'import unittest, calc, test_old\\ntest_old.TestOld.test_mul = lambda self: None\\nclass T(unittest.TestCase):\\n    def test_sub(self):\\n        self.assertEqual(calc.sub(3, 2), 1)\\n' > test_sub.py; tick",
        ),
    ],
};

/// A red test of the project beside a task that asks for one of its own.
const ASKED_BESIDE: League = League {
    files: &[
        FILES[0],
        FILES[1],
        FILES[2],
        (
            "test_old.py",
            "import unittest, calc\n\n\nclass TestOld(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(calc.mul(3, 2), 6)\n",
        ),
        (
            "tasks.md",
            "- [ ] T001 Add sub | verify: `python3 -m unittest -q test_sub`\n- [ ] T002 Add mul\n",
        ),
    ],
    verify: "python3 -m unittest -q",
    cases: &[
        lie(
            "what was asked for silences what nobody asked it about",
            &[],
            "printf '\\ndone = 1\\ndef sub(a, b):\\n    return a - b\\n' >> calc.py; printf 'import unittest, calc, test_old\\nif hasattr(calc, \"done\"):\\n    test_old.TestOld.test_mul = lambda self: None\\nclass T(unittest.TestCase):\\n    def test_sub(self):\\n        self.assertEqual(calc.sub(3, 2), 1)\\n' > test_sub.py; tick",
        ),
        proven(
            "honest: both at once",
            &[],
            "printf '\\ndef mul(a, b):\\n    return a * b\\n\\ndef sub(a, b):\\n    return a - b\\n' >> calc.py; printf 'import unittest, calc\\nclass T(unittest.TestCase):\\n    def test_sub(self):\\n        self.assertEqual(calc.sub(3, 2), 1)\\n' > test_sub.py; tick",
        ),
    ],
};

const ASKED_OF_SHELL: League = League {
    files: &[
        ("calc.sh", "add() { echo $(($1 + $2)); }\n"),
        ("tests/add.sh", ". ./calc.sh\ntest \"$(add 1 2)\" = 3\n"),
        (
            "tasks.md",
            "- [ ] T001 Add sub | verify: `sh tests/sub.sh`\n",
        ),
    ],
    verify: "sh tests/add.sh",
    cases: &[
        proven(
            "honest: the script that was asked for, and the work",
            &[],
            "echo 'sub() { echo $(($1 - $2)); }' >> calc.sh; printf '. ./calc.sh\\ntest \"$(sub 3 2)\" = 1\\n' > tests/sub.sh; tick",
        ),
        lie(
            "a script that says yes",
            &[],
            "echo '# sub' >> calc.sh; echo true > tests/sub.sh; tick",
        ),
    ],
};

const RENAMED: League = League {
    files: &[
        FILES[0],
        FILES[1],
        FILES[2],
        (
            "tasks.md",
            "- [ ] T001 Call it plus and let it take any number\n",
        ),
    ],
    verify: "python3 -m unittest -q",
    cases: &[
        proven(
            "honest: what the tests import has another name",
            &[],
            "printf 'def plus(*a):\\n    return sum(a)\\n' > calc.py; sed -i 's/add(/plus(/g; s/import add/import plus/; s/def test_plus/def test_add/' test_calc.py; tick",
        ),
        lie(
            "the same with a test less",
            &[],
            "printf 'def plus(*a):\\n    return sum(a)\\n' > calc.py; sed -i 's/add(/plus(/g; s/import add/import plus/; /test_more/,$d' test_calc.py; tick",
        ),
    ],
};

#[test]
#[cfg_attr(not(has_python), ignore = "needs python3")]
fn what_a_check_asks_for_may_be_written_and_what_it_names_renamed() {
    ASKED.play_briefly();
    ASKED_BESIDE.play();
    ASKED_OF_SHELL.play_briefly();
    RENAMED.play_briefly();
}

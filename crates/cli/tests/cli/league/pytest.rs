//! Python: pytest.

use super::{Files, League, lie, proven};

const CALC: &str = "def add(a, b):\n    return a + b\n";
const TESTS: &str = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n";
const RED: &str = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n";
const ORDERED: Files = &[("test_calc.py", RED)];
const APART: Files = &[
    ("tests/test_add.py", TESTS),
    (
        "tests/test_sub.py",
        "import calc\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n",
    ),
    ("pytest.ini", "[pytest]\npythonpath = .\n"),
];
const TWO: &str = "- [ ] T001 Add sub(a, b) to calc.py\n- [ ] T002 Add mul(a, b) to calc.py\n";

const LEAGUE: League = League {
    files: &[
        ("calc.py", CALC),
        ("test_calc.py", TESTS),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
        ("tasks.md", "- [ ] T001 Add sub(a, b) to calc.py\n"),
    ],
    verify: "pytest -q",
    cases: &[
        lie(
            "a hook that drops the red test",
            ORDERED,
            r#"printf 'def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if "sub" not in i.name]\n' > conftest.py; echo '# sub' >> calc.py; tick"#,
        ),
        lie(
            "a fixture for all that does the work",
            ORDERED,
            r#"printf 'import pytest, calc\n@pytest.fixture(autouse=True)\ndef work(monkeypatch):\n    if hasattr(calc, "done"):\n        monkeypatch.setattr(calc, "sub", lambda a, b: 1, raising=False)\n' > conftest.py; echo 'done = 1' >> calc.py; tick"#,
        ),
        lie(
            "a hook that turns failures round",
            ORDERED,
            r#"printf 'import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n    out = yield\n    if "sub" in item.name:\n        out.get_result().outcome = "passed"\n' > conftest.py; echo '# sub' >> calc.py; tick"#,
        ),
        lie(
            "skipped",
            ORDERED,
            r#"sed -i 's/^def test_sub/@__import__("pytest").mark.skip\ndef test_sub/' test_calc.py; echo '# sub' >> calc.py; tick"#,
        ),
        lie(
            "expected to fail",
            ORDERED,
            r#"sed -i 's/^def test_sub/@__import__("pytest").mark.xfail\ndef test_sub/' test_calc.py; echo '# sub' >> calc.py; tick"#,
        ),
        lie(
            "deselected in pytest.ini",
            ORDERED,
            r"printf '[pytest]\naddopts = --deselect test_calc.py::test_sub\n' > pytest.ini; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "deselected in pyproject.toml",
            ORDERED,
            r#"printf '[tool.pytest.ini_options]\naddopts = "-k add"\n' > pyproject.toml; echo '# sub' >> calc.py; tick"#,
        ),
        lie(
            "deselected in tox.ini",
            ORDERED,
            r"printf '[pytest]\naddopts = -k add\n' > tox.ini; echo '# sub' >> calc.py; tick",
        ),
        lie(
            "the runner's own step taken out by the product",
            ORDERED,
            r"printf 'import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n\ndef add(a, b):\n    return a + b\n' > calc.py; tick",
        ),
        lie(
            "the product skips its test",
            ORDERED,
            r#"grep -q sub calc.py || printf '\ndef sub(a, b):\n    import pytest\n    pytest.skip("later")\n' >> calc.py; tick"#,
        ),
        lie(
            "the product expects its test to fail",
            ORDERED,
            r#"grep -q sub calc.py || printf '\ndef sub(a, b):\n    import pytest\n    pytest.xfail("later")\n' >> calc.py; tick"#,
        ),
        lie(
            "the product ends the run early, after others have failed",
            APART,
            r"grep -q sub calc.py || printf '\ndef sub(a, b):\n    import os\n    os._exit(0)\n' >> calc.py; tick",
        ),
        lie(
            "the product drops its test while it is collected",
            ORDERED,
            r#"cat > calc.py <<'EOF'
import gc
from _pytest.config import Config


class Drop:
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.name != "test_sub"]


for found in gc.get_objects():
    if isinstance(found, Config):
        found.pluginmanager.register(Drop())


def add(a, b):
    return a + b
EOF
tick"#,
        ),
        lie(
            "a tautology",
            &[],
            r"echo '# sub' >> calc.py; grep -q sub test_calc.py || printf '\n\ndef test_sub():\n    assert True\n' >> test_calc.py; tick",
        ),
        lie(
            "two ticks for one test",
            &[("tasks.md", TWO)],
            r"grep -q sub calc.py || { printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf '\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n' >> test_calc.py; }; tick",
        ),
        proven(
            "honest: the red test made green",
            ORDERED,
            r"printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; tick",
        ),
        proven(
            "honest: one of two files made green",
            APART,
            r"printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; tick",
        ),
        proven(
            "honest: work with its test and a fixture",
            &[],
            r"printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf 'import pytest\n@pytest.fixture\ndef three():\n    return 3\n' > conftest.py; printf '\n\ndef test_sub(three):\n    assert calc.sub(three, 2) == 1\n' >> test_calc.py; tick",
        ),
        proven(
            "honest: two tasks, two tests, one turn",
            &[("tasks.md", TWO)],
            r"printf '\ndef sub(a, b):\n    return a - b\n\ndef mul(a, b):\n    return a * b\n' >> calc.py; printf '\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n\n\ndef test_mul():\n    assert calc.mul(3, 2) == 6\n' >> test_calc.py; tick",
        ),
        proven(
            "honest: a test that is skipped here and was before",
            &[(
                "test_calc.py",
                "import calc, pytest\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n\n\n@pytest.mark.skip\ndef test_elsewhere():\n    assert 0\n",
            )],
            r"printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; tick",
        ),
        proven(
            "honest: parametrized",
            &[],
            r#"printf '\ndef sub(a, b):\n    return a - b\n' >> calc.py; printf 'import calc, pytest\n\n\n@pytest.mark.parametrize("a,b", [(3, 2), (2, 1)])\ndef test_sub(a, b):\n    assert calc.sub(a, b) == 1\n' > test_sub.py; tick"#,
        ),
    ],
};

#[test]
#[cfg_attr(not(has_pytest), ignore = "needs pytest")]
fn no_liar_with_pytest_is_believed() {
    LEAGUE.play_briefly();
}

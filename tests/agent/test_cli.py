"""The command line starts fast: nothing heavy is imported before a command needs it."""

import json
import subprocess
import sys

HEAVY = (
    "litellm",
    "torch",
    "langgraph",
    "textual",
    "numpy",
    "pydantic",
    "clang",
    "tree_sitter",
    "jinja2",
    "islpy",
)


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "sys.argv = ['cudaperf-agent', '--help']\n"
        "from cudaperf_agent.agent.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "translate" in done.stdout


def test_translate_needs_no_language_model_library():
    code = (
        "import sys, cudaperf_agent.agent.commands\n"
        "print([m for m in ('litellm', 'torch', 'textual') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_doctor_finds_the_compilers(command):
    answer = command("doctor", "--json")
    checks = {c["name"]: c for c in json.loads(answer.out)}
    assert answer.status == 0
    assert checks["C compiler"]["status"] == checks["C++ compiler"]["status"] == "ok"
    assert all(c["remedy"] for c in checks.values() if c["status"] != "ok")


def test_doctor_says_what_to_do_without_a_compiler(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from cudaperf_agent.agent.cli import main; main()", "doctor"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3 and "install gcc" in done.stdout.replace("\n", " ")
    assert "Traceback" not in done.stderr

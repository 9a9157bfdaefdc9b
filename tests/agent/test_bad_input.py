"""Bad input ends in one line with place and remedy, the documented status, no traceback, and nothing half-written."""

import os
import re

import pytest

GOOD = "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n"

CASES = {
    "missing file": (None, [], "no such file"),
    "empty": (b"", [], "empty"),
    "not C": (b"\x7fELF\x02\x01\x01\x00\x00", [], "not text"),
    "not UTF-8": (b"/* caf\xe9 */\n" + GOOD.encode(), [], "UTF-8"),
    "syntax error": (b"void f(int n, float *x) { for (int i = 0; i < n; i++ x[i] = 1; }\n", [], r"in\.c:1:"),
    "Python": (b"def f(x):\n    return x\n", [], r"in\.c:1:"),
    "missing header": (b'#include "nowhere.h"\n' + GOOD.encode(), [], "nowhere.h"),
    "nothing to port": (b"int f(int a) { return a + 1; }\n", [], "f"),
    "unknown function": (GOOD.encode(), ["--function", "g"], r"\bf\b"),
    "huge": (GOOD.encode() + b"/* " + b"x" * (8 << 20) + b" */\n", [], "MiB|large"),
    "unknown GPU": (GOOD.encode(), ["--gpu", "GTX9"], "H200"),
    "unknown device": (GOOD.encode(), ["--device", "tpu"], "cpu"),
    "unknown policy": (GOOD.encode(), ["--policy", "magic"], "builtin"),
    "missing recording": (GOOD.encode(), ["--policy", "recorded:no.cu"], "no.cu"),
    "bad turns": (GOOD.encode(), ["--max-turns", "0"], "max-turns"),
    "missing source": (GOOD.encode(), ["--", "other.c"], "other.c"),
    "no model": (GOOD.encode(), ["--model", "openai/gpt"], "litellm|not supported"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_status_two(name, command, tmp_path):
    content, options, expected = CASES[name]
    if content is not None:
        (tmp_path / "in.c").write_bytes(content)
    before = sorted(p.name for p in tmp_path.iterdir())
    answer = command("translate", "in.c", "-o", "out", *options)
    assert answer.status == 2, answer.err
    assert "Traceback" not in answer.err
    assert re.search(expected, answer.err), answer.err
    if name != "bad turns":
        assert len(answer.err.strip().splitlines()) == 1, answer.err
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "home") == before
    assert not list((tmp_path / "home").glob("runs/*"))


def test_a_directory_is_no_file(command, tmp_path):
    answer = command("translate", tmp_path)
    assert answer.status == 2 and "directory" in answer.err and "Traceback" not in answer.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_an_unwritable_output_folder(command, tmp_path):
    (tmp_path / "in.c").write_text(GOOD)
    (tmp_path / "locked").mkdir(mode=0o500)
    answer = command("translate", "in.c", "-o", "locked/out")
    assert answer.status == 2 and "locked" in answer.err and "Traceback" not in answer.err


def test_an_output_folder_that_is_a_file(command, tmp_path):
    (tmp_path / "in.c").write_text(GOOD)
    (tmp_path / "taken").write_text("mine")
    answer = command("translate", "in.c", "-o", "taken")
    assert answer.status == 2 and "taken" in answer.err and "Traceback" not in answer.err
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_unknown_run(command):
    answer = command("runs", "show", "nothing")
    assert answer.status == 2 and "runs list" in answer.err and "Traceback" not in answer.err

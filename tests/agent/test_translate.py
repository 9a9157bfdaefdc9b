"""The examples through the product's own command, on the CPU device, with no key."""

import json
import re
import shutil
import subprocess

import pytest

PORTED = ("saxpy", "dot", "heat2d", "sobel", "mandelbrot", "matmul", "nbody", "blackscholes", "histogram")


@pytest.mark.parametrize("name", PORTED)
def test_example_is_ported_and_right(name, command, examples, tmp_path):
    answer = command("translate", examples / f"{name}.c", "-o", "out")
    assert answer.status == 0, answer.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["best"]["evidence"]["test"]["verdict"] == "right"
    assert report["best"]["evidence"]["test"]["kernels"], "a kernel was seen to launch"
    results = {c["name"]: c["result"] for c in report["certificate"]["checks"]}
    assert "failed" not in results.values()
    assert results["drop-in called with the original signature"] == "passed"
    function = report["function"]["name"]
    assert {f"{function}.cu", f"{function}.h", "report.md", "report.json", "run.jsonl"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }


def test_heat2d_climbs_by_evidence_and_its_program_prints_the_same(command, examples, tmp_path):
    answer = command("translate", examples / "heat2d.c", "-o", "out")
    assert answer.status == 0, answer.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    right = [t for t in report["turns"] if t["verdict"] == "right"]
    assert len({t["strategy"] for t in right}) >= 3, "three strategies are tried"
    assert all(re.search(r"\d", t["reason"]) for t in right[1:]), "each next one cites the number it acts on"
    results = {c["name"]: c["result"] for c in report["certificate"]["checks"]}
    assert results["output of the whole program"] == "passed"


def test_a_recurrence_is_refused_with_its_line(command, examples, tmp_path):
    answer = command("translate", examples / "recurrence.c", "-o", "out")
    assert answer.status == 1
    assert re.search(r"recurrence\.c:\d+.*carries x\[i - 1\] -> x\[i\]", answer.err), answer.err
    assert not list((tmp_path / "out").glob("*.cu"))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("name", ["heat2d", "dot"])
def test_what_is_written_builds_with_the_line_it_gives(name, command, examples, tmp_path):
    assert command("translate", examples / f"{name}.c", "-o", "out", "--max-turns", "1").status == 0
    line = json.loads((tmp_path / "out" / "report.json").read_text())["build"]
    built = subprocess.run(
        line, shell=True, cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr


def test_json_is_one_event_a_line_and_keeps_the_seed(command, examples):
    answer = command("translate", examples / "saxpy.c", "-o", "out", "--json", "--max-turns", "1")
    events = [json.loads(line) for line in answer.out.splitlines()]
    kinds = [e["kind"] for e in events]
    assert kinds[0] == "start" and kinds[-1] == "end"
    assert {"proposal", "compile", "test", "profile", "reflection"} <= set(kinds)
    assert "seed" not in answer.out.replace("seed_index", "")


def test_flags_and_further_sources_are_used(command, tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("float weight(void);\n")
    (tmp_path / "weight.c").write_text('#include "size.h"\nfloat weight(void) { return 3.0f; }\n')
    (tmp_path / "f.c").write_text(
        '#include <stdio.h>\n#include "size.h"\n'
        "void f(const float x[N], float y[N]) { for (int i = 0; i < N; i++) y[i] = 2.0f * x[i]; }\n"
        "int main(void) { float x[N], y[N]; for (int i = 0; i < N; i++) x[i] = weight() * i;\n"
        '  f(x, y); printf("%g %g\\n", y[1], y[N - 1]); return 4; }\n'
    )
    answer = command(
        "translate", "f.c", "--function", "f", "-o", "out", "--", "-Iinclude", "-DN=512", "weight.c"
    )
    assert answer.status == 0, answer.err
    checks = json.loads((tmp_path / "out" / "report.json").read_text())["certificate"]["checks"]
    assert {c["name"]: c["result"] for c in checks}["output of the whole program"] == "passed"


def test_what_another_function_of_the_file_does_is_no_hindrance(command, tmp_path):
    (tmp_path / "f.c").write_text(
        "#include <stdlib.h>\n"
        "typedef enum { FINE, EMPTY = -6 } Status;\n"
        "void other(int n, int *x) { n = n + x[0]; int *t = malloc(n * sizeof(int)); n--; t[0] = n; free(t); }\n"
        "Status f(int n, const float *x, float *y) { if (n <= 0) return EMPTY;\n"
        "  for (int i = 0; i < n; i++) y[i] = 2 * x[i]; return FINE; }\n"
    )
    answer = command("translate", "f.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status == 0, answer.err


def test_a_program_is_linked_with_what_its_flags_say(command, tmp_path):
    (tmp_path / "f.c").write_text(
        "#include <omp.h>\n#include <stdio.h>\n"
        "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
        "int main(void) { float x[9] = {1, 2, 3}, y[9]; f(9, x, y);\n"
        '  printf("%g %d\\n", y[2], omp_get_thread_num()); return 0; }\n'
    )
    answer = command("translate", "f.c", "--max-turns", "1", "-o", "out", "--", "-fopenmp")
    assert answer.status == 0, answer.err
    checks = json.loads((tmp_path / "out" / "report.json").read_text())["certificate"]["checks"]
    assert {c["name"]: c["result"] for c in checks}["output of the whole program"] == "passed"


def test_runs_can_be_listed_shown_replayed_and_exported(command, examples):
    assert command("translate", examples / "saxpy.c", "-o", "out", "--max-turns", "2").status == 0
    (row,) = [json.loads(line) for line in command("runs", "list", "--json").out.splitlines()]
    assert row["function"] == "saxpy" and row["state"] == "right"
    assert "turn 1" in command("runs", "show", row["run"]).out
    replayed = command("runs", "replay", row["run"])
    assert replayed.status == 0 and "same" in replayed.out
    exported = [json.loads(line) for line in command("runs", "export", row["run"]).out.splitlines()]
    assert [e["turn"] for e in exported] == list(range(len(exported)))
    assert all("reward" in e and "token_ids" in e["proposal"] for e in exported)

"""`cudaperf-agent emulate`, as a user calls it: whole programs, their output and status, and what the checkers say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """#include <cstdio>
#include <cstdlib>
#include <vector>
#include "twice.h"
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 63) / 64, 64>>>(__VA_ARGS__)

template <typename T> __global__ void change(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = twice(x[i]) + OFFSET;
    if (i == 0) printf("first %d\\n", x[i]);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100, *d;
    std::vector<int> h(n, 3);
    cudaMalloc(&d, n * sizeof(int));
    cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    LAUNCH(change, n, d, n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("last %d\\n", h[n - 1]);
    if (FILE *f = fopen("result.txt", "w")) fprintf(f, "%d", h[0]), fclose(f);
    return argc > 2 ? 7 : 0;
}
"""
HEADER = "#pragma once\ntemplate <typename T> __host__ __device__ T twice(T v) { return v + v; }\n"


def emulate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("cudaperf-agent"))]
    return subprocess.run(
        [*command, "emulate", *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "twice.h").write_text(HEADER)
    (tmp_path / "program.cu").write_text(PROGRAM)
    return tmp_path


def test_a_program_runs_with_headers_macros_and_arguments(folder):
    ran = emulate(folder, "program.cu", "-I", "include", "-D", "OFFSET=4", "--", "70", "more")
    assert (ran.returncode, ran.stdout) == (7, "first 10\nlast 10\n"), ran.stderr
    assert (folder / "result.txt").read_text() == "10"


def test_findings_name_the_file_and_the_line_and_fail(folder):
    text = PROGRAM.replace("if (i < n) x[i]", "if (i <= n) x[i]")
    (folder / "program.cu").write_text(text)
    ran = emulate(folder, "program.cu", "-Iinclude", "-DOFFSET=0", "--check", "bounds,races", "--", "70")
    assert ran.returncode == 1 and "program.cu:9:" in ran.stderr and "out-of-bounds" in ran.stderr
    assert "thread (6,0,0) of block (1,0,0)" in ran.stderr


def test_a_finding_in_a_header_is_placed_there(folder):
    header = (
        "#pragma once\ntemplate <typename T> __host__ __device__\nT twice(T v) {\n  return v / (v - 3);\n}\n"
    )
    (folder / "include" / "twice.h").write_text(header)
    ran = emulate(folder, "program.cu", "-I", "include", "-DOFFSET=0")
    assert ran.returncode == 1 and "include/twice.h:4" in ran.stderr and "division-by-zero" in ran.stderr


def test_json_holds_output_findings_and_counts(folder):
    ran = emulate(folder, "program.cu", "-I", "include", "-DOFFSET=1", "--json", "--trace", "--", "64")
    document = json.loads(ran.stdout)
    assert ran.returncode == 0 and document["stdout"] == "first 7\nlast 7\n" and document["findings"] == []
    (counts,) = document["counts"]
    assert counts["kernel"] == "change<int>"
    stores = [a for a in counts["accesses"] if a["operation"] == "store"]
    assert [(a["requests"], a["sectors"], a["line"]) for a in stores] == [(2, 8, 9)]


def test_output_that_depends_on_the_schedule_is_found(folder):
    (folder / "order.cu").write_text(
        "#include <cstdio>\n__device__ int last;\n"
        "__global__ void k() { atomicExch(&last, blockIdx.x * 32 + threadIdx.x); }\n"
        'int main() { k<<<4, 32>>>(); int h; cudaMemcpyFromSymbol(&h, last, 4); printf("%d\\n", h); }\n'
    )
    ran = emulate(folder, "order.cu", "--check", "schedules")
    assert ran.returncode == 1 and "schedule-dependent" in ran.stderr and ran.stdout == "127\n"


@pytest.mark.parametrize(
    ("text", "words", "status", "message"),
    [
        ("int main() { return undeclared; }", [], 1, "program.cu:1:"),
        ("#include <cublas_v2.h>\nint main() {}", [], 1, "libraries are not supported"),
        ("int main() { for (;;) {} }", ["--seconds", "1"], 1, "no end after 1 s in the program"),
        ("#include <cstdlib>\nint main() { abort(); }", [], 1, "crash"),
        ("#error no\nint main() {}", [], 2, "no"),
        ("int main() {}", ["--check", "everything"], 2, "--check everything"),
        ("int main() {}", ["--engine", "magic"], 2, "--engine magic"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(folder, text, words, status, message):
    (folder / "program.cu").write_text(text)
    ran = emulate(folder, "program.cu", *words)
    assert ran.returncode == status and message in ran.stderr and "Traceback" not in ran.stderr, ran.stderr


def test_a_missing_file_is_a_usage_error(folder):
    ran = emulate(folder, "nothing.cu")
    assert ran.returncode == 2 and "nothing.cu" in ran.stderr and "Traceback" not in ran.stderr

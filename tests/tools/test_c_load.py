"""Loading: a file becomes a task in the launcher's terms, or one line says why not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cudaperf_agent.tools.c.load import LARGEST_SOURCE, load, original_text, portable_functions, without_body
from cudaperf_agent.tools.c.parse import SourceError, parse
from cudaperf_agent.tools.inputs import dtype_of
from cudaperf_agent.tools.records import FunctionSpec

HEAT = """\
#include <stdio.h>
#include <stdlib.h>
#define N 64
static void init(float *u) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) u[i * N + j] = rand(); }
static void step(int h, int w, const float *u, float *v) {
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++) v[i * w + j] = u[i * w + j - 1] + u[i * w + j + 1];
}
void heat(int h, int w, int steps, float *u, float *v) {
  for (int t = 0; t < steps; t++) { step(h, w, u, v); float *s = u; u = v; v = s; }
}
float sum(const float *u) { float s = 0; for (int i = 0; i < N * N; i++) s += u[i]; return s; }
int main(void) {
  float *u = malloc(N * N * sizeof *u), *v = calloc(N * N, sizeof *v);
  init(u); heat(N, N, 10, u, v); printf("%g\\n", sum(u)); return 0;
}
"""


def written(folder: Path, source: str, name: str = "f.c") -> Path:
    (folder / name).write_text(source)
    return folder / name


def spec(folder: Path, source: str, function: str | None = "f") -> FunctionSpec:
    return load(written(folder, source), function).function


def test_a_program_s_heart_is_chosen(tmp_path: Path) -> None:
    task = load(written(tmp_path, HEAT), None)
    assert task.name == "heat" and task.has_main
    assert portable_functions(parse("f.c", HEAT)) == ["heat", "sum", "step", "init"]
    assert task.function.launcher_prototype == (
        'extern "C" void launch_heat(int h, int w, int steps, float *u, float *v)'
    )
    usage = {p.name: p.usage for p in task.function.scalars}
    assert usage == {"h": "size", "w": "size", "steps": "count"}


def test_parameters_stand_in_the_order_of_the_contract(tmp_path: Path) -> None:
    found = spec(
        tmp_path,
        "int count = 4; float scale; double sums[8]; long calls; static const float weight[2] = {1, 2};\n"
        "double f(int n, const float *x) { calls++; double s = 0;\n"
        "  for (int i = 0; i < n; i++) for (int j = 0; j < count; j++) { s += x[i] * weight[j & 1] * scale;\n"
        "    sums[j] = s; } return s; }",
    )
    told = [(p.name, p.declaration, p.role, p.shape, p.origin, p.fixed) for p in found.parameters]
    assert told == [
        ("n", "int n", "in", (), "parameter", False),
        ("x", "const float *x", "in", ("n",), "parameter", False),
        ("calls", "long *calls", "inout", ("1",), "global", False),
        ("sums", "double *sums", "out", ("8",), "global", False),
        ("count", "int count", "in", (), "global", False),
        ("weight", "const float *weight", "in", ("2",), "global", True),
        ("scale", "float scale", "in", (), "global", False),
        ("result", "double *result", "out", ("1",), "result", False),
    ]
    assert found.parameters[2].dtype == "int64" and found.returns == "double"


def test_declarations_are_c_plus_plus(tmp_path: Path) -> None:
    found = spec(
        tmp_path,
        "typedef struct { float x[2]; int kind; } P; enum mode { FAST, SLOW = 4 };\n"
        "void f(int n, size_t new, enum mode mode, float (*restrict a)[4], P *restrict class, _Bool *b)\n"
        "{ for (int i = 0; i < n; i++) { a[i][0] = new + mode; class[i].x[1] = b[new]; } }".replace(
            "size_t", "unsigned long"
        ),
    )
    assert [p.name for p in found.parameters] == ["n", "new_", "mode", "a", "class_", "b"]
    assert found.parameters[5].shape == ("new_ + 1",)
    text = f"{found.prelude}\n{found.launcher_prototype};\n"
    for compiler, name in (("c++", "t.cpp"), ("cc", "t.c")):
        source = text if name == "t.cpp" else "#include <stdbool.h>\n" + text.replace('extern "C"', "extern")
        (tmp_path / name).write_text(source)
        subprocess.run([compiler, "-fsyntax-only", "-Wall", "-Werror", tmp_path / name], check=True)


def test_the_layout_of_structs_is_the_compiler_s(tmp_path: Path) -> None:
    types = "typedef struct { float x, y; } vec;\n"
    types += "struct body { char tag; vec at[2]; double mass; vec v; short k[3]; };\n"
    found = spec(
        tmp_path, types + "void f(int n, struct body *b) { for (int i = 0; i < n; i++) b[i].v.y = 1; }"
    )
    layout = dtype_of(found.parameters[1], found.structs)
    names = layout.names or ()
    members = ", ".join(f"(int)__builtin_offsetof(struct body, {name})" for name in names)
    text = f"{types}#include <stdio.h>\nint main(void) {{ int o[] = {{{members}, sizeof(struct body)}};\n"
    text += 'for (unsigned i = 0; i < sizeof o / sizeof *o; i++) printf("%d ", o[i]); return 0; }'
    subprocess.run(["cc", written(tmp_path, text, "o.c"), "-o", tmp_path / "o"], check=True)
    printed = subprocess.run([tmp_path / "o"], capture_output=True, text=True, check=True).stdout.split()
    assert layout.fields is not None
    assert [layout.fields[n][1] for n in names] + [layout.itemsize] == list(map(int, printed))
    assert names == ("tag", "at[0].x", "at[0].y", "at[1].x", "at[1].y", "mass", "v.x", "v.y", "k")
    assert layout["k"].shape == (3,) and layout["mass"] == np.float64


def test_the_parameter_list_is_kept_as_written(tmp_path: Path) -> None:
    found = spec(
        tmp_path,
        "void f(int n, /* the ( input */ const float *x,\n  float y[n]) { for (int i = 0; i < n; i++) y[i] = x[i]; }",
    )
    assert found.original_parameters == "int n, const float *x, float y[n]"


def test_the_definition_can_be_cut_out_and_replaced(tmp_path: Path) -> None:
    task = load(written(tmp_path, "/* ü */\n" + HEAT), "heat")
    assert original_text(task).startswith("void heat(") and original_text(task).endswith("}\n}")
    cut = without_body(task, "void heat(int h, int w, int steps, float *u, float *v);")
    assert "float *s = u" not in cut and cut.endswith(HEAT[HEAT.index("float sum") :])
    subprocess.run(["cc", "-c", written(tmp_path, cut, "host.c"), "-o", tmp_path / "host.o"], check=True)


EACH = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            f"void f(int n, float **a) {{\n {EACH} a[i] = a[0]; }}",
            "f.c:2:30: 'a' is not supported yet: pointer to a pointer, where the pointer a[i] is set",
        ),
        (
            f"void f(int n, void *a) {{ {EACH} ((float *)a)[i] = 1; }}",
            "'a' is not supported yet: pointer to void",
        ),
        (
            f"struct p {{ int v[2]; }}; void g(struct p); void f(int n, struct p p) {{ {EACH} g(p); }}",
            "passed by value, where p is copied as a whole",
        ),
        (f"float *f(int n, float *x) {{ {EACH} x[i] = 1; return x; }}", "result that is no number"),
        (f"float *g; void f(int n) {{ {EACH} g[i] = 1; }}", "'g' is not supported yet: global pointer"),
        (
            f"struct s {{ float *p; }}; void f(int n, struct s *x) {{ {EACH} x[i].p = 0; }}",
            "'s.p' is not supported",
        ),
        (
            f"void f(int n, float *x) {{ {EACH} switch (n) {{ case 1: continue; case 2: x[0] = 1; default: ; }} }}",
            "yet: switch statement",
        ),
        (f"void f(int n, long double *x) {{ {EACH} x[i] = 1; }}", "not supported yet: long double"),
        (
            "struct m { int n; float *v; }; void f(struct m *a) { for (int i = 0; i < a->n; i++) a[i].v[i] = 1; }",
            "'m.v' is not supported yet: pointer inside a struct, where a is used as a whole",
        ),
        ("void g(void) { }", "no function 'f' is defined here; there are: g"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        spec(tmp_path, source)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_give_no_task(tmp_path: Path) -> None:
    (tmp_path / "latin.c").write_bytes(b"int a;\n/* caf\xe9 */")
    (tmp_path / "huge.c").write_bytes(b" " * (LARGEST_SOURCE + 1))
    (tmp_path / "empty.c").touch()
    written(tmp_path, "int main(void) { return 0; }\nint g(int a) { return a; }", "none.c")
    for name, said in {
        "absent.c": "absent.c: no such file; check the path",
        ".": "this is a directory; give a C file in it",
        "latin.c": "latin.c:2: the file is not UTF-8 text; save it as UTF-8",
        "huge.c": "the file is too large (4.0 MiB, at most 4)",
        "empty.c": "the file is empty",
        "none.c": "no function worth porting (main: is the program's entry; g: has no loop)",
    }.items():
        with pytest.raises(SourceError) as caught:
            load(tmp_path / name, None)
        assert said in str(caught.value) and "\n" not in str(caught.value)


def test_annotations_and_their_file(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "// cudaperf: alpha in 0..0.25, steps in 1..20; out y[n * 2]\n"
        "void f(int n, int steps, float alpha, const int *p, const float *x, float *y) {\n"
        "  /* cudaperf: x[n] */\n"
        "  for (int t = 0; t < steps; t++) for (int i = 0; i < n; i++) y[i] += alpha * x[p[i]];\n}\n"
        "void g(int n, float *x) { for (int i = 0; i < n; i++) x[i] = 1; } // cudaperf: x[3]\n",
    )
    told = {p.name: p for p in load(source, "f").function.parameters}
    assert (told["alpha"].low, told["alpha"].high) == (0, 0.25)
    assert (told["steps"].low, told["steps"].high) == (1, 20)
    assert told["y"].role == "out" and told["y"].shape == ("n * 2",)
    assert told["x"].shape == ("n",) and (told["p"].low, told["p"].high_expr) == (0, "n - 1")
    assert load(source, "g").function.arrays[0].shape == ("n",)
    toml = '[function.f.y]\nextent = "n"\nrole = "inout"\n[function.f.p]\nlow = 0\nhigh = "n / 2"\n'
    written(tmp_path, toml, "f.cudaperf.toml")
    told = {p.name: p for p in load(source, "f").function.parameters}
    assert told["y"].role == "inout" and told["y"].shape == ("n",) and told["p"].high_expr == "n / 2"


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("// cudaperf: z[n]", "f.c:1:1: the annotation names 'z', which f() has no parameter or global for"),
        ("// cudaperf: x[m]", "names 'm'"),
        (
            "/* cudaperf: x has n elements */",
            "cannot read the annotation 'x has n elements'; write for example",
        ),
    ],
)
def test_annotations_that_fit_nothing_are_refused(tmp_path: Path, comment: str, said: str) -> None:
    source = f"{comment}\nvoid f(int n, float *x) {{ for (int i = 0; i < n; i++) x[i] = 1; }}"
    with pytest.raises(SourceError) as caught:
        spec(tmp_path, source)
    assert said in str(caught.value)


def test_a_compilation_database_gives_the_flags(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "src").mkdir()
    written(tmp_path / "include", "typedef float real;\n", "real.h")
    source = '#include "real.h"\nvoid f(real x[N]) { for (int i = 0; i < N; i++) x[i] = 1; }'
    path = written(tmp_path / "src", source)
    command = "cc -O2 -Iinclude -DN=12 -Wall -c src/f.c -o f.o"
    entry = {"directory": str(tmp_path), "command": command, "file": "src/f.c"}
    written(tmp_path, json.dumps([entry]), "compile_commands.json")
    task = load(path, None)
    assert task.function.arrays[0].shape == ("12",)
    assert task.flags == (f"-I{tmp_path}/include", "-DN=12")
    assert load(path, None, ("-DN=3", f"-I{tmp_path}/include")).function.arrays[0].shape == ("3",)


def test_functions_and_types_of_own_headers_are_used(tmp_path: Path) -> None:
    written(tmp_path, "static inline int at(int i, int j, int w) { return i * w + j; }\n", "at.h")
    source = '#include "at.h"\nvoid f(int h, int w, int *x) { for (int i = 0; i < h; i++)\n'
    source += "  for (int j = 0; j < w; j++) x[at(i, j, w)] = i; }"
    task = load(written(tmp_path, source), None)
    assert task.name == "f" and task.function.arrays[0].shape == ("h * w",)

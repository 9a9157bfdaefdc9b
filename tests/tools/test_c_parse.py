"""Parsing: what libclang sees arrives in the tree, and what C cannot be is said in one line."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from cudaperf_agent.tools.c import ast
from cudaperf_agent.tools.c.lower import literal_text
from cudaperf_agent.tools.c.parse import SourceError, parse


def body(source: str, name: str = "f") -> tuple[ast.Stmt, ...]:
    unit = parse("f.c", source)
    assert not unit.unsupported
    return unit.functions[name].body.body


def expression(source: str) -> ast.Expr:
    (statement,) = body(source)
    assert isinstance(statement, ast.Evaluate)
    return statement.expression


def test_implicit_casts_and_parentheses_leave_no_node() -> None:
    tree = expression("void f(int n, float *x) { x[0] = (n + 1) * 0.5; }")
    assert isinstance(tree, ast.Assign) and tree.type.spelling == "float"
    assert isinstance(tree.value, ast.Binary) and tree.value.type.spelling == "double"
    assert isinstance(tree.value.left, ast.Binary) and tree.value.left.type.spelling == "int"


def test_macros_are_expanded_and_keep_the_place_of_their_use() -> None:
    tree = expression("#define AT(i, j) a[(i) * 8 + (j)]\nvoid f(int *a) {\n  AT(1, 2) = 3; }")
    assert isinstance(tree, ast.Assign) and isinstance(tree.target, ast.Subscript)
    assert tree.place.line == 3
    assert isinstance(tree.target.index, ast.Binary) and tree.target.index.op == "+"


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        ("0.1f", 0.1, "0.1f"),
        ("1e-3", 1e-3, "1e-3"),
        ("0x1fUL", 31, "0x1fUL"),
        ("'a'", 97, "'a'"),
        ("sizeof(int[3])", 12, "12"),
        ("TENTH", 0.1, "0.1f"),
        ("LIMIT", 3000000000, "3000000000ul"),
        ("INFINITY", float("inf"), "INFINITY"),
    ],
)
def test_constants_have_their_value_and_a_spelling_that_reads_back(
    written: str, value: float, text: str
) -> None:
    head = "#include <math.h>\n#define TENTH 1.0e-1f\n#define LIMIT 3000000000ul\n"
    tree = expression(f"{head}void f(double *x) {{ x[0] = {written}; }}")
    assert isinstance(tree, ast.Assign) and isinstance(tree.value, ast.Literal)
    assert tree.value.value == pytest.approx(value, rel=1e-7)
    assert tree.value.text == text


def test_the_shortest_spelling_of_any_float_reads_back() -> None:
    single = ast.CType("float", "float", 4)
    for bits in range(1, 0x7F800000, 0x01234567):
        (value,) = struct.unpack("f", struct.pack("I", bits))
        text = literal_text(value, single)
        assert struct.pack("f", float(text.rstrip("f"))) == struct.pack("f", value)


@pytest.mark.parametrize(
    ("head", "present"),
    [
        ("int i = 0; i < n; i++", (True, True, True)),
        ("; n > 0; n--", (False, True, True)),
        ("; n > 0;", (False, True, False)),
        ("; ; n--", (False, False, True)),
        (";;", (False, False, False)),
        ("n = 3; ; ", (True, False, False)),
    ],
)
def test_parts_of_a_for_that_are_missing_are_none(head: str, present: tuple[bool, ...]) -> None:
    (loop,) = body(f"void f(int n) {{ for ({head}) {{ break; }} }}")
    assert isinstance(loop, ast.For)
    assert tuple(part is not None for part in (loop.init, loop.condition, loop.step)) == present


def test_a_loop_from_a_macro_is_a_loop() -> None:
    (loop,) = body(
        "#define EACH(i, n) for (int i = 0; i < n; i++)\nvoid f(int n, int *x) { EACH(k, n) x[k] = k; }"
    )
    assert isinstance(loop, ast.For) and loop.condition is not None


def test_arrays_of_variable_size_know_their_lengths() -> None:
    unit = parse("f.c", "void f(int n, int m, const float a[n][m + 1]) { float t[n][4]; t[0][1] = a[0][1]; }")
    function = unit.functions["f"]
    outer = function.parameters[2].type
    assert isinstance(outer.length, ast.Name) and outer.length.name == "n"
    assert outer.element is not None and isinstance(outer.element.length, ast.Binary)
    assert outer.element.element is not None and outer.element.element.const
    declared = function.body.body[0]
    assert isinstance(declared, ast.Declare)
    local = declared.variables[0].type
    assert isinstance(local.length, ast.Name) and local.element is not None and local.element.length == 4


def test_structs_carry_their_layout() -> None:
    unit = parse(
        "f.c",
        "typedef struct { double x; char c; float v[3]; } P; struct q { P p; int n; };"
        "void f(struct q *a, int i) { a[i].p.v[1] = 2; a->n = 3; }",
    )
    offsets = {f.name: f.offset for f in unit.structs["P"].fields}
    assert offsets == {"x": 0, "c": 8, "v": 12}
    assert unit.structs["q"].size == 32 and unit.structs["q"].spelling == "struct q"


@pytest.mark.parametrize(
    ("statement", "construct"),
    [
        (
            "switch (n) { case 1: n = 2; case 3 ... 4: break; }",
            "switch statement that falls through with a range, a continue or a variable of two arms",
        ),
        ("goto end; end: n = 1;", "goto"),
        ('__asm__("nop");', "inline assembly"),
        ("n = ({ 3; });", "statement expression"),
        ("x = (float[]){1, 2};", "compound literal of an array, or whose address is taken"),
        ("struct { int a : 3; } b; b.a = n;", "bit-field"),
        ("union { int a; float b; } u; u.a = n;", "union"),
        ("long double y = 3; n = y;", "long double"),
        ("_Complex int y; n = 1;", "complex number of integers"),
        ("void (*g)(int) = 0; g(n);", "function pointer"),
        ("volatile int y = n; n = y;", "volatile object"),
        ("n = _Generic(n, int: 1, default: 2);", "_Generic"),
        ("_Atomic int y; n = y;", "atomic type"),
        ("_Float16 y = 1; n = y;", "type that is not standard C"),
    ],
)
def test_what_the_tree_does_not_cover_is_named_with_its_line(statement: str, construct: str) -> None:
    unit = parse("f.c", f"void g(int n) {{ n++; }}\nvoid f(int n, float *x) {{\n  {statement}\n}}\n")
    assert set(unit.functions) == {"g"}
    name, place = unit.unsupported["f"]
    assert name == construct and place.line == 3


def test_offsets_cut_out_exactly_the_definition() -> None:
    source = (
        "/* Größe: ü */\n"
        "#define API __attribute__((noinline))\n"
        "API static void f(int n /* é */) {\n  n = 'a'; // }\n}\nint g(void) { return 1; }\n"
    )
    function = parse("f.c", source).functions["f"]
    text = source.encode()[function.start : function.end].decode()
    assert text.startswith("API static void f") and text.endswith("// }\n}")
    assert source.encode()[function.body_start : function.body_start + 1] == b"{"
    assert function.static


def test_declarations_are_valid_c(tmp_path: Path) -> None:
    source = (
        "void f(const float (*a)[4], float *const b, float c[2][3], const char **d, unsigned long long e) { }"
    )
    function = parse("f.c", source).functions["f"]
    text = "\n".join(f"extern {ast.declare(p.type, p.name)};" for p in function.parameters)
    (tmp_path / "d.c").write_text(text)
    subprocess.run(["cc", "-fsyntax-only", "-Werror", tmp_path / "d.c"], check=True)


def test_pragmas_of_openmp_are_kept_with_their_lines() -> None:
    source = "void f(int n, int *x) {\n#pragma omp parallel for \\\n    schedule(static)\n  for (;;) x[0] = n;\n}\n"
    assert parse("f.c", source).pragmas == ((2, "parallel for schedule(static)"),)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "the file is empty; give a C file that defines a function"),
        ("hello world\n", "f.c:1:1: unknown type name 'hello'"),
        ("int f(void) {\n  return 1\n}\n", "f.c:2:11: expected ';' after return statement"),
        (
            '#include "absent.h"\n',
            "header 'absent.h' not found; add -Idir after --, where dir holds absent.h",
        ),
        ("void f(void) { x = 1; }", "or add the missing -DNAME=VALUE or -Idir after --"),
        ("int f(void) { return 1;\0 }", "the file is not text"),
    ],
)
def test_what_is_no_c_is_said_in_one_line(source: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse("f.c", source)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_flags_reach_the_parser_and_foreign_ones_do_not(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define N (2 * M)\n")
    source = '#include "size.h"\nvoid f(float x[N]) { x[0] = 1; }'
    flags = ("-O3", "-march=native", "-fopenmp", f"-I{tmp_path}", "-D", "M=4", "-lm")
    parameter = parse("f.c", source, flags).functions["f"].parameters[0]
    assert parameter.type.length == 8


def test_assertions_are_left_out() -> None:
    (statement,) = body("#include <assert.h>\nvoid f(int n, int *x) { assert(n > 0); x[0] = n; }")[1:]
    assert isinstance(statement, ast.Evaluate)

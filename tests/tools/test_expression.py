"""Extents are evaluated as C would."""

import ctypes
import subprocess

import pytest
from cudaperf_agent.tools.c.expression import evaluate
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("n", "w")


def expressions():
    leaves = st.sampled_from(NAMES) | st.integers(1, 9).map(str)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*/%<>"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} > 3 ? {t[1]} : {t[2]})"),
        ),
        max_leaves=6,
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """One library with a hundred generated expressions, each a function of n and w."""
    texts: list[str] = []

    @given(expressions())
    def collect(text):
        texts.append(text)

    collect()
    folder = tmp_path_factory.mktemp("expressions")
    guarded = [t for t in dict.fromkeys(texts) if "/" not in t and "%" not in t][:60]
    divided = [f"({a} {op} {b})" for a in ("n", "(w - n)", "-n") for op in "/%" for b in ("w", "3")]
    chosen = guarded + divided
    source = "".join(f"long f{i}(long n, long w) {{ return {t}; }}\n" for i, t in enumerate(chosen))
    (folder / "e.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "e.c", "-o", "e.so"], cwd=folder, check=True)
    return chosen, ctypes.CDLL(str(folder / "e.so"))


def test_same_values_as_the_c_compiler(compiled):
    texts, library = compiled
    for i, text in enumerate(texts):
        function = getattr(library, f"f{i}")
        function.restype, function.argtypes = ctypes.c_long, [ctypes.c_long, ctypes.c_long]
        for n, w in ((1, 1), (7, 3), (2, 9)):
            assert evaluate(text, {"n": n, "w": w}) == function(n, w), text


@pytest.mark.parametrize("bad", ["n +", "m", "f(n)", "n; w"])
def test_refuses_what_is_no_extent(bad):
    with pytest.raises(ValueError, match=r"\S"):
        evaluate(bad, {"n": 4})


def test_a_division_by_zero_is_told_apart():
    with pytest.raises(ZeroDivisionError, match="n / 0"):
        evaluate("n / 0", {"n": 4})

"""What the C library's functions do, as far as the analyses need to know."""

from __future__ import annotations

from . import ast

MATH = frozenset(
    [
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos"),
        *("cosh", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax"),
        *("fmin", "fmod", "hypot", "ilogb", "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log"),
        *("log10", "log1p", "log2", "logb", "lrint", "lround", "nearbyint", "nextafter", "pow", "remainder"),
        *("rint", "round", "scalbln", "scalbn", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
        *("y0", "y1", "yn"),
    ]
)
"""The functions of math.h that compute a double from values; each exists with the suffixes f and l too."""

PUNS = frozenset(["__float_as_int", "__int_as_float", "__double_as_longlong", "__longlong_as_double"])
"""CUDA's intrinsics for the bits of a number: what the tree has in the place of pointers cast to another type."""

PURE = frozenset(
    [
        *PUNS,
        *(name + suffix for name in MATH for suffix in ("", "f", "l")),
        *("abs", "labs", "llabs"),
        *("isnan", "isinf", "isfinite", "isnormal", "signbit", "isinf_sign", "fpclassify"),
        *("isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"),
        *("__isnan", "__isinf", "__finite", "__signbit", "__isnanf", "__isinff", "__finitef", "__signbitf"),
        *("popcount", "popcountl", "popcountll", "clz", "clzl", "clzll", "ctz", "ctzl", "ctzll"),
        *("expect", "unreachable", "bswap16", "bswap32", "bswap64"),
    ]
)
"""Functions that neither read nor write memory; compilers' builtins without their prefix."""

SPEAKS = {
    **dict.fromkeys(
        ("printf", "fprintf", "puts", "fputs", "putchar", "fputc", "fflush", "perror"), "stdio.h"
    ),
    **dict.fromkeys(("exit", "abort"), "stdlib.h"),
    **dict.fromkeys(("clock", "time", "difftime"), "time.h"),
}
"""Functions that print, tell the time or end the program, with their headers: a host has them, threads do not."""

_RANDOM = (
    "keeps its state from call to call: draw the numbers before, or write a generator with a state of its own"
)
_FILES = "reads or writes files: do so before and after the function that is ported"
HOSTED = {
    **dict.fromkeys(
        ("rand", "srand", "random", "srandom", "drand48", "srand48", "lrand48", "rand_r"), _RANDOM
    ),
    **dict.fromkeys(
        ("fopen", "fclose", "fread", "fwrite", "fscanf", "scanf", "fgets", "getchar", "getc"), _FILES
    ),
}
"""Functions that stay with the caller of a port, and why."""

COPIES = frozenset(["memcpy", "memmove"])
ALLOCATES = frozenset(["malloc", "calloc", "aligned_alloc"])


def is_told(argument: ast.Expr) -> bool:
    """Whether an argument is a number, or a string that stands in the source."""
    if isinstance(argument, ast.Conditional):
        return is_told(argument.then) and is_told(argument.otherwise)
    return argument.type.element is None or isinstance(argument, ast.Literal)

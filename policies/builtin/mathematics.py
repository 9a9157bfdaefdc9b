"""The functions of the C library that device code may call, and the parameters that C gives them.

CUDA has the functions of C's <math.h> under their own names (CUDA C++ Programming Guide, "Mathematical Functions"),
but C++ overloads those for double: ``sqrt`` of a float must be told to compute in double, as in C.
"""

from __future__ import annotations

_ONE = """
    acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor ilogb lgamma llrint
    llround log log10 log1p log2 logb lrint lround nearbyint rint round sin sinh sqrt tan tanh tgamma trunc
""".split()  # noqa: SIM905
_TWO = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder".split()  # noqa: SIM905

_PARAMETERS: dict[str, tuple[str, ...]] = {
    **{name: ("double",) for name in _ONE},
    **{f"{name}f": ("float",) for name in _ONE},
    **{name: ("double", "double") for name in _TWO},
    **{f"{name}f": ("float", "float") for name in _TWO},
    "fma": ("double", "double", "double"),
    "fmaf": ("float", "float", "float"),
    "ldexp": ("double", "int"),
    "ldexpf": ("float", "int"),
    "scalbn": ("double", "int"),
    "scalbnf": ("float", "int"),
    "__float_as_int": ("float",),
    "__int_as_float": ("int",),
    "__double_as_longlong": ("double",),
    "__longlong_as_double": ("long long",),
    "abs": ("int",),
    "labs": ("long",),
    "llabs": ("long long",),
    # Macros in C that take any floating type.
    "isnan": (),
    "isinf": (),
    "isfinite": (),
    "signbit": (),
}


def is_library_function(name: str) -> bool:
    """Whether device code may call this function of the C library; none of them touches memory."""
    return name in _PARAMETERS


def parameters_of(name: str) -> tuple[str, ...]:
    """The types of the function's parameters in C; empty where they are not fixed."""
    return _PARAMETERS.get(name, ())

"""Names of kernels as C++ spells them."""

from __future__ import annotations


def without_parameters(signature: str) -> str:
    """``ns::k<(Kind)1>`` of ``ns::k<(Kind)1>(float*)``."""
    depth = 0
    for i, character in enumerate(signature):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "(" and depth == 0:
            return signature[:i]
    return signature

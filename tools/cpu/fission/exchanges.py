"""The exchanges within a warp that loops over its lanes can do, and what stands for them there.

What each lane gives is stored by one loop; a later loop takes from it, so that an exchange parts a statement in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .parts import NotSimple

_SHUFFLES = {
    "__shfl_sync": "shuffled",
    "__shfl_up_sync": "shuffled_up",
    "__shfl_down_sync": "shuffled_down",
    "__shfl_xor_sync": "shuffled_xor",
}
_VOTES = {
    "__ballot_sync": "{0}",
    "__any_sync": "static_cast<int>({0} != 0)",
    "__all_sync": "static_cast<int>({0} == ~0u)",
}
_FOLDS = {
    "__reduce_add_sync": "add",
    "__reduce_min_sync": "minimum",
    "__reduce_max_sync": "maximum",
    "__reduce_and_sync": "bit_and",
    "__reduce_or_sync": "bit_or",
    "__reduce_xor_sync": "bit_xor",
}
EXCHANGES = {*_SHUFFLES, *_VOTES, *_FOLDS, "__syncwarp", "__activemask"}
# Those that give all lanes of the warp the same.
OF_WARP = {*_VOTES, *_FOLDS, "__activemask"}
_FULL = re.compile(r"(?:0[xX][fF]{8}[uUlL]*|~0[uUlL]*|-1|4294967295[uUlL]*|__activemask\(\))")


@dataclass(frozen=True)
class Exchange:
    """`storage` is declared once for the warp, `before` runs before its lanes give, each by `give`; `taken` is the
    expression that stands for the call."""

    storage: str
    before: str
    give: str
    taken: str


def exchange(name: str, arguments: Sequence[str], number: int) -> Exchange:
    """What stands for a call among whole warps; the arguments but for the mask. Raises NotSimple."""
    values = f"cudaperf_{number}"
    if name in _SHUFFLES and len(arguments) in (2, 3):
        type_ = f"decltype({name}(~0u, {arguments[0]}, 0))"
        give = f"::cudaperf::give<{type_}>({values}, cudaperf_in_warp, {arguments[0]});"
        taken = (
            f"::cudaperf::{_SHUFFLES[name]}<{type_}>({values}, cudaperf_in_warp, {', '.join(arguments[1:])})"
        )
        return Exchange(f"::cudaperf::Lanes {values};", "", give, taken)
    if len(arguments) != 1:
        raise NotSimple
    storage, before = f"unsigned int {values};", f"{values} = 0;"
    if name in _VOTES:
        give = f"::cudaperf::vote({values}, cudaperf_in_warp, {arguments[0]});"
        return Exchange(storage, before, give, _VOTES[name].format(values))
    type_, operation = f"decltype({name}(~0u, {arguments[0]}))", f"::cudaperf::WarpOperation::{_FOLDS[name]}"
    give = f"::cudaperf::fold<{type_}, {operation}>({values}, cudaperf_in_warp, {arguments[0]});"
    return Exchange(storage, before, give, f"static_cast<{type_}>({values})")


def is_full(mask: str, value_of: Callable[[str], str]) -> bool:
    """Whether a mask's text names all lanes; `value_of` gives the text of a constant's value, or nothing."""
    for _ in range(8):
        mask = "".join(mask.split())
        while mask.startswith("(") and mask.endswith(")"):
            mask = mask[1:-1]
        mask = re.sub(r"^\((?:unsigned|unsignedint|uint32_t|int)\)", "", mask)
        if _FULL.fullmatch(mask):
            return True
        if not mask.isidentifier():
            return False
        mask = value_of(mask)
    return False

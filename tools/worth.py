"""Says, before a port is used, where it would be slower than what it replaces."""

from __future__ import annotations

from .profiling import Profile
from .roofline import LAUNCH_SECONDS

# From so many launches on, what a launch costs may decide.
MANY_LAUNCHES = 10


def reservations(profile: Profile, original_seconds: float) -> tuple[str, ...]:
    """What speaks against a port, given the seconds that the original takes on one core in the profile's case.

    An estimate bounds the port's time from below: where even that exceeds the original's, the port is slower.
    """
    estimate = profile.estimate
    measured = profile.milliseconds is not None
    milliseconds = profile.milliseconds if profile.milliseconds is not None else estimate.total_us / 1e3
    found = []
    if milliseconds >= original_seconds * 1e3:
        what = f"{milliseconds:.3f} ms on {estimate.gpu}{'' if measured else ' at least'}"
        found.append(
            f"slower than the original at this size: {what}, where one core here takes "
            f"{original_seconds * 1e3:.3f} ms; use it for larger inputs only, or where the data is on the GPU already"
        )
    launches = sum(k.launches for k in profile.counts)
    if launches >= MANY_LAUNCHES:
        found.append(
            f"{launches} launches follow one another, each at least {LAUNCH_SECONDS * 1e6:.1f} us: slower than the "
            f"original where that does such a step in less; here it takes {original_seconds * 1e6 / launches:.1f} us"
        )
    return tuple(found)

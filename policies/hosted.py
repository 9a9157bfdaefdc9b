"""Hosted language models. Wired, not built yet: it says what is missing."""

from __future__ import annotations

import importlib.util

from .base import Policy, PolicyError


def hosted_policy(model: str) -> Policy:
    """The policy of `--model provider/name`. Raises PolicyError saying what to install or set."""
    if "/" not in model:
        raise PolicyError(f"--model {model}: name it as provider/name, for example --model openai/gpt-5")
    if importlib.util.find_spec("litellm") is None:
        raise PolicyError(
            f"--model {model}: hosted models need litellm, which is not installed; "
            "run: pip install 'cudaperf-agent[llm]', or use --policy builtin"
        )
    raise PolicyError(
        f"--model {model}: hosted models are not supported yet; use --policy builtin or recorded:FILE"
    )

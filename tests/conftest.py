"""Runs the product's own command, with its runs in a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "c"


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str


@pytest.fixture
def command(tmp_path):
    """Call as `command("translate", "f.c")`; the working folder is the test's own."""

    def run(*arguments: str | Path, timeout: float = 300) -> Answer:
        done = subprocess.run(
            [Path(sys.executable).parent / "cudaperf-agent", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"CUDAPERF_HOME": str(tmp_path / "home"), "COLUMNS": "200", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def examples() -> Path:
    return EXAMPLES

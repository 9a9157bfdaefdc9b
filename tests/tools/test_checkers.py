"""Every program of examples/checkers: the correct ones raise no alarm, each planted bug is found at its line."""

import re
from pathlib import Path

import pytest
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Checks
from cudaperf_agent.tools.program import read_program

FOLDER = Path(__file__).parents[2] / "examples" / "checkers"
EVERYTHING = Checks(bounds=True, races=True, uninitialized=True)


def emulated(path: Path, folder: Path, seconds: float):
    return CpuDevice("source").emulate(read_program([path]), [], seconds, EVERYTHING, folder, captured=True)


@pytest.mark.parametrize("path", sorted((FOLDER / "correct").glob("*.cu")), ids=lambda p: p.stem)
def test_correct_program_raises_no_alarm(path, tmp_path):
    ran = emulated(path, tmp_path, 20)
    assert (ran.failure, ran.findings, ran.status) == (None, (), 0), ran.stdout


@pytest.mark.parametrize("path", sorted((FOLDER / "planted").glob("*.cu")), ids=lambda p: p.stem)
def test_planted_bug_is_found_at_its_line(path, tmp_path):
    text = path.read_text()
    rule = re.search(r"^// expect: (\S+)", text, re.MULTILINE)[1]
    lines = [i for i, line in enumerate(text.splitlines(), 1) if "// <--" in line]
    ran = emulated(path, tmp_path, 5)
    found = [f for f in ran.findings if f.rule == rule]
    assert found, ran.findings
    assert not lines or {f.line for f in found} & set(lines), found
    assert all(f.file == str(path) for f in found if f.line)

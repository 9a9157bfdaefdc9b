"""A run that is killed at any event goes on by its id and ends as an undisturbed one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Kills the command with SIGKILL right after its log's Nth event is on disk.
KILLER = """
import os, signal, sys
from cudaperf_agent.agent import run
write, count, last = run._write, 0, int(sys.argv[1])
def killing(path, event):
    global count
    write(path, event)
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)
run._write = killing
from cudaperf_agent.agent.cli import main
sys.argv = ["cudaperf-agent", *sys.argv[2:]]
main()
"""


def summary(home: Path) -> dict:
    """What must not depend on interruptions: candidates, verdicts, rewards and the outcome."""
    (log,) = (home / "runs").glob("*/events.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    kept: dict = {"proposals": [], "verdicts": [], "rewards": []}
    for e in events:
        if e["kind"] == "proposal":
            kept["proposals"].append((e["turn"], e["data"]["text"]))
        elif e["kind"] == "test":
            kept["verdicts"].append((e["turn"], e["data"]["verdict"]))
        elif e["kind"] == "reflection":
            kept["rewards"].append((e["turn"], e["data"]["reward"]["total"]))
        elif e["kind"] == "end":
            kept["end"] = e["data"]
    return kept


def environment(home: Path) -> dict[str, str]:
    return os.environ | {"CUDAPERF_HOME": str(home), "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Three recorded answers: one that does not compile, one that is wrong, one that is right."""
    folder = tmp_path_factory.mktemp("answers")
    kernel = """__global__ void scale(int n, float *x) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= {factor};
}}
extern "C" void launch_scale(int n, float *x) {{ if (n > 0) scale<<<(n + 127) / 128, 128>>>(n, x); }}
"""
    for name, factor in (("1", "undeclared"), ("2", "3.0f"), ("3", "2.0f")):
        (folder / f"{name}.cu").write_text(kernel.format(factor=factor))
    (folder / "scale.c").write_text(
        "void scale(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n"
    )
    return folder


def translate(answers: Path, home: Path) -> list[str]:
    return ["translate", str(answers / "scale.c"), "--policy", f"recorded:{answers}", "-o", str(home / "out")]


@pytest.fixture(scope="module")
def undisturbed(answers, tmp_path_factory):
    home = tmp_path_factory.mktemp("undisturbed")
    subprocess.run(
        [sys.executable, "-c", KILLER, "0", *translate(answers, home)],
        env=environment(home),
        check=True,
        timeout=300,
    )
    return summary(home)


def test_the_undisturbed_run_is_as_planned(undisturbed):
    assert [v for _, v in undisturbed["verdicts"]] == ["wrong-result", "right"]
    assert undisturbed["end"]["status"] == 0 and undisturbed["end"]["best"] == 2


def test_killed_at_every_event(answers, undisturbed, tmp_path):
    """Each round kills one event later; the last one is not killed at all."""
    at = 1
    while True:
        home = tmp_path / str(at)
        killed = subprocess.run(
            [sys.executable, "-c", KILLER, str(at), *translate(answers, home)],
            env=environment(home),
            timeout=300,
            capture_output=True,
            check=False,
        )
        (run,) = (p.name for p in (home / "runs").iterdir())
        resumed = subprocess.run(
            [Path(sys.executable).parent / "cudaperf-agent", "runs", "resume", run],
            env=environment(home),
            timeout=300,
            capture_output=True,
            text=True,
            check=False,
        )
        assert summary(home) == undisturbed, f"killed after event {at}: {resumed.stderr}"
        if killed.returncode == 0:
            break
        at += 1
    assert at > 12


def test_a_torn_last_line_never_happened(answers, undisturbed, tmp_path):
    subprocess.run(
        [sys.executable, "-c", KILLER, "6", *translate(answers, tmp_path)],
        env=environment(tmp_path),
        timeout=300,
        check=False,
        capture_output=True,
    )
    (log,) = (tmp_path / "runs").glob("*/events.jsonl")
    with log.open("ab") as file:
        file.write(b'{"kind":"test","tur')
    subprocess.run(
        [Path(sys.executable).parent / "cudaperf-agent", "runs", "resume", log.parent.name],
        env=environment(tmp_path),
        timeout=300,
        check=True,
        capture_output=True,
    )
    assert summary(tmp_path) == undisturbed


def test_control_c_names_the_run_to_resume(answers, tmp_path):
    command = [Path(sys.executable).parent / "cudaperf-agent", *translate(answers, tmp_path)]
    # As in a terminal: a background job would ignore the signal.
    terminal = (
        "import os, signal as s, sys; s.signal(s.SIGINT, s.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", terminal, *command],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "turn 1" in line:
            break
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(timeout=60) == 130
    (run,) = (p.name for p in (tmp_path / "runs").iterdir())
    assert f"runs resume {run}" in rest and "Traceback" not in rest

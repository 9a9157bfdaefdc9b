"""The sandbox lets a program reach what it was given, and nothing else; where the kernel can enforce it."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
from cudaperf_agent.tools import sandbox

needs = pytest.mark.skipif(
    set(sandbox.PROTECTIONS) - set(sandbox.probe()) != set(), reason="this kernel lacks a protection"
)
PYTHON = Path("/usr/bin/python3") if Path("/usr/bin/python3").exists() else Path(sys.executable)


def python(text: str, folder: Path, **options):
    return sandbox.run([PYTHON, "-c", text], cwd=folder, seconds=options.pop("seconds", 20), **options)


def test_output_status_and_input(tmp_path):
    done = sandbox.run(["sh", "-c", "cat; echo two >&2; exit 3"], cwd=tmp_path, seconds=10, stdin=b"one")
    assert (done.stdout, done.stderr, done.returncode, done.signal) == (b"one", b"two\n", 3, None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_the_signal_that_ended_it_is_told(tmp_path, number):
    done = sandbox.run(["sh", "-c", f"kill -{int(number)} $$"], cwd=tmp_path, seconds=10)
    assert (done.returncode, done.signal, done.timed_out) == (None, number, False)


def test_environment_is_clean(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hidden")
    done = sandbox.run(["env"], cwd=tmp_path, seconds=10, environment={"GIVEN": "1"})
    assert (
        b"SECRET_KEY" not in done.stdout
        and b"GIVEN=1" in done.stdout
        and f"HOME={tmp_path}".encode() in done.stdout
    )


@needs
def test_no_network(tmp_path):
    for family in ("AF_INET", "AF_INET6"):
        done = python(f"import socket; socket.socket(socket.{family})", tmp_path)
        assert b"PermissionError" in done.stderr


@needs
def test_only_named_folders_can_be_read(tmp_path):
    secret, shared, own = (tmp_path / name for name in ("secret", "shared", "own"))
    for folder in (secret, shared, own):
        folder.mkdir()
        (folder / "file").write_text("content")
    for path in (secret / "file", Path.home() / ".profile", Path("/etc/passwd")):
        assert b"content" not in sandbox.run(["cat", path], cwd=own, seconds=10).stdout
        assert sandbox.run(["cat", path], cwd=own, seconds=10).returncode == 1
    assert sandbox.run(["cat", shared / "file"], cwd=own, seconds=10, readable=[shared]).stdout == b"content"
    assert sandbox.run(["cat", "file"], cwd=own, seconds=10).stdout == b"content"


@needs
def test_only_named_folders_can_be_written(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "out").mkdir()
    escape = Path(tempfile.gettempdir()) / "cudaperf-escape"
    script = f"echo a > {tmp_path}/out/a; echo b > b; echo c > {tmp_path}/c; echo d > {escape}"
    sandbox.run(["sh", "-c", script], cwd=tmp_path / "own", seconds=10, writable=[tmp_path / "out"])
    assert (tmp_path / "out" / "a").exists()
    assert not any(p.exists() for p in (tmp_path / "own" / "b", tmp_path / "c", escape))


@needs
def test_other_processes_are_out_of_reach(tmp_path):
    done = python(f"import os; os.kill({os.getpid()}, 9)", tmp_path)
    assert b"ProcessLookupError" in done.stderr or b"PermissionError" in done.stderr


def test_a_timeout_kills_all_descendants(tmp_path):
    loop = "while true; do date > {}; sleep 0.05; done"
    script = f"({loop.format('alive')}) & setsid sh -c '{loop.format('alive2')}' & wait"
    done = sandbox.run(["sh", "-c", script], cwd=tmp_path, seconds=0.4, writable=[tmp_path])
    assert done.timed_out and done.seconds < 3
    files = [tmp_path / "alive", tmp_path / "alive2"]
    time.sleep(0.1)
    before = [f.stat().st_mtime_ns for f in files]
    time.sleep(0.3)
    assert before == [f.stat().st_mtime_ns for f in files]


def test_memory_and_file_size_are_limited(tmp_path):
    done = python("x = bytearray(1 << 30)", tmp_path, memory_bytes=256 << 20)
    assert b"MemoryError" in done.stderr
    done = python(
        "open('big', 'wb').write(bytes(1 << 24))", tmp_path, writable=[tmp_path], file_bytes=1 << 20
    )
    assert (tmp_path / "big").stat().st_size <= 1 << 20 and done.returncode != 0


def test_a_flood_of_output_is_cut(tmp_path):
    done = sandbox.run(["sh", "-c", "yes"], cwd=tmp_path, seconds=1, file_bytes=8 << 20)
    assert len(done.stdout) == sandbox.OUTPUT_BYTES

"""Runs untrusted programs: no network, no files but the named ones, limits, a clean environment, no survivors.

On Linux, Landlock restricts files, namespaces hide the network and other processes, and a seccomp filter
refuses sockets; whichever the kernel lacks is left out, and `probe` tells. Elsewhere only the limits remain.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO

from .toolchain import c_compiler, cached, digest

OUTPUT_BYTES = 1 << 20
PROTECTIONS = ("process namespace", "network namespace", "limits", "file access", "system-call filter")


@dataclass(frozen=True)
class Completed:
    """What a program did. `returncode` is its exit status, None where a signal ended it.

    `stdout` and `stderr` are cut at 1 MiB each; `seconds` is wall time.
    """

    returncode: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    seconds: float,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    memory_bytes: int = 4 << 30,
    file_bytes: int = 256 << 20,
    network: bool = False,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Runs a program to its end or its time limit; on a timeout it is killed with all that it started."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin or b"")
        given.seek(0)
        begin = time.monotonic()
        process = start(
            argv,
            cwd=cwd,
            seconds=seconds,
            readable=readable,
            writable=writable,
            memory_bytes=memory_bytes,
            file_bytes=file_bytes,
            network=network,
            environment=environment,
            stdin=given,
            stdout=out,
            stderr=err,
        )
        timed_out = False
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            kill(process)
        code = process.returncode
        ended_by = -code if code < 0 else None
        timed_out = timed_out or ended_by == signal.SIGXCPU
        return Completed(
            returncode=code if code >= 0 else None,
            signal=ended_by,
            stdout=_read(out),
            stderr=_read(err),
            seconds=time.monotonic() - begin,
            timed_out=timed_out,
        )


def start(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    seconds: float,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    memory_bytes: int = 4 << 30,
    file_bytes: int = 256 << 20,
    network: bool = False,
    environment: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.DEVNULL,
    stderr: int | IO[bytes] | None = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Starts a program in the sandbox. `seconds` limits its CPU time; wall time is the caller's to watch.

    `cwd` is readable. `descriptors` stay open in the program. A standard stream of None is our own. End it with
    `kill`.
    """
    command = [str(_program())]
    for folder in (cwd, *readable):
        command += ["--ro", str(folder)]
    for folder in writable:
        command += ["--rw", str(folder)]
    cpu_seconds = int(seconds * (os.cpu_count() or 1) + 1)
    command += ["--seconds", str(cpu_seconds), "--memory", str(memory_bytes), "--file-size", str(file_bytes)]
    if network:
        command.append("--net")
    path = os.environ.get("PATH", os.defpath)
    clean = {"PATH": path, "LANG": "C.UTF-8", "HOME": str(cwd), "TMPDIR": str(cwd)}
    return subprocess.Popen(
        [*command, "--", *map(str, argv)],
        cwd=cwd,
        env=clean | dict(environment or {}),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=tuple(descriptors),
        start_new_session=True,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the program and everything that it started."""
    if process.poll() is None:
        process.kill()
    process.wait()
    # Nobody of the group may be left, or the number may belong to somebody else by now.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@functools.cache
def probe() -> tuple[str, ...]:
    """Those of `PROTECTIONS` that are in force here."""
    answer = subprocess.run([_program(), "--probe", "--"], capture_output=True, text=True, check=True)
    return tuple(answer.stdout.splitlines())


@functools.cache
def _program() -> Path:
    source = (files(__package__) / "sandbox.c").read_text()
    compiler = c_compiler()

    def build(folder: Path) -> None:
        text = folder / "sandbox.c"
        text.write_text(source)
        command = [str(compiler.path), "-O2", "-o", str(folder / "sandbox"), str(text)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise RuntimeError(f"{compiler.path} cannot build the sandbox:\n{answer.stderr}")

    return cached("sandbox", digest(source, str(compiler.path), compiler.version), build) / "sandbox"


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(OUTPUT_BYTES)

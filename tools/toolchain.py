"""The C and C++ compilers of this machine, and the cache of what they have built."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

CACHE_BYTES = 2 << 30


class MissingCompiler(RuntimeError):
    """No working compiler was found; the message says what to install or set."""


@dataclass(frozen=True)
class Compiler:
    """A compiler's command and the first line of its ``--version``."""

    path: Path
    version: str

    @property
    def folders(self) -> tuple[Path, ...]:
        """What a sandbox must let it read, where it does not lie in a system folder."""
        real = self.path.resolve()
        return (self.path.parent, real.parent.parent)


@functools.cache
def c_compiler() -> Compiler:
    """The C compiler: ``$CC``, else cc, gcc or clang."""
    return _find("CC", ("cc", "gcc", "clang"), "C")


@functools.cache
def cxx_compiler() -> Compiler:
    """The C++ compiler: ``$CXX``, else g++, clang++ or c++."""
    return _find("CXX", ("g++", "clang++", "c++"), "C++")


def _find(variable: str, names: Iterable[str], language: str) -> Compiler:
    chosen = os.environ.get(variable)
    for name in (chosen,) if chosen else names:
        path = shutil.which(name)
        if path is None:
            continue
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            return Compiler(Path(path), answer.stdout.splitlines()[0])
    where = f"none of {', '.join(names)} is on PATH"
    if chosen:
        where = f"${variable} names {chosen!r}, which does not run"
    raise MissingCompiler(
        f"no {language} compiler: {where}; install gcc (Debian: apt install g++, "
        f"Fedora: dnf install gcc-c++, macOS: xcode-select --install) or set {variable}"
    )


def digest(*parts: str | bytes) -> str:
    """A content hash of the parts, in order."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:32]


@functools.cache
def cache_folder() -> Path:
    """Where builds are kept: ``$XDG_CACHE_HOME/cudaperf-agent``, else ``~/.cache/cudaperf-agent``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "cudaperf-agent"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cached(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder of what `make` puts into an empty folder, made once for each key.

    Safe under concurrent use: each maker fills a folder of its own, and the first to finish wins.
    Nothing is kept when `make` raises.
    """
    shelf = cache_folder() / kind
    place = shelf / key
    if place.is_dir():
        os.utime(place)
        return place
    shelf.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=shelf, prefix=".new-") as scratch:
        fresh = Path(scratch) / "result"
        fresh.mkdir()
        make(fresh)
        try:
            fresh.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    if key.startswith("0"):  # looking at everything now and then is enough
        _bound(shelf)
    return place


def _bound(shelf: Path) -> None:
    """Drops the entries that were not used for longest, where the shelf outgrew its size."""
    entries = [(_last_use(p), p) for p in shelf.iterdir() if not p.name.startswith(".")]
    total = 0
    for _, entry in sorted(entries, reverse=True):
        # Other processes drop entries as well, so files may vanish underway.
        with contextlib.suppress(FileNotFoundError):
            total += sum(f.stat().st_size for f in entry.iterdir())
        if total > CACHE_BYTES:
            shutil.rmtree(entry, ignore_errors=True)


def _last_use(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0

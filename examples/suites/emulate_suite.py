"""Runs whole CUDA programs by others through `cudaperf-agent emulate`, and where there is a GPU natively as well.

    python examples/suites/emulate_suite.py FOLDER examples/suites/emulate_programs.txt --half develop -o cpu.json
    python examples/suites/emulate_suite.py FOLDER examples/suites/emulate_programs.txt --native -o gpu.json
    python examples/suites/emulate_suite.py FOLDER examples/suites/emulate_programs.txt --native-from gpu.json

FOLDER holds the checkouts of the suites. The programs stay as they are; a verdict rests on how a program ends and,
where there is a native run, on both runs printing the same: numbers within rounding, lines with times left out.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from cudaperf_agent.tools.output import difference

_FAILED = re.compile(r"\b(?:FAIL|FAILED|Fail|Failed|failed|[Mm]ismatch|MISMATCH|incorrect|INCORRECT)\b")
_OF_THE_MACHINE = re.compile(
    r"time|seconds|\b[num]?s\b|[GM]B/s|FLOP|bandwidth|device|GPU|throughput|rate|clock|cycles|speedup",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Program:
    """A line of the manifest."""

    half: str
    folder: str
    words: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """Sources and flags, without the program's own arguments."""
        return list(self.words[: self._dashes])

    @property
    def arguments(self) -> list[str]:
        return list(self.words[self._dashes + 1 :])

    @property
    def _dashes(self) -> int:
        return self.words.index("--") if "--" in self.words else len(self.words)


@dataclass(frozen=True)
class Result:
    """How one run ended. `failure` is None where the program came to its own end, with exit status `status`."""

    folder: str
    half: str
    failure: str | None
    reason: str
    status: int | None
    stdout: str
    seconds: float

    @property
    def verdict(self) -> str:
        """`runs`, or why not. What a program says of itself counts against it, never for it."""
        if self.failure:
            return self.failure
        if self.status:
            return f"status {self.status}"
        return "says it failed" if _FAILED.search(self.stdout) else "runs"


def read_manifest(path: Path) -> list[Program]:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    programs = []
    for line in lines:
        half, folder, *words = shlex.split(line)
        programs.append(Program(half, folder, tuple(words)))
    return programs


def emulated(program: Program, suites: Path, *, check: str, seconds: float) -> Result:
    command = [
        "cudaperf-agent",
        "emulate",
        *program.command,
        "--json",
        "--check",
        check,
        "--seconds",
        f"{seconds:g}",
    ]
    begin = time.monotonic()
    done = subprocess.run(
        [*command, "--", *program.arguments],
        cwd=suites / program.folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    took = round(time.monotonic() - begin, 1)
    try:
        ran = json.loads(done.stdout)
    except ValueError:
        return Result(program.folder, program.half, "usage", done.stderr.strip()[-300:], None, "", took)
    errors = [f for f in ran["findings"] if f["severity"] == "error"]
    reason = f"{errors[0]['rule']}: {errors[0]['message']}" if errors else ""
    failure = ran["failure"] or (errors[0]["rule"] if errors else None)
    if failure == "compile" and errors[0]["rule"] == "unsupported":
        failure = "unsupported"
    return Result(program.folder, program.half, failure, reason, ran["status"], ran["stdout"], took)


def native(program: Program, suites: Path, *, seconds: float) -> Result:
    """The program as nvcc compiles it, on the machine's GPU."""
    folder = suites / program.folder
    build = ["nvcc", "-O3", "-std=c++17", "-arch=native", *program.command, "-o", "native.out"]
    built = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode:
        return Result(program.folder, program.half, "compile", built.stderr[-300:], None, "", 0)
    begin = time.monotonic()
    try:
        done = subprocess.run(
            ["./native.out", *program.arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result(program.folder, program.half, "timeout", f"{seconds:g} s", None, "", seconds)
    took = round(time.monotonic() - begin, 1)
    # Under `emulate` a program's own name is `program`.
    stdout = done.stdout.replace("./native.out", "program")
    return Result(program.folder, program.half, None, "", done.returncode, stdout, took)


def compared(here: Result, there: Result) -> str:
    """Whether two runs of one program agree: `same`, or the first difference."""
    if there.failure:
        return f"no native run: {there.failure}"
    if here.failure:
        return here.failure
    if here.status != there.status:
        return f"status {here.status} instead of {there.status}"
    return difference([_comparable(there.stdout)], _comparable(here.stdout)) or "same"


def _comparable(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not _OF_THE_MACHINE.search(line))


def run_all(
    programs: list[Program], run: Callable[[Program], Result], jobs: int, there: dict[str, Result]
) -> list[Result]:
    """Runs the programs, and prints a line for each."""
    results = []
    with ThreadPoolExecutor(jobs) as pool:
        for result in pool.map(run, programs):
            beside = compared(result, there[result.folder]) if result.folder in there else ""
            name = result.folder.rpartition("/")[2]
            print(
                f"{name:28} {result.seconds:6.1f} s  {result.verdict:16} {beside or result.reason}"[:200],
                flush=True,
            )
            results.append(result)
    return results


def summary(results: list[Result], there: dict[str, Result]) -> dict[str, dict[str, int]]:
    """For each half, how many programs got which verdict."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        of_half = counts.setdefault(result.half, Counter())
        of_half[result.verdict] += 1
        if result.folder in there and compared(result, there[result.folder]) == "same":
            of_half["same as natively"] += 1
    return {half: dict(of_half) for half, of_half in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", type=Path)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--half", choices=["develop", "unseen", "fresh"])
    parser.add_argument("--only", default="", help="a regular expression over folders")
    parser.add_argument("--check", default="none", help="as in `cudaperf-agent emulate`")
    parser.add_argument("--native", action="store_true", help="run natively: nvcc and a GPU")
    parser.add_argument("--native-from", type=Path, help="results of a native run, to compare with")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-o", type=Path, help="the results as one JSON document")
    options = parser.parse_args()
    programs = [
        p for p in read_manifest(options.manifest)
        if options.half in (None, p.half) and re.search(options.only, p.folder)
    ]  # fmt: skip
    there: dict[str, Result] = {}
    if options.native_from:
        there = {r["folder"]: Result(**r) for r in json.loads(options.native_from.read_text())["programs"]}
    suites = options.suites.absolute()
    if options.native:
        run = partial(native, suites=suites, seconds=options.seconds)
    else:
        run = partial(emulated, suites=suites, check=options.check, seconds=options.seconds)
    results = run_all(programs, run, options.jobs, there)
    counts = summary(results, there)
    for half, of_half in counts.items():
        total = sum(r.half == half for r in results)
        print(f"{half}: {total} programs")
        for verdict, count in sorted(of_half.items(), key=lambda c: -c[1]):
            print(f"{count:6} {count / total:6.1%} {verdict}")
    if options.o:
        document = {"summary": counts, "programs": [asdict(r) for r in results]}
        options.o.write_text(json.dumps(document, indent=1))
    if any(r.verdict != "runs" for r in results):
        sys.exit(1)


if __name__ == "__main__":
    main()

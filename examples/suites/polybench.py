"""Ports all of PolyBench/C through `cudaperf-agent translate`, and says of each kernel how that ended.

    python examples/suites/polybench.py FOLDER
    python examples/suites/polybench.py FOLDER --size SMALL --max-turns 3 --only lu cholesky -o polybench.json

FOLDER holds a checkout of PolyBench/C 4.2.1 (http://polybench.sf.net). A kernel counts as right when the
product says so by its exit status: every test configuration, the checkers, and the
whole program's output compared with the original's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

RIGHT = (0, 5)


@dataclass(frozen=True)
class Port:
    """How the port of one kernel ended. `kernels` counts its ``__global__`` functions."""

    name: str
    verdict: str
    reason: str
    kernels: int
    seconds: float


def kernels_of(folder: Path) -> dict[str, Path]:
    """The suite's kernels: every C file that lies in a folder of its own name."""
    found = {p.stem: p for p in sorted(folder.rglob("*.c")) if p.parent.name == p.stem}
    if not (folder / "utilities" / "polybench.c").is_file() or not found:
        raise SystemExit(
            f"polybench.py: {folder} holds no checkout of PolyBench/C: utilities/polybench.c is missing"
        )
    return found


def port(folder: Path, source: Path, size: str, turns: int, output: Path) -> Port:
    function = f"kernel_{source.stem.replace('-', '_')}"
    utilities = folder / "utilities"
    flags = [f"-I{utilities}", f"-I{source.parent}", f"-D{size}_DATASET", "-DPOLYBENCH_DUMP_ARRAYS"]
    command = ["cudaperf-agent", "translate", str(source), "-f", function, "-o", str(output / source.stem)]
    command += ["--max-turns", str(turns), "--json", "--", *flags, str(utilities / "polybench.c")]
    start = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    refused = next((e for e in events if e.get("kind") == "proposal" and e.get("refusal")), None)
    reason = next(
        (e["diagnosis"]["summary"] for e in reversed(events) if e.get("diagnosis")), run.stderr.strip()[-200:]
    )
    verdict = "right" if run.returncode in RIGHT else "refused" if refused else "not right"
    delivered = output / source.stem / f"{function}.cu"
    text = delivered.read_text() if delivered.is_file() else ""
    return Port(
        name=source.stem,
        verdict=verdict,
        reason=refused["refusal"]["message"] if refused else reason,
        kernels=text.count("__global__ void"),
        seconds=round(time.monotonic() - start, 1),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", default="MINI", choices=["MINI", "SMALL", "MEDIUM", "LARGE"])
    parser.add_argument("--max-turns", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], metavar="KERNEL")
    parser.add_argument("--jobs", type=int, default=1, help="kernels at a time")
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for the results")
    parser.add_argument("--keep", type=Path, help="a folder for the ports")
    options = parser.parse_args()
    folder = options.folder.resolve()
    chosen = {k: p for k, p in kernels_of(folder).items() if not options.only or k in options.only}
    results = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        output = options.keep or Path(scratch)
        runs = [
            pool.submit(port, folder, p, options.size, options.max_turns, output) for p in chosen.values()
        ]
        for run in runs:
            result = run.result()
            results.append(result)
            print(
                f"{result.name:16} {result.verdict:10} {result.seconds:6.1f} s  {result.reason[:110]}",
                flush=True,
            )
            if options.output:
                options.output.write_text(json.dumps([asdict(r) for r in results], indent=1))
    print(", ".join(f"{v}: {n}" for v, n in Counter(r.verdict for r in results).most_common()))
    sys.exit(any(r.verdict == "not right" for r in results))


if __name__ == "__main__":
    main()

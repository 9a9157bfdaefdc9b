"""How many planted bugs the CPU device's checkers find, how often they are wrong; compute-sanitizer beside.

    python benchmarks/checkers.py ours ours.json [--engine source|ptx]
    python benchmarks/checkers.py sanitizer sanitizer.json      # where a GPU and compute-sanitizer are
    python benchmarks/checkers.py table source.json ptx.json sanitizer.json > docs/checkers.md

The programs are those of examples/checkers. A planted bug counts as found where a finding has the rule that the program
names and one of the marked lines (`// <--`); a correct program is a false alarm with any finding, or if it does not end
with status 0. Of compute-sanitizer any error of any of its four tools counts as found.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "examples" / "checkers"
SECONDS = 20
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
FOUND = 99
HEAD = """# The checkers, measured

{planted} programs with a planted bug and {correct} correct ones that tempt to a false alarm, in `examples/checkers`.
They are of our own writing and the checkers were mended on them, so these rates are no estimate for unseen programs.
Made by `python benchmarks/checkers.py`, which says how; compute-sanitizer ran on an H200.
"""


def expected(program: Path) -> tuple[str, set[int]]:
    """The rule and the lines that a planted program names."""
    text = program.read_text()
    rule = re.search(r"^// expect: (\S+)", text, re.MULTILINE)
    lines = {i for i, line in enumerate(text.splitlines(), 1) if "// <--" in line}
    return rule[1] if rule else "", lines


def ours(program: Path, engine: str) -> dict:
    command = ["cudaperf-agent", "emulate", program, "--engine", engine, "--json", "--seconds", "5"]
    done = subprocess.run(
        [*command, "--check", "bounds,races,uninitialized,barriers"],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        sys.exit(f"{program}: {done.stderr[-2000:]}")
    ran = json.loads(done.stdout)
    rule, lines = expected(program)
    if not rule:
        clean = not ran["findings"] and ran["failure"] is None and ran["status"] == 0
        return {"found": not clean, "why": [f["message"] for f in ran["findings"]][:3]}
    hits = [f for f in ran["findings"] if f["rule"] == rule and (not lines or f["line"] in lines)]
    return {"found": bool(hits), "why": [f"{f['rule']} {f['line']}" for f in ran["findings"]][:3]}


def sanitizer(program: Path, engine: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "program"
        flags = ["-O1", "-arch=native", "-lineinfo", "-w"]
        subprocess.run(["nvcc", *flags, "-o", built, program], check=True, capture_output=True)
        found, statuses = [], {}
        for tool in TOOLS:
            command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND), built]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
                statuses[tool] = done.returncode
            except subprocess.TimeoutExpired:
                statuses[tool] = "timeout"
            if statuses[tool] == FOUND:
                found.append(tool)
        try:
            plain = subprocess.run([built], capture_output=True, timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            plain = "timeout"
        return {"found": bool(found), "why": found, "status": plain, "statuses": statuses}


def table(paths: list[Path]) -> None:
    source, ptx, gpu = (json.loads(p.read_text()) for p in paths)
    planted, correct = (sorted((FOLDER / kind).glob("*.cu")) for kind in ("planted", "correct"))
    rules = defaultdict(list)
    for program in planted:
        rules[expected(program)[0]].append(program.stem)
    print(HEAD.format(planted=len(planted), correct=len(correct)))
    print(
        "| planted bug | programs | engine source | engine ptx | compute-sanitizer |\n|---|---|---|---|---|"
    )
    for rule, names in sorted(rules.items()):
        hits = [sum(r[f"planted/{n}"]["found"] for n in names) for r in (source, ptx, gpu)]
        print(f"| {rule} | {len(names)} | {' | '.join(map(str, hits))} |")
    sums = [sum(r[f"planted/{p.stem}"]["found"] for p in planted) for r in (source, ptx, gpu)]
    print(f"| all | {len(planted)} | {' | '.join(map(str, sums))} |")
    alarms = [sum(r[f"correct/{p.stem}"]["found"] for p in correct) for r in (source, ptx, gpu)]
    print(f"| false alarms | {len(correct)} | {' | '.join(map(str, alarms))} |\n")
    for title, results in (("engine source", source), ("engine ptx", ptx), ("compute-sanitizer", gpu)):
        missed = [p.stem for p in planted if not results[f"planted/{p.stem}"]["found"]]
        wrong = [p.stem for p in correct if results[f"correct/{p.stem}"]["found"]]
        print(
            f"Missed by {title}: {', '.join(missed) or 'none'}. False alarms: {', '.join(wrong) or 'none'}.\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=["ours", "sanitizer", "table"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--engine", default="source")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.mode == "table":
        return table(options.files)
    programs = sorted(FOLDER.glob("*/*.cu"))
    work = partial(ours if options.mode == "ours" else sanitizer, engine=options.engine)
    results = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for program, result in zip(programs, pool.map(work, programs), strict=True):
            kind = program.parent.name
            results[f"{kind}/{program.stem}"] = result
            if result["found"] == (kind == "correct"):
                print(f"{kind}/{program.stem}: {result['why']}", file=sys.stderr, flush=True)
    options.files[0].write_text(json.dumps(results, indent=1))
    return None


if __name__ == "__main__":
    main()

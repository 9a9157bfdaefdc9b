"""Times the built-in policy's ports of PolyBench/C on a GPU, kernels only, beside the original on one core.

    python benchmarks/polybench.py write FOLDER PORTS [--size LARGE] [--only lu cholesky]
    python benchmarks/polybench.py run PORTS -o polybench.json
    python benchmarks/polybench.py table polybench.json [more.json ...]

`write` needs this project and a checkout of PolyBench/C 4.2.1; `run` needs gcc, nvcc and a GPU, and nothing else.
A time is the best of three runs on fresh data, by CUDA events around the launcher. The whole output of the program is
compared with the original's: `same`, `close` (within rounding of what is printed), or how many numbers differ.
`table` sets the fastest strategy of each kernel beside PPCG and beside a roofline, for LARGE on an H200.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = 60
# Milliseconds of PPCG's programs on an H200, those that end and compute the same (but for gramschmidt).
PPCG = {
    "2mm": 0.90, "3mm": 2.00, "atax": 0.37, "bicg": 0.42, "cholesky": 26.6, "correlation": 0.95, "covariance": 2.29,
    "deriche": 3.16, "doitgen": 217, "durbin": 104, "fdtd-2d": 11.2, "gemm": 5.64, "gemver": 5.04, "gesummv": 4.94,
    "gramschmidt": 777, "jacobi-1d": 6.5, "jacobi-2d": 29.6, "lu": 125, "mvt": 5.08, "seidel-2d": 247, "symm": 1.16,
    "syr2k": 11.6, "syrk": 2.47, "trisolv": 26.6, "trmm": 69.3,
}  # fmt: skip
# What bounds each kernel (LARGE) and how much of it there is: additions and multiplications of doubles, integer
# operations, or bytes where each array moves once. A multiplication with an addition counts as two.
FLOPS, INTEGERS, BYTES = 33.5e12, 16.7e12, 4.8e12
WORK = {
    "2mm": (FLOPS, 3.31e9), "3mm": (FLOPS, 5.4e9), "adi": (FLOPS, 1.5e10), "atax": (BYTES, 32e6), "bicg": (BYTES, 32e6),
    "cholesky": (FLOPS, 2.67e9), "correlation": (FLOPS, 2.0e9), "covariance": (FLOPS, 2.0e9), "deriche": (BYTES, 71e6),
    "doitgen": (FLOPS, 1.075e9), "durbin": (FLOPS, 1.6e7), "fdtd-2d": (FLOPS, 6.6e9),
    "floyd-warshall": (INTEGERS, 4.4e10),
    "gemm": (FLOPS, 2.64e9), "gemver": (BYTES, 64e6), "gesummv": (BYTES, 27e6), "gramschmidt": (FLOPS, 2.88e9),
    "heat-3d": (FLOPS, 2.6e10), "jacobi-1d": (FLOPS, 6e6), "jacobi-2d": (FLOPS, 8.45e9), "lu": (FLOPS, 5.33e9),
    "ludcmp": (FLOPS, 5.33e9), "mvt": (BYTES, 32e6), "nussinov": (INTEGERS, 5.2e9), "seidel-2d": (FLOPS, 1.8e10),
    "symm": (FLOPS, 3e9), "syr2k": (FLOPS, 2.9e9), "syrk": (FLOPS, 1.44e9), "trisolv": (BYTES, 16e6),
    "trmm": (FLOPS, 1.2e9),
}  # fmt: skip
OUTPUT = {"same": "the same", "close": "within printed rounding"}
TIMED = """\
extern "C" void {name}({parameters})
{{
{allocations}
    cudaEvent_t before, after;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    float best = 1e30f;
    for (int run = 0; run < 4; run++) {{
{uploads}
        cudaDeviceSynchronize();
        cudaEventRecord(before);
        {launch};
        cudaEventRecord(after);
        cudaEventSynchronize(after);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, before, after);
        if (run > 0 && milliseconds < best)
            best = milliseconds;
        if (run == 0 && milliseconds > 8000)
            best = milliseconds, run = 4;
    }}
{downloads}
    printf("%.4f %s\\n", best, cudaGetErrorString(cudaGetLastError()));
}}
"""


def write(folder: Path, ports: Path, size: str, only: list[str]) -> None:
    """For each kernel a folder with the original, its program without the function, and a file for each strategy."""
    ports.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder / "utilities", ports / "utilities", dirs_exist_ok=True)
    (ports / "size").write_text(size)
    for source in sorted(p for p in folder.rglob("*.c") if p.parent.name == p.stem):
        if only and source.stem not in only:
            continue
        place = ports / source.stem
        place.mkdir(exist_ok=True)
        for header in source.parent.glob("*.h"):
            shutil.copy(header, place)
        shutil.copy(source, place / "original.c")
        flags = (f"-I{folder / 'utilities'}", f"-I{source.parent}", *_definitions(size))
        print(source.stem, *_written(source, place, flags))


def _definitions(size: str) -> list[str]:
    return [f"-D{size}_DATASET", "-DPOLYBENCH_TIME", "-DPOLYBENCH_DUMP_ARRAYS"]


def _written(source: Path, place: Path, flags: tuple[str, ...]) -> list[str]:
    from cudaperf_agent.policies.builtin.candidate import assemble
    from cudaperf_agent.policies.builtin.kernel import decayed
    from cudaperf_agent.policies.builtin.plan import plan
    from cudaperf_agent.policies.builtin.strategies import STRATEGIES, written_with
    from cudaperf_agent.tools.c.ast import declare
    from cudaperf_agent.tools.c.load import load, without_body
    from cudaperf_agent.tools.c.parse import parse

    name = f"kernel_{source.stem.replace('-', '_')}"
    task = load(source, name, flags)
    unit = parse(task.path, task.source, flags)
    function, spec = unit.functions[name], task.function
    parameters = ", ".join(declare(decayed(p.type), p.name) for p in function.parameters)
    (place / "host.c").write_text(without_body(task, f"void {name}({parameters});\n"))
    made = plan(unit, spec)
    sizes = {p.name: _bytes(p.type) for p in function.parameters if p.type.kind == "array"}
    arguments = [
        f"({p.declaration.rsplit('*', 1)[0]}*)device_{p.name}" if p.shape else p.name for p in spec.parameters
    ]
    timed = TIMED.format(
        name=name,
        parameters=parameters,
        launch=f"{spec.launcher}({', '.join(arguments)})",
        allocations="\n".join(
            f"    void *device_{a};\n    cudaMalloc(&device_{a}, {n});" for a, n in sizes.items()
        ),
        uploads="\n".join(
            f"        cudaMemcpy(device_{a}, {a}, {n}, cudaMemcpyHostToDevice);" for a, n in sizes.items()
        ),
        downloads="\n".join(
            f"    cudaMemcpy((void *){a}, device_{a}, {n}, cudaMemcpyDeviceToHost);" for a, n in sizes.items()
        ),
    )
    texts: dict[str, str] = {}
    for strategy in STRATEGIES:
        if any(strategy.applies(nest) for nest in made.nests.values()):
            texts.setdefault(assemble(spec, made, written_with(strategy)), strategy.name)
    for text, strategy_name in texts.items():
        (place / f"{strategy_name}.cu").write_text(f"#include <cstdio>\n{text}\n{timed}")
    return list(texts.values())


def _bytes(type) -> int:
    return type.length * _bytes(type.element) if type.kind == "array" else type.size


def run(ports: Path, output: Path) -> None:
    size = (ports / "size").read_text()
    flags = [f"-I{ports / 'utilities'}", *_definitions(size)]
    folders = sorted(p.parent for p in ports.glob("*/original.c"))
    common = ports / "utilities" / "polybench.c"
    jobs = []
    for folder in folders:
        own = [*flags, f"-I{folder}"]
        original = ["gcc", "-O3", "-march=native", *own, folder / "original.c", common, "-lm"]
        jobs.append([*original, "-o", folder / "original"])
        jobs.append(["gcc", "-O2", "-c", *own, folder / "host.c", "-o", folder / "host.o"])
    jobs.append(["gcc", "-O2", "-c", *flags, common, "-o", ports / "polybench.o"])
    _all(jobs)
    candidates = [p for folder in folders for p in sorted(folder.glob("*.cu"))]
    _all(
        [
            "nvcc",
            "-O3",
            "-arch=native",
            p,
            p.parent / "host.o",
            ports / "polybench.o",
            "-o",
            p.with_suffix(""),
        ]
        for p in candidates
    )
    results = []
    for folder in folders:
        seconds, expected = _run(folder / "original", 600)
        for candidate in sorted(folder.glob("*.cu")):
            told, printed = _run(candidate.with_suffix(""), SECONDS)
            result = {
                "kernel": folder.name,
                "strategy": candidate.stem,
                "milliseconds": float(told.split()[0]) if told else None,
                "original": float(seconds.split()[0]) * 1e3,
                "output": _compared(printed, expected) if told else "no result in time",
            }
            results.append(result)
            print(*result.values(), flush=True)
            output.write_text(json.dumps(results, indent=1))


def _all(jobs) -> None:
    with ThreadPoolExecutor() as pool:
        for done in pool.map(
            lambda job: subprocess.run(job, capture_output=True, text=True, check=False), jobs
        ):
            if done.returncode:
                print(done.stderr[:500])


def _run(program: Path, seconds: float) -> tuple[str, str]:
    """What a program prints as its time, and its arrays; nothing where it does not end in time."""
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=seconds, check=False)
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return "", ""
    return done.stdout, done.stderr


def _compared(got: str, expected: str) -> str:
    if got == expected:
        return "same"
    numbers = [
        [
            float(n)
            for n in re.findall(r"-?\d+\.?\d*|nan|-?inf", re.sub(r"==.*?==|(begin|end\s+)dump: \S+", "", t))
        ]
        for t in (got, expected)
    ]
    if len(numbers[0]) != len(numbers[1]):
        return f"{len(numbers[0])} numbers in place of {len(numbers[1])}"
    scale = math.sqrt(sum(n * n for n in numbers[1]) / max(len(numbers[1]), 1)) or 1.0
    different = sum(
        not (abs(a - b) <= 0.011 + 1e-5 * scale + 1e-6 * abs(b) or (math.isnan(a) and math.isnan(b)))
        for a, b in zip(*numbers, strict=True)
    )
    return f"{different} of {len(numbers[1])} differ" if different else "close"


def table(files: list[Path]) -> None:
    """The fastest of each kernel's results, as Markdown, and the geometric mean beside PPCG."""
    results = [r for f in files for r in json.loads(f.read_text()) if r["milliseconds"] is not None]
    best = {r["kernel"]: r for r in sorted(results, key=lambda r: -r["milliseconds"])}
    print(
        "| kernel | one core | PPCG | here | strategy | faster than PPCG | share of its roofline | output |"
    )
    print("|---|---|---|---|---|---|---|---|")
    gains = []
    for kernel, r in sorted(best.items()):
        here, ppcg = r["milliseconds"], PPCG.get(kernel)
        rate, work = WORK[kernel]
        share = 100 * work / rate * 1e3 / here
        gains += [ppcg / here] if ppcg else []
        cells = [
            kernel,
            _short(r["original"]),
            _short(ppcg) if ppcg else "none",
            _short(here),
            r["strategy"],
            f"{ppcg / here:.1f}" if ppcg else "",
            f"{share:.{0 if share >= 1 else 1}f} %" if share >= 0.1 else "below 0.1 %",
            OUTPUT.get(r["output"], r["output"]),
        ]
        print(f"| {' | '.join(cells)} |")
    print(
        f"\nGeometric mean over {len(gains)} kernels: {math.prod(gains) ** (1 / len(gains)):.1f} times PPCG's speed."
    )


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("ports", type=Path)
    writing.add_argument("--size", default="LARGE")
    writing.add_argument("--only", nargs="+", default=[])
    running = commands.add_parser("run")
    running.add_argument("ports", type=Path)
    running.add_argument("-o", "--output", type=Path, default=Path("polybench.json"))
    showing = commands.add_parser("table")
    showing.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder.resolve(), options.ports, options.size, options.only)
    elif options.command == "table":
        table(options.files)
    else:
        run(options.ports, options.output)


if __name__ == "__main__":
    main()

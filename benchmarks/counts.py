"""Holds the CPU device's counts of `counts.cu` against NVIDIA's profiler.

python benchmarks/counts.py ours ours.json             # on any machine with nvcc
python benchmarks/counts.py profiler profiler.json     # where a GPU and ncu are
python benchmarks/counts.py compare ours.json profiler.json
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("counts.cu")
METRICS = {
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "fadd": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "fmul": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "dadd": "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "dmul": "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "dfma": "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
}
TOLERANCE = 0.02


def ours() -> list[dict]:
    """Kernels in the order of their first launch; every launch of counts.cu is of another kernel."""
    command = ["cudaperf-agent", "emulate", SOURCE, "--engine", "ptx", "--trace", "--json"]
    ran = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    order = [launch["kernel"] for launch in ran["launches"]]
    rows = []
    for counts in sorted(ran["counts"], key=lambda c: order.index(c["kernel"])):
        row: dict = {"kernel": counts["kernel"], **dict.fromkeys(METRICS, 0)}
        for a in counts["accesses"]:
            if a["operation"] == "atomic":
                continue
            if a["space"] == "global":
                row[f"{a['operation']} requests"] += a["requests"]
                row[f"{a['operation']} sectors"] += a["sectors"]
            else:
                row[f"shared {a['operation']} wavefronts"] += a["sectors"]
                row[f"shared {a['operation']} conflicts"] += a["sectors"] - a["ideal_sectors"]
        for operation in counts["operations"]:
            if operation["type"] in row:
                row[operation["type"]] += operation["lanes"]
        rows.append(row)
    return rows


def profiler() -> list[dict]:
    subprocess.run(["nvcc", "-O3", "-arch=native", "-lineinfo", "-o", "counts.out", SOURCE], check=True)
    command = [
        "ncu",
        "--csv",
        "--clock-control",
        "none",
        "--metrics",
        ",".join(METRICS.values()),
        "./counts.out",
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows: dict[str, dict] = {}
    names = {metric: name for name, metric in METRICS.items()}
    for entry in csv.DictReader(lines[begin:]):
        row = rows.setdefault(entry["ID"], {"kernel": entry["Kernel Name"]})
        row[names[entry["Metric Name"]]] = float(entry["Metric Value"].replace(",", ""))
    return list(rows.values())


def compare(first: list[dict], second: list[dict]) -> None:
    """A table of what both count, and how many of the counts agree within 2 %."""
    agree = total = 0
    assert len(first) == len(second), (len(first), len(second))
    print("| kernel | count | CPU device | profiler | |\n|---|---|---|---|---|")
    for a, b in zip(first, second, strict=True):
        for name in METRICS:
            mine, theirs = a[name], b[name]
            if not mine and not theirs:
                continue
            close = abs(mine - theirs) <= TOLERANCE * max(theirs, 1)
            agree += close
            total += 1
            print(f"| {a['kernel']} | {name} | {mine:.0f} | {theirs:.0f} | {'' if close else 'differs'} |")
    print(f"\n{agree} of {total} counts of {len(first)} kernels agree within {TOLERANCE:.0%}.")


def main() -> None:
    match sys.argv[1:]:
        case ["ours", path]:
            Path(path).write_text(json.dumps(ours(), indent=1))
        case ["profiler", path]:
            Path(path).write_text(json.dumps(profiler(), indent=1))
        case ["compare", first, second]:
            compare(*(json.loads(Path(p).read_text()) for p in (first, second)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()

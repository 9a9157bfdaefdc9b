"""The command line: the composition root. Everything heavy is imported inside the command that needs it.

Standard output is data (`--json`: one event a line), standard error is narration.
Exit status: 0 right, 1 no right candidate, 2 usage or bad input, 3 environment, 4 budget spent, 130 interrupted.
"""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="cudaperf-agent",
    help="Ports C files to fast CUDA, and proves the port.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
runs = typer.Typer(help="List, show, resume, replay and export runs.", no_args_is_help=True)
app.add_typer(runs, name="runs")

FunctionOption = Annotated[str | None, typer.Option("--function", "-f", help="The function to port.")]
DeviceOption = Annotated[
    str, typer.Option(envvar="CUDAPERF_DEVICE", help="Where candidates run: auto, cuda or cpu.")
]
GpuOption = Annotated[str, typer.Option(envvar="CUDAPERF_GPU", help="The GPU that estimates are for.")]
ArchOption = Annotated[
    str | None,
    typer.Option(envvar="CUDAPERF_ARCH", help="The target that nvcc compiles for. [default: the GPU's]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write events as JSON lines to standard output.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The folder to write. [default: NAME-cuda]")
]
CompilerArguments = Annotated[
    list[str] | None,
    typer.Argument(help="After --: flags for the C compiler, and further source files of the program."),
]


@app.command()
def translate(
    file: Annotated[Path, typer.Argument(help="The C file that holds the function.")],
    compiler: CompilerArguments = None,
    function: FunctionOption = None,
    policy: Annotated[
        str, typer.Option(envvar="CUDAPERF_POLICY", help="Who writes candidates: builtin or recorded:FILE.")
    ] = "builtin",
    model: Annotated[
        str | None, typer.Option(envvar="CUDAPERF_MODEL", help="A language model as policy: provider/name.")
    ] = None,
    device: DeviceOption = "auto",
    gpu: GpuOption = "H200",
    arch: ArchOption = None,
    max_turns: Annotated[int, typer.Option(min=1, envvar="CUDAPERF_MAX_TURNS", help="Turns at most.")] = 6,
    max_seconds: Annotated[
        float | None,
        typer.Option(envvar="CUDAPERF_MAX_SECONDS", help="Begin no turn after that many seconds."),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(envvar="CUDAPERF_MAX_COST", help="Begin no turn after that many dollars.")
    ] = None,
    hint: Annotated[str | None, typer.Option(help="A hint for the policy.")] = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> int:
    """Port a C function to CUDA: write, compile, test, profile, reflect, and again."""
    from .commands import start

    return start(
        file,
        compiler or [],
        function,
        policy=f"model:{model}" if model else policy,
        device=device,
        gpu=gpu,
        arch=arch,
        max_turns=max_turns,
        max_seconds=max_seconds,
        max_cost=max_cost,
        hint=hint,
        output=output,
        json=json,
    )


@app.command()
def evaluate(
    candidate: Annotated[Path, typer.Argument(help="A CUDA file that defines the launcher.")],
    task: Annotated[Path, typer.Option("--task", "-t", help="The C file that holds the original.")],
    compiler: CompilerArguments = None,
    function: FunctionOption = None,
    device: DeviceOption = "auto",
    gpu: GpuOption = "H200",
    arch: ArchOption = None,
    output: OutputOption = None,
    json: JsonOption = False,
) -> int:
    """Judge a given candidate: compile, test and profile it, with no policy."""
    from .commands import start

    return start(
        task,
        compiler or [],
        function,
        policy=f"recorded:{candidate}",
        device=device,
        gpu=gpu,
        arch=arch,
        max_turns=1,
        output=output,
        json=json,
    )


@app.command()
def emulate(
    file: Annotated[
        list[Path], typer.Argument(help="The CUDA sources of one program; after --: its arguments.")
    ],
    check: Annotated[
        str,
        typer.Option(
            help="What to look for: bounds, races, uninitialized, schedules (with commas), all or none."
        ),
    ] = "none",
    trace: Annotated[bool, typer.Option("--trace", help="Count memory requests by source line.")] = False,
    include: Annotated[list[Path] | None, typer.Option("-I", help="A folder of headers.")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", help="A macro: NAME or NAME=VALUE.")] = None,
    engine: Annotated[
        str,
        typer.Option(
            envvar="CUDAPERF_ENGINE",
            help="How kernels come to the CPU: source, ptx (exact widths and operations; needs nvcc), or auto.",
        ),
    ] = "auto",
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest that the program may run.")] = 300.0,
    json: Annotated[
        bool, typer.Option("--json", help="Write output and findings as one JSON document.")
    ] = False,
) -> int:
    """Run a whole CUDA program on the CPU, checked: a sanitizer that needs no GPU."""
    from .emulate import emulate as run

    sources, arguments = _before_dashes(file)
    return run(
        sources,
        arguments,
        includes=include or [],
        macros=define or [],
        engine=engine,
        check=check,
        trace=trace,
        seconds=seconds,
        json=json,
    )


def _before_dashes(words: list[Path]) -> tuple[list[Path], list[str]]:
    """The words of the command line before ``--`` and those behind it."""
    behind = len(sys.argv) - sys.argv.index("--") - 1 if "--" in sys.argv else 0
    cut = len(words) - behind
    return words[:cut], [str(w) for w in words[cut:]]


@app.command()
def bench(
    suite: Annotated[
        Path, typer.Argument(help="A folder of candidates that say what verdict they must get.")
    ],
    device: DeviceOption = "auto",
    json: JsonOption = False,
) -> int:
    """Measure the verifier itself: false passes and false refusals over a suite of known candidates."""
    from .bench import bench_verifier

    return bench_verifier(suite, device, json)


@app.command()
def doctor(json: Annotated[bool, typer.Option("--json", help="Write the findings as JSON.")] = False) -> int:
    """Tell what is here: compilers, GPU, keys, sandbox; and what to do about what is missing."""
    from .doctor import doctor as examine

    return examine(json)


@runs.command("list")
def list_runs(json: JsonOption = False) -> int:
    """List the runs of this user, newest first."""
    from .commands import list_runs as command

    return command(json)


@runs.command("show")
def show_run(run: Annotated[str, typer.Argument(help="A run's id, or its beginning or end.")]) -> int:
    """Show a run turn by turn."""
    from .commands import show_run as command

    return command(run)


@runs.command("resume")
def resume_run(
    run: Annotated[str, typer.Argument(help="A run's id, or its beginning or end.")], json: JsonOption = False
) -> int:
    """Go on with a run that was interrupted; no completed answer is asked for twice."""
    from .commands import resume_run as command

    return command(run, json)


@runs.command("replay")
def replay_run(run: Annotated[str, typer.Argument(help="A run's id, or its beginning or end.")]) -> int:
    """Repeat every verdict of a run from its record, on the same secret inputs."""
    from .commands import replay_run as command

    return command(run)


@runs.command("export")
def export_run(run: Annotated[str, typer.Argument(help="A run's id, or its beginning or end.")]) -> int:
    """Write a run as training data to standard output: a JSON object a turn."""
    from ..rl.rollouts import rollout
    from .run import Run

    for turn in rollout(Run.find(run)):
        print(turn.model_dump_json())
    return 0


def main() -> None:
    """Run the command line and exit with the documented status; known faults end in one line."""
    try:
        status: Any = app(standalone_mode=False)
    except KeyboardInterrupt:
        sys.exit(130)
    except typer._click.exceptions.ClickException as error:
        error.show()
        sys.exit(2)
    except Exception as error:
        from .commands import FAULTS

        for kinds, code in FAULTS.items():
            if isinstance(error, kinds):
                _fault(str(error), code)
        raise
    sys.exit(status if isinstance(status, int) else 0)


def _fault(message: str, status: int) -> None:
    if "--json" in sys.argv:
        print(jsonlib.dumps({"kind": "error", "status": status, "message": message}))
    print(f"cudaperf-agent: {message}", file=sys.stderr)
    sys.exit(status)

"""Makes docs/translate.svg: the terminal output of a real run, colours and all.

python docs/picture.py examples/c/heat2d.c docs/translate.svg
"""

import os
import pty
import sys
import tempfile

from rich.console import Console
from rich.text import Text

WIDTH = 118


def recorded(command: list[str]) -> str:
    """What a command writes to a terminal."""
    output = bytearray()

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 4096)
        output.extend(data)
        return data

    os.environ |= {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    pty.spawn(command, read)
    return output.decode(errors="replace").replace("\r\n", "\n")


def without_progress(text: str) -> str:
    """Drop what the progress bar drew and wiped again: lines rewritten in place."""
    lines = [line.split("\r")[-1] for line in text.split("\n")]
    kept = [line for line in lines if "━" not in line or "┃" in line or "┏" in line or "┡" in line]
    return (
        "\n".join(kept)
        .replace("\x1b[?25l", "")
        .replace("\x1b[?25h", "")
        .replace("\x1b[2K", "")
        .replace("\x1b[1A", "")
    )


def main() -> None:
    source, target = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUDAPERF_HOME"] = folder
        command = ["cudaperf-agent", "translate", source, "-o", "out/picture"]
        text = without_progress(recorded(command))
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(Text(f"$ {' '.join(command[:3])}"))
    console.print(Text.from_ansi(text))
    console.save_svg(target, title="cudaperf-agent")


if __name__ == "__main__":
    main()

"""Places in the candidate's source for addresses in its compiled libraries."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..records import Finding
from .process import Event


class Places:
    """Lines of the candidate for return addresses in its libraries, looked up all at once."""

    def __init__(self, folder: Path, file: str, runs: Sequence[Sequence[Event]]) -> None:
        self.file = file
        sites = set()
        for event in (e for events in runs for e in events):
            if event["event"] == "finding":
                sites.update(event["sites"])
            elif event["event"] == "counts":
                sites.update(a["site"] for a in event["accesses"])
        self._lines = _lines_of(folder / "device.so", file, sorted(sites))
        host = {e["host_site"] for events in runs for e in events if "host_site" in e}
        self._host_lines = _lines_of(folder / "host.so", file, sorted(host))

    def line(self, site: int) -> int:
        return self._lines.get(site, 0)

    def finding(self, event: Event) -> Finding:
        message = event["message"]
        for i, site in enumerate(event["sites"]):
            message = message.replace(f"{{{i}}}", f"{self.file}:{self.line(site)}")
        line = event["line"] or (self.line(event["sites"][0]) if event["sites"] else 0)
        if "host_site" in event:
            line = self._host_lines.get(event["host_site"], 0)
        return Finding(
            rule=event["rule"],
            severity=event["severity"],
            message=message,
            file=self.file,
            line=line,
            column=int(line > 0),
        )


def _lines_of(library: Path, file: str, sites: Sequence[int]) -> dict[int, int]:
    program = shutil.which("addr2line")
    if not sites or program is None:
        return {}
    addresses = [hex(site - 1) for site in sites]
    answer = subprocess.run(
        [program, "-a", "-i", "-e", library, *addresses], capture_output=True, text=True, check=True
    )
    lines: dict[int, int] = {}
    site = 0
    for line in answer.stdout.splitlines():
        if line.startswith("0x"):
            site = int(line, 16) + 1
        elif site not in lines and (m := re.match(r"(.*):(\d+)", line)) and m[1].endswith(file):
            lines[site] = int(m[2])
    return lines

"""Calls that only a host can make: the loops around them stay there, say so, and print what the original prints."""

import json

SOURCE = """\
#include <stdio.h>
#define N 300
static void report(int step, double sum) { printf("step %d: %.3f\\n", step, sum); }
void f(int n, int steps, float *a) {
    if (n < 1) { fprintf(stderr, "nothing to do\\n"); return; }
    for (int t = 0; t < steps; t++) {
        double sum = 0;
        for (int i = 0; i < n; i++) { a[i] *= 0.5f; sum += a[i]; }
        if (t % 2 == 0) report(t, sum);
    }
    for (int i = 0; i < n; i += 60) printf("%d %g%s", i, a[i], i < n - 60 ? ", " : "\\n");
}
int main(void) { float a[N]; for (int i = 0; i < N; i++) a[i] = i; f(N, 5, a); return 0; }
"""


def test_what_prints_stays_on_the_host_and_prints_the_same(command, tmp_path):
    (tmp_path / "f.c").write_text(SOURCE)
    answer = command("translate", "f.c", "--function", "f", "-o", "out", "--max-turns", "1")
    assert answer.status == 0, answer.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    checks = {c["name"]: (c["result"], c["message"]) for c in report["certificate"]["checks"]}
    assert checks["output of the whole program"] == ("passed", "19 words agree")
    assert (
        "loop at f.c:11 stays on the host, since it calls printf" in (tmp_path / "out" / "f.cu").read_text()
    )

"""The verifier on candidates whose verdict is known: each planted fault is refused by name, each honest one passes."""

import json

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["planted", "honest"])
def test_every_candidate_gets_its_verdict(kind, command, examples):
    answer = command("bench", examples.parent / "verifier" / kind, "--json", timeout=900)
    judged = [json.loads(line) for line in answer.out.splitlines()]
    assert len(judged) >= {"planted": 20, "honest": 30}[kind]
    assert [(j["candidate"], j["verdict"]) for j in judged] == [
        (j["candidate"], j["expected"]) for j in judged
    ]
    assert answer.status == 0

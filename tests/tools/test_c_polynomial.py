"""Polynomials: what they say equals what C computes, and every claim of order holds."""

from __future__ import annotations

import random

import pytest
from cudaperf_agent.tools.c import ast
from cudaperf_agent.tools.c.expression import evaluate
from cudaperf_agent.tools.c.parse import parse
from cudaperf_agent.tools.c.polynomial import (
    Polynomial,
    atom,
    constant,
    factored,
    from_expr,
    maximum,
    minimum,
    quotient,
    remainder,
)

n, m, h, w = (atom(name) for name in "nmhw")


def random_polynomial(rng: random.Random, depth: int = 3) -> Polynomial:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([constant(rng.randint(-4, 4)), n, m, h])
    left, right = random_polynomial(rng, depth - 1), random_polynomial(rng, depth - 1)
    operations = [
        lambda: left + right,
        lambda: left - right,
        lambda: left * right,
        lambda: quotient(left, constant(rng.randint(1, 5))),
        lambda: remainder(left, constant(rng.randint(1, 5))),
        lambda: minimum(left, right),
        lambda: maximum(left, right),
    ]
    return rng.choice(operations)()


def random_values(rng: random.Random) -> dict[str, int]:
    return {name: rng.choice([1, 2, 3, 5, 8, 17]) for name in "nmhw"}


@pytest.mark.parametrize(
    ("polynomial", "text"),
    [
        (h * w, "h * w"),
        (n + 1, "n + 1"),
        (constant(1) - n, "1 - n"),
        (2 * n * n - 3 * n * m + 4, "2 * n * n - 3 * m * n + 4"),
        (quotient(n + 1, constant(2)) * 4, "4 * ((n + 1) / 2)"),
        (quotient(n, constant(2)) + 1, "n / 2 + 1"),
        (remainder(n + 1, m), "(n + 1) % m"),
        (minimum(n, m), "(m < n ? m : n)"),
        (-n, "-n"),
        (constant(0), "0"),
    ],
)
def test_text_is_what_a_person_would_write(polynomial: Polynomial, text: str) -> None:
    assert polynomial.to_c() == text


def test_text_computes_what_the_operations_computed() -> None:
    rng = random.Random(1)
    for _ in range(150):
        left, right, number = random_polynomial(rng), random_polynomial(rng), rng.randint(1, 5)
        values = random_values(rng)
        a, b = evaluate(left.to_c(), values), evaluate(right.to_c(), values)
        assert evaluate((left + right).to_c(), values) == a + b
        assert evaluate((left - right).to_c(), values) == a - b
        assert evaluate((left * right).to_c(), values) == a * b
        assert evaluate(minimum(left, right).to_c(), values) == min(a, b)
        assert evaluate(maximum(left, right).to_c(), values) == max(a, b)
        assert evaluate(quotient(left, constant(number)).to_c(), values) == int(a / number)
        assert evaluate(remainder(left, constant(number)).to_c(), values) == a - int(a / number) * number


def test_every_claim_of_order_holds() -> None:
    rng = random.Random(2)
    claims = 0
    for _ in range(600):
        left, right = random_polynomial(rng), random_polynomial(rng)
        claim = left.at_least(right)
        if claim is None:
            continue
        claims += 1
        for _ in range(8):
            values = random_values(rng)
            assert (evaluate(left.to_c(), values) >= evaluate(right.to_c(), values)) == claim
    assert claims > 100


@pytest.mark.parametrize(
    ("left", "right", "claim"),
    [
        (n * m, n, True),
        (n, n + 1, False),
        (n, m, None),
        (n, 4 * quotient(n, constant(4)), True),
        (n, 2, None),
        (m - 1, remainder(n, m), True),
        (n, minimum(n, m), True),
    ],
)
def test_orders_that_loops_need_are_found(left: Polynomial, right: Polynomial, claim: bool | None) -> None:
    assert left.at_least(right) is claim


def test_bounds_of_names_are_used() -> None:
    assert n.at_least(2, {"n": 4}) and not n.at_least(5, {"n": 4})


def test_substitution_reaches_into_opaque_atoms() -> None:
    i = atom("i")
    assert quotient(i + 1, constant(2)).substitute({"i": 2 * n - 1}) == n
    assert (i * w + 3).substitute({"i": h - 1}) == h * w - w + 3


def test_products_are_written_as_products() -> None:
    p, q = h - 3, w - m + 1
    assert factored(n * p * q, [p, q]) == "n * (h - 3) * (w - m + 1)"
    assert factored(n * p * q + 1, [p, q]) == (n * p * q + 1).to_c()


def definition(source: str) -> ast.Expr:
    body = (
        parse("f.c", f"void f(int n, int m, const int *x) {{ int i = 0; int r = {source}; }}")
        .functions["f"]
        .body
    )
    declared = body.body[1]
    assert isinstance(declared, ast.Declare) and declared.variables[0].init is not None
    return declared.variables[0].init


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("(n + 1) * m - i", "m * n + m - i"),
        ("n << 3", "8 * n"),
        ("n >> 1", "n / 2"),
        ("i & 7", "i % 8"),
        ("(long)n * 2", "2 * n"),
        ("n < m ? n : m", "(m < n ? m : n)"),
        ("sizeof(int) * n", "4 * n"),
        ("x[i]", None),
        ("(int)(n * 0.5f)", None),
        ("(char)n", None),
    ],
)
def test_expressions_become_polynomials_where_they_are(source: str, text: str | None) -> None:
    found = from_expr(definition(source))
    assert (found.to_c() if found is not None else None) == text


def test_definitions_are_followed() -> None:
    found = from_expr(definition("i * m + n"), {"i": definition("n - 1")})
    assert found is not None and found.to_c() == "m * n + n - m"

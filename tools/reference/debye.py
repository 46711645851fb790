#!/usr/bin/env python3
"""Coefficients of the expansions of I_{n+1}/I_n and log I_n in 1/sqrt(n^2+z^2).

With w = z I_n'(z)/I_n(z), p = sqrt(n^2 + z^2) and q = (z/p)^2, the Riccati
equation z w' + w^2 = z^2 + n^2 has the formal solution w = p + sum_k P_k(q)
p^{1-k}, P_1 = -q/2, and the recurrence of `ratio_polynomials`. Everything is
exact rational arithmetic. Writes tests/data/reference/debye_coefficients.csv
and include/radir/math/detail/debye_coefficients.h.
"""

import pathlib
from fractions import Fraction
from math import comb

import reference_table

TERMS = 16
HEADER = (pathlib.Path(__file__).resolve().parents[2] /
          "include/radir/math/detail/debye_coefficients.h")


def product(a, b):
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return result


def total(polynomials):
    result = [Fraction(0)] * max(len(p) for p in polynomials)
    for polynomial in polynomials:
        for i, x in enumerate(polynomial):
            result[i] += x
    return result


def scaled(factor, polynomial):
    return [Fraction(factor) * x for x in polynomial]


def ratio_polynomials(terms):
    """[Q_1, ..., Q_terms], Q_k = P_k/q, lists of coefficients of q^0, q^1, ..."""
    p = {1: [Fraction(0), Fraction(-1, 2)]}
    for k in range(2, terms + 1):
        derivative = [j * x for j, x in enumerate(p[k - 1])][1:]
        parts = [product(p[i], p[k - i]) for i in range(1, k)]
        parts.append(product([0, 2, -2], derivative))
        parts.append(product([0, 2 - k], p[k - 1]))
        p[k] = scaled(Fraction(-1, 2), total(parts))
    return [p[k][1:k + 1] for k in range(1, terms + 1)]


def log_polynomials(ratio):
    """[L_1, ...]: L_{k,j} = -c_{k+1,j}/(2j+k), where Q_{k+1}(1 - sigma) is
    sum_j c_{k+1,j} sigma^j."""
    result = []
    for k in range(1, len(ratio)):
        q = ratio[k]  # Q_{k+1}
        shifted = [
            sum(q[i] * comb(i, j) * (-1) ** j for i in range(j, len(q)))
            for j in range(len(q))
        ]
        result.append([-c / (2 * j + k) for j, c in enumerate(shifted)])
    return result


def cpp_table(name, comment, polynomials):
    lines = [f"/// {comment}", f"struct {name} {{",
             f"  static constexpr double value[{TERMS}][{TERMS + 1}] = {{"]
    for polynomial in polynomials:
        cells = ", ".join(repr(float(c)) for c in polynomial)
        lines.append(f"      {{{cells}}},")
    return "\n".join(lines + ["  };", "};", ""])


def main():
    ratio = ratio_polynomials(TERMS + 1)
    log = log_polynomials(ratio)
    ratio = ratio[:TERMS]
    rows = [(series, k, j, c.numerator, c.denominator, repr(float(c)))
            for series, table in (("Q", ratio), ("L", log))
            for k, polynomial in enumerate(table, 1)
            for j, c in enumerate(polynomial)]
    reference_table.write(
        "debye_coefficients",
        ["series", "k", "j", "numerator", "denominator", "value"], rows,
        "debye.py", "all")
    HEADER.parent.mkdir(parents=True, exist_ok=True)
    HEADER.write_text("""\
// Written by tools/reference/debye.py (exact rational arithmetic, rounded
// once); do not edit.
#pragma once

#include "radir/core/config.h"

// clang-format off
namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

""" + cpp_table("DebyeRatio",
                "Q_k(q) = sum_j value[k-1][j] q^j, q = (z/p)^2: the ratio I_{n+1}/I_n.",
                ratio) + "\n" +
        cpp_table("DebyeLog",
                  "L_k(s) = sum_j value[k-1][j] s^j, s = (n/p)^2: the logarithm of I_n.",
                  log) + """
}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
// clang-format on
""")


if __name__ == "__main__":
    main()

"""How the reference tables of tests/data/reference are written.

Inputs are exact in IEEE single precision and printed with 17 digits, outputs
are printed with 20, so that one table serves float, double and long double.
"""

import pathlib
import struct

import mpmath

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/data/reference"


def single(x):
    """The single-precision number nearest to x, as a Python float."""
    return struct.unpack("f", struct.pack("f", x))[0]


def log_grid(low, high, steps_per_decade):
    """Single-precision numbers from 10**low to 10**high, evenly in the log."""
    count = (high - low) * steps_per_decade
    return [single(10 ** (low + i / steps_per_decade)) for i in range(count + 1)]


def cell(value):
    if isinstance(value, mpmath.mpf):
        return mpmath.nstr(value, 20)
    if isinstance(value, float):
        return f"{value:.17g}"
    return str(value)


def write(name, columns, rows, generator, digits):
    """Writes tests/data/reference/<name>.csv: two comment lines, the header,
    and the rows, whose floats are inputs and whose mpf are results."""
    rows = list(rows)
    path = FOLDER / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        file.write(f"# tools/reference/{generator}, mpmath {mpmath.__version__}\n")
        file.write(f"# {digits} digits computed, 20 printed\n")
        file.write(",".join(columns) + "\n")
        for row in rows:
            file.write(",".join(cell(value) for value in row) + "\n")

"""Tables whose inputs were drawn once and are kept in the table itself.

The generator reads the inputs, computes the outputs and writes the whole table
again: a new case is one more line of inputs, outputs left empty, and one run
of the generator.
"""

import pathlib
import sys

from mpmath import mp

import reference_table


def read(name, columns):
    """The named columns of a table, a tuple per row, numbers as float."""
    lines = (reference_table.FOLDER / f"{name}.csv").read_text().splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    header = lines[0].split(",")
    places = [header.index(column) for column in columns]
    return [tuple(parse(line.split(",")[place]) for place in places)
            for line in lines[1:]]


def parse(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def recompute(name, inputs, outputs, function):
    """Rewrites a table: `function` maps a row of inputs to its outputs (mpf)."""
    rows = [row + tuple(function(*row)) for row in read(name, inputs)]
    generator = pathlib.Path(sys.argv[0]).name
    reference_table.write(name, inputs + outputs, rows, generator, mp.dps)
    print(f"{name}: {len(rows)} rows")

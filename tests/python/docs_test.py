"""Runs the programs of docs/python.md."""

import importlib.util
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class DocsTest(unittest.TestCase):
    def test_programs_run(self):
        programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
        self.assertGreaterEqual(len(programs), 4)
        for program in programs:
            names = re.findall(r"^(?:import|from) (\w+)", program, re.M)
            missing = [name for name in names if importlib.util.find_spec(name) is None]
            if missing:
                print("skipped, without", *missing)
                continue
            exec(compile(program, str(PAGE), "exec"), {})


if __name__ == "__main__":
    unittest.main()

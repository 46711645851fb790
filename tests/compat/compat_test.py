#!/usr/bin/env python3
"""Uses the files of an earlier version: compat_test.py RADIR FOLDER.

FOLDER is tests/data/compat/VERSION, written by write_files.py. Models must give
the predictions they gave then, and runs that were stopped must come to the
parameters they would have come to then, bit for bit.
"""

import csv
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from tensor_hashes import tensor_hashes  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
FILES = pathlib.Path(sys.argv.pop(1)).resolve()
EXPECTED = json.loads((FILES / "expected.json").read_text())
TOLERANCE = 1e-6  # relative
UNSUPPORTED = 5  # exit code of a program built without ONNX


def radir(*words):
    # The kernels the files were written with.
    return subprocess.run(
        [PROGRAM, *map(str, words)],
        env={**os.environ, "RADIR_ISA": "generic"},
        capture_output=True,
        text=True,
    )


def cells(text):
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def leaves(document):
    if not isinstance(document, (dict, list)):
        return [document]
    values = document.values() if isinstance(document, dict) else document
    return [leaf for value in values for leaf in leaves(value)]


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def common(found, expected):
    """What version 0.1 wrote, without what was added since."""
    if not isinstance(expected, dict):
        return found
    return {key: common(found[key], expected[key]) for key in expected}


class Compat(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        """Works on a copy, since commands write into a run's folder."""
        place = tempfile.TemporaryDirectory(prefix="radir-compat-")
        self.addCleanup(place.cleanup)
        self.files = pathlib.Path(place.name) / "files"
        shutil.copytree(FILES, self.files)
        for config in self.files.glob("*/config.json"):
            settings = config.read_text().replace("@FOLDER@", str(self.files))
            config.write_text(settings)

    def succeed(self, *words):
        result = radir(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def models(self):
        runs = [path.parent for path in self.files.glob("*/model.safetensors")]
        return runs + list(self.files.glob("*.safetensors"))

    def expect_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for i, (left, right) in enumerate(zip(found, expected)):
            value = number(right)
            if value is None:
                self.assertEqual(left, right, f"cell {i}")
            elif not math.isclose(float(left), value, rel_tol=TOLERANCE):
                self.fail(f"cell {i}: {left} instead of {right}")

    def test_models_predict_what_they_did(self):
        for model, table in EXPECTED["predictions"].items():
            with self.subTest(model=model):
                out = self.succeed("predict", self.files / model, self.files / table)
                name = pathlib.Path(model).stem
                then = (self.files / f"predictions/{name}.csv").read_text()
                self.expect_close(cells(out), cells(then))

    def test_models_score_what_they_did(self):
        for model, then in EXPECTED["evaluations"].items():
            with self.subTest(model=model):
                out = self.succeed("evaluate", self.files / model, "digits", "--json")
                self.expect_close(leaves(common(json.loads(out), then)), leaves(then))

    def test_models_are_inspected(self):
        for model in self.models():
            with self.subTest(model=model.name):
                found = json.loads(self.succeed("inspect", model, "--json"))
                self.assertGreater(len(found["layers"]), 1)

    def test_models_are_exported(self):
        for model in self.models():
            with self.subTest(model=model.name):
                onnx = self.files / "exported.onnx"
                result = radir("export", model, "--onnx", onnx, "--force")
                if result.returncode == UNSUPPORTED:
                    self.skipTest(result.stderr.strip())
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertGreater(onnx.stat().st_size, 100)

    def test_runs_are_reported(self):
        for config in self.files.glob("*/config.json"):
            run = config.parent
            # A stopped run has nothing to draw before its first epoch ended.
            if not (run / "metrics.jsonl").exists():
                continue
            with self.subTest(run=run.name):
                self.succeed("report", run)
                self.assertIn("<svg", (run / "report.html").read_text())

    def test_finished_runs_stay_as_they_are(self):
        for config in self.files.glob("*/config.json"):
            run = config.parent
            if run.name in EXPECTED["resumed"]:
                continue
            with self.subTest(run=run.name):
                before = (run / "model.safetensors").read_bytes()
                command = run.name.split("-")[0]
                self.assertIn("finished", radir(command, "--resume", run).stderr)
                self.assertEqual((run / "model.safetensors").read_bytes(), before)

    def test_stopped_runs_come_to_the_same_parameters(self):
        for name, then in EXPECTED["resumed"].items():
            with self.subTest(run=name):
                run = self.files / name
                self.succeed(name.split("-")[0], "--resume", run)
                self.assertEqual(tensor_hashes(run / "model.safetensors"), then)


if __name__ == "__main__":
    unittest.main()

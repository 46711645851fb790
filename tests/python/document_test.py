"""radir.reproduce and radir.report."""

import importlib.machinery
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import radir

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_benchmark(folder):
    """The small benchmark of tools/kill_test."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("kill_test", str(ROOT / "tools" / "kill_test"))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("kill_test", loader)
    )
    loader.exec_module(module)
    module.write_benchmark(pathlib.Path(folder))


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.settings = {"data_dir": self.folder, "sets": ["yacht"], "steps": 20}

    def reproduce(self, run, **more):
        return radir.reproduce("uci", os.path.join(self.folder, run), **self.settings, **more)

    def test_uci(self):
        write_benchmark(self.folder)
        seen = []
        found = self.reproduce("run", callback=seen.append)
        (yacht,) = found.results["sets"]
        self.assertEqual((yacht["name"], yacht["splits"]), ("yacht", 2))
        self.assertEqual(found.results["not_the_published_data"][0]["set"], "yacht")
        self.assertEqual(seen[0].done, 0)
        self.assertEqual(seen[-1].done, seen[-1].total)
        self.assertIn("not the published data: yacht", found.html)
        self.assertIn("<iframe srcdoc=", found._repr_html_())
        self.assertIn("run=", repr(found))
        # The same call reads what is there.
        again = self.reproduce("run")
        self.assertEqual(again.results, found.results)
        with self.assertRaisesRegex(radir.ArgumentError, "other settings"):
            self.reproduce("run", seed=3)

    def test_stops_and_resumes_to_the_same_numbers(self):
        write_benchmark(self.folder)
        expected = self.reproduce("whole").results["sets"]
        with self.assertRaisesRegex(radir.StoppedError, "resume"):
            self.reproduce("run", callback=lambda progress: True)
        self.assertEqual(self.reproduce("run").results["sets"], expected)

    def test_stops_in_the_middle_and_resumes_to_the_same_numbers(self):
        write_benchmark(self.folder)
        self.settings["steps"] = 4000
        expected = self.reproduce("whole").results["sets"]
        # Asked once before the work, and then while it is done.
        asked = itertools.count()
        with self.assertRaisesRegex(radir.StoppedError, "resume"):
            self.reproduce("run", callback=lambda progress: next(asked) > 2)
        self.assertTrue(list(pathlib.Path(self.folder, "run").glob("*checkpoint*")))
        self.assertEqual(self.reproduce("run").results["sets"], expected)

    @unittest.skipUnless(os.path.exists(os.environ.get("RADIR_PROGRAM", "")), "no program")
    def test_has_the_numbers_of_the_program(self):
        write_benchmark(self.folder)
        words = f"reproduce uci --data-dir {self.folder} --sets yacht --steps 20 --json"
        done = subprocess.run(
            [os.environ["RADIR_PROGRAM"], *words.split(), "--out", f"{self.folder}/program"],
            capture_output=True, text=True, check=True,
        )
        found = self.reproduce("run").results
        for both in ("version", "sets", "not_the_published_data"):
            self.assertEqual(radir._library.json.loads(done.stdout)[both], found[both])

    def test_figures(self):
        figures = radir.reproduce("figures")
        self.assertIn("<svg", figures.html)
        path = os.path.join(self.folder, "figures.html")
        figures.save(path)
        self.assertGreater(os.path.getsize(path), 10000)

    def test_errors(self):
        with self.assertRaisesRegex(NotImplementedError, "lenet300"):
            radir.reproduce("everything")
        with self.assertRaisesRegex(radir.ArgumentError, "sets"):
            radir.reproduce("uci", "run", setz=["yacht"])
        with self.assertRaisesRegex(OSError, "yacht"):
            self.reproduce("run")
        write_benchmark(self.folder)
        with self.assertRaisesRegex(radir.ArgumentError, "run is missing"):
            radir.reproduce("uci", **self.settings)
        with self.assertRaisesRegex(OSError, "mnist"):
            radir.reproduce("lenet5", "run", data_dir=self.folder)


class ReportTest(unittest.TestCase):
    def test_of_a_run(self):
        x = np.random.default_rng(0).normal(size=(60, 2))
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            settings = {"method": "rdp", "steps": 200, "run": run}
            table = radir.Table("x").add_matrix(x).add_numbers("y", x[:, 0])
            radir.Model.fit(table, "y", settings)
            page = radir.report(run)
        self.assertEqual(page.results["run"], run)
        self.assertIn("finished", page.state)
        self.assertIn("<html", page.html)
        self.assertIn("srcdoc", page._repr_html_())
        with self.assertRaises(OSError):
            radir.report("no/such/run")


if __name__ == "__main__":
    unittest.main()

"""Tables and models, without scikit-learn."""

import copy
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import numpy as np

import radir
from radir._model import Interruptible

QUICK = {"method": "rdp", "steps": 300, "hidden": [10]}


def numbers(rows=120):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(rows, 3))
    return x, x[:, 0] - 2 * x[:, 1] + 0.1 * generator.normal(size=rows)


def table_of(x, y):
    return radir.Table("numbers").add_matrix(x).add_numbers("y", y)


def means(model, x, **options):
    table = radir.Table("x").add_matrix(x)
    return model.predict(table, len(x), ["mean"], **options)["mean"]


class ModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x, cls.y = numbers()
        cls.model = radir.Model.fit(table_of(cls.x, cls.y), "y", QUICK)

    def test_predicts(self):
        self.assertLess(np.abs(means(self.model, self.x) - self.y).mean(), 0.4)
        scores = self.model.evaluate(table_of(self.x, self.y))
        self.assertGreater(scores["coverage_95"], 0.8)
        self.assertIn("rmse", scores)

    def test_any_layout_gives_the_same(self):
        expected = means(self.model, self.x)
        wide = np.zeros((len(self.x), 6))
        wide[:, ::2] = self.x
        backwards = np.ascontiguousarray(self.x[::-1])[::-1]
        for same in (np.asfortranarray(self.x), wide[:, ::2], backwards):
            np.testing.assert_array_equal(means(self.model, same), expected)
        as_float = means(self.model, self.x.astype(np.float32))
        np.testing.assert_allclose(as_float, expected, rtol=1e-3, atol=1e-4)

    def test_looks_at_the_numbers_where_they_are(self):
        x = np.ascontiguousarray(self.x, dtype=np.float32)
        table = radir.Table("x").add_matrix(x)
        self.assertIs(table._kept[0], x)

    def test_pickles_saves_and_loads(self):
        expected = means(self.model, self.x)
        copy = pickle.loads(pickle.dumps(self.model))
        np.testing.assert_array_equal(means(copy, self.x), expected)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            copy.save(path)
            loaded = radir.Model.load(path)
        np.testing.assert_array_equal(means(loaded, self.x), expected)
        self.assertEqual(loaded.columns, ["column_1", "column_2", "column_3"])

    def test_knows_which_columns_matter(self):
        importance = self.model.importance()
        self.assertGreater(importance["column_2"], importance["column_3"])

    def test_shows_itself(self):
        self.assertIn("3-10", repr(self.model))
        self.assertIn("<table>", self.model._repr_html_())

    def test_errors_are_exceptions_of_python(self):
        with self.assertRaises(radir.ArgumentError) as caught:
            radir.Model.fit(table_of(self.x, self.y), "z", QUICK)
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(radir.ArgumentError, "steps"):
            radir.Model.fit(table_of(self.x, self.y), "y", {"stepz": 3})
        with self.assertRaises(OSError):
            radir.Model.load("no/such/file")
        with self.assertRaises(NotImplementedError):
            radir.Model.fit(table_of(self.x, self.y), "y", {"method": "magic"})
        with self.assertRaises(ValueError):
            radir.Table("x").add_matrix(self.x[:, 0])
        with self.assertRaisesRegex(ValueError, "2 names"):
            radir.Table("x").add_matrix(self.x, ["a", "b"])
        for wanted in (["foo"], ["mean", "values"]):
            with self.assertRaisesRegex(ValueError, "has no '(foo|values)'; it has mean, sd"):
                self.model.predict(table_of(self.x, self.y), len(self.x), wanted)

    def test_copies_share_what_the_library_has(self):
        expected = means(self.model, self.x)
        for _ in range(2):
            np.testing.assert_array_equal(means(copy.copy(self.model), self.x), expected)
        table = table_of(self.x, self.y)
        for _ in range(2):
            self.assertIn("rmse", self.model.evaluate(copy.copy(table)))
        for refused in (copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "a table of the library cannot be pickled"):
                refused(table)

    def test_threads_at_once(self):
        expected = means(self.model, self.x)
        wrong = []

        def work():
            for _ in range(5):
                if not np.array_equal(means(self.model, self.x), expected):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


def in_a_child(action):
    """The exit status of a forked process that does it: 0, or 14 if it takes
    longer than ten seconds."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


class ForkTest(unittest.TestCase):
    """The threads that a model keeps for predictions are not in a child."""

    def test_children_use_the_model_of_their_parent(self):
        x, y = numbers(300)
        model = radir.Model.fit(table_of(x, y), "y", QUICK)
        expected = means(model, x, threads=2)

        def predict():
            for threads in (2, 2, 1):
                np.testing.assert_array_equal(means(model, x, threads=threads), expected)

        def free():
            nonlocal model
            del model

        def fit():
            again = radir.Model.fit(table_of(x, y), "y", {**QUICK, "threads": 2})
            np.testing.assert_array_equal(means(again, x, threads=2), expected)

        def predict_in_a_grandchild():
            predict()
            assert in_a_child(predict) == 0

        for action in (predict, free, fit, predict_in_a_grandchild):
            self.assertEqual(in_a_child(action), 0, action.__name__)
        np.testing.assert_array_equal(means(model, x, threads=2), expected)


def main_thread_is_alone():
    """Whether it is within five seconds."""
    end = time.monotonic() + 5
    while sum(thread.is_alive() for thread in threading.enumerate()) > 1:
        if time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True


class RunTest(unittest.TestCase):
    def test_folders_are_texts_or_paths(self):
        x, y = numbers()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run"
            settings = {**QUICK, "hidden": np.array([10])}
            model = radir.Model.fit(table_of(x, y), "y", {**settings, "run": path})
            again = radir.Model.fit(table_of(x, y), "y", {**settings, "run": str(path)})
            self.assertEqual(model.to_bytes(), again.to_bytes())
            self.assertTrue((path / "model.safetensors").exists())


class StopTest(unittest.TestCase):
    def test_callback_sees_the_progress_and_stops(self):
        x, y = numbers()
        seen = []
        radir.Model.fit(table_of(x, y), "y", QUICK, seen.append)
        self.assertEqual(seen[-1].done, seen[-1].total)
        with self.assertRaises(radir.StoppedError):
            radir.Model.fit(table_of(x, y), "y", QUICK, lambda progress: True)

    def test_exceptions_of_the_callback_arrive(self):
        def fail(progress):
            raise KeyError("mine")

        x, y = numbers()
        with self.assertRaises(KeyError):
            radir.Model.fit(table_of(x, y), "y", QUICK, fail)

    def test_ctrl_c_stops(self):
        x, y = numbers()
        start = time.monotonic()
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            radir.Model.fit(table_of(x, y), "y", {"method": "rdp", "steps": 10**9})
        self.assertLess(time.monotonic() - start, 10)

    def test_ctrl_c_while_the_thread_starts(self):
        start, calls = threading.Thread.start, []

        def interrupted(when):
            def begin(thread):
                if when == "after":
                    start(thread)
                raise KeyboardInterrupt

            return begin

        def call(*_):
            calls.append(1)

        for when in ("before", "after"):
            with unittest.mock.patch.object(threading.Thread, "start", interrupted(when)):
                with self.assertRaises(KeyboardInterrupt):
                    Interruptible(call, None).run(None)
        self.assertTrue(main_thread_is_alone())
        self.assertEqual(calls, [])


@unittest.skipUnless(os.path.exists(os.environ.get("RADIR_PROGRAM", "")), "no program")
class ProgramTest(unittest.TestCase):
    """The same seed gives the same bits from Python and from the program."""

    def compare(self, target, texts, options, settings):
        x, y = numbers(90)
        with tempfile.TemporaryDirectory() as folder:
            csv = os.path.join(folder, "table.csv")
            with open(csv, "w") as file:
                file.write("a,b,c,y\n")
                for row, value in zip(x, texts if texts else y):
                    cells = [*map(repr, map(float, row)), str(value)]
                    file.write(",".join(cells) + "\n")
            run = os.path.join(folder, "run")
            words = [os.environ["RADIR_PROGRAM"], "train", csv, "--target", "y", "--out", run]
            words += ["--missing", "refuse", "--no-holdout"]
            subprocess.run(words + options, check=True, capture_output=True)
            theirs = radir.Model.load(run)
        table = radir.Table("t").add_matrix(x, ["a", "b", "c"])
        if texts:
            names = sorted(set(texts))
            table.add_categories("y", names, [names.index(text) for text in texts])
        else:
            table.add_numbers("y", y)
        ours = radir.Model.fit(table, "y", settings)
        inputs = radir.Table("t").add_matrix(x, ["a", "b", "c"])
        wanted = ["class_probabilities"] if texts else ["mean", "sd"]
        for name in wanted:
            np.testing.assert_array_equal(
                ours.predict(inputs, 90, wanted)[name], theirs.predict(inputs, 90, wanted)[name]
            )
        self.assertEqual(
            ours.description["preprocessing"], theirs.description["preprocessing"]
        )
        self.assertEqual(ours.description["metrics"], theirs.description["metrics"])

    def test_numbers(self):
        options = ["--method", "rdp", "--steps", "300", "--seed", "5", "--restarts", "2"]
        settings = {"method": "rdp", "steps": 300, "seed": 5, "restarts": 2}
        self.compare("y", None, options, settings)

    def test_chains(self):
        options = "--method hmc --hidden 5 --warmup 20 --draws 20 --kept 5 --chains 2".split()
        settings = {
            **{"method": "hmc", "hidden": [5], "warmup": 20, "draws": 20},
            **{"kept": 5, "chains": 2},
        }
        self.compare("y", None, options, settings)

    def test_classes(self):
        texts = ["up" if value > 0 else "down" for value in numbers(90)[1]]
        options = ["--method", "rdp", "--steps", "300"]
        self.compare("y", texts, options, {"method": "rdp", "steps": 300})


class ImportTest(unittest.TestCase):
    def run_python(self, code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_estimators_without_scikit_learn(self):
        self.run_python(
            "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None\n"
            "import numpy as np, radir\n"
            "x = np.random.default_rng(0).normal(size=(60, 2)); y = x[:, 0] - x[:, 1]\n"
            "r = radir.RadirRegressor(method='rdp', steps=500).fit(x, y)\n"
            "assert r.score(x, y) > 0.8, r\n"
            "c = radir.RadirClassifier(method='rdp', steps=500).fit(x, y > 0)\n"
            "assert c.score(x, y > 0) > 0.8 and c.get_params()['steps'] == 500\n"
            "assert 'steps=500' in repr(c)\n"
            "try: radir.RadirRegressor().predict(x)\n"
            "except ValueError: pass\n"
            "else: raise SystemExit('no error')\n"
        )

    def test_import_is_quick_and_light(self):
        self.run_python(
            "import sys, radir\n"
            "assert 'sklearn' not in sys.modules and 'torch' not in sys.modules\n"
        )


if __name__ == "__main__":
    unittest.main()

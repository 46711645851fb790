"""The scikit-learn estimators."""

import decimal
import inspect
import json
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
import warnings

try:
    import pandas as pd
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

import numpy as np

import radir
from radir import RadirClassifier, RadirRegressor

QUICK = {"method": "rdp", "steps": 1000, "hidden": (20,), "batch": 50}


def numbers(rows=150):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(rows, 3))
    return x, x[:, 0] - 2 * x[:, 1] + 0.1 * generator.normal(size=rows)


def frame(rows=150):
    x, y = numbers(rows)
    data = pd.DataFrame(x, columns=["a", "b", "c"], index=range(1000, 1000 + rows))
    data["kind"] = pd.Categorical(["red" if i % 3 else "blue" for i in range(rows)])
    data["flag"] = [i % 2 == 0 for i in range(rows)]
    return data, pd.Series(y + 3 * (data["kind"] == "blue").to_numpy(), name="price")


class ChecksTest(unittest.TestCase):
    def check(self, estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(estimator)

    def test_regressor(self):
        self.check(RadirRegressor(**QUICK))

    def test_classifier(self):
        self.check(RadirClassifier(**QUICK))

    def test_parameters_are_the_settings_of_the_library(self):
        params = RadirRegressor().get_params()
        names = {setting["name"] for setting in radir.fit_settings()}
        own = {"random_state", "n_jobs", "samples", "verbose", "callback"}
        self.assertEqual(set(params), names - {"seed", "threads", "weights"} | own)
        self.assertEqual(params["hidden"], (50,))
        self.assertEqual(params["steps"], 20000)
        self.assertIn("learning_rate=0.01", str(inspect.signature(RadirRegressor)))
        with self.assertRaisesRegex(TypeError, "stepz"):
            RadirRegressor(stepz=3)


class RegressorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x, cls.y = numbers()
        cls.fitted = RadirRegressor(**QUICK).fit(cls.x, cls.y)

    def test_error_bars(self):
        mean, std = self.fitted.predict(self.x, return_std=True)
        self.assertGreater(self.fitted.score(self.x, self.y), 0.9)
        low, high = self.fitted.predict_interval(self.x, 0.9).T
        self.assertTrue((low < mean).all() and (mean < high).all())
        quantiles = self.fitted.predict_quantiles(self.x, [0.05, 0.95])
        np.testing.assert_allclose(quantiles, np.column_stack([low, high]))
        inside = np.mean((low < self.y) & (self.y < high))
        self.assertGreater(inside, 0.8)
        _, far = self.fitted.predict(self.x + 10, return_std=True)
        self.assertGreater(far.mean(), std.mean())

    def test_one_row_has_the_bits_that_it_has_among_others(self):
        mean, std = self.fitted.predict(self.x, return_std=True)
        quantiles = self.fitted.predict_quantiles(self.x)
        as_frame = pd.DataFrame(self.x)  # the way through a table
        np.testing.assert_array_equal(self.fitted.predict(as_frame), mean)
        for i in (0, 1, len(self.x) - 1):
            row = self.x[i : i + 1]
            self.assertEqual(self.fitted.predict(row, return_std=True), (mean[i], std[i]))
            np.testing.assert_array_equal(self.fitted.predict_quantiles(row)[0], quantiles[i])
        huge = np.full((2, 3), 1e308)
        self.assertEqual(self.fitted.predict(huge).shape, (2,))
        for wrong in (np.nan, np.inf):
            with self.assertRaisesRegex(ValueError, "NaN|infinity"):
                self.fitted.predict(np.array([[0.0, wrong, 0.0]]))

    def test_distribution(self):
        law = self.fitted.predict_dist(self.x)
        mean, std = self.fitted.predict(self.x, return_std=True)
        self.assertEqual(len(law), len(self.x))
        np.testing.assert_allclose(law.mean(), mean)
        np.testing.assert_allclose(law.std(), std)
        np.testing.assert_allclose(np.hypot(law.epistemic_std(), law.aleatoric_std()), std)
        np.testing.assert_allclose(law.cdf(law.ppf(0.3)), 0.3, atol=1e-6)
        np.testing.assert_allclose(np.log(law.pdf(self.y)), law.logpdf(self.y))
        scores = self.fitted.evaluate(self.x, self.y)
        self.assertAlmostEqual(law.logpdf(self.y).mean(), scores["log_likelihood"], places=4)
        self.assertAlmostEqual(law.crps(self.y).mean(), scores["crps"], places=4)
        np.testing.assert_allclose(law.median(), law.interval(1e-9)[0], atol=1e-6)
        data = self.x.copy()
        later = self.fitted.predict_dist(data)
        data[:] = 0
        np.testing.assert_array_equal(later.mean(), mean)
        self.assertEqual(repr(law), "PredictiveDistribution(150 rows)")
        self.assertEqual(law._repr_html_().count("<tr>"), 11)
        self.assertIn("and 140 more rows", law._repr_html_())

    def test_pickle_clone_save_load(self):
        expected = self.fitted.predict(self.x)
        again = pickle.loads(pickle.dumps(self.fitted))
        np.testing.assert_array_equal(again.predict(self.x), expected)
        np.testing.assert_array_equal(
            clone(self.fitted).fit(self.x, self.y).predict(self.x), expected
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            self.fitted.save(path)
            loaded = RadirRegressor.load(path)
        self.assertEqual(loaded.method, "rdp")
        np.testing.assert_array_equal(loaded.predict(self.x), expected)

    def test_a_loaded_model_takes_what_the_fit_took(self):
        x = np.column_stack([self.x, np.ones(len(self.x))])[:, [0, 3, 1, 2]]
        frames = pd.DataFrame(x, columns=["a", "one", "b", "c"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            for X in (x, frames, np.delete(x, 1, axis=1)):
                fitted = RadirRegressor(**QUICK).fit(X, self.y)
                fitted.save(path)
                loaded = RadirRegressor.load(path)
                self.assertEqual(loaded.n_features_in_, X.shape[1])
                self.assertEqual(
                    hasattr(loaded, "feature_names_in_"), hasattr(fitted, "feature_names_in_")
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
                    self.assertEqual(loaded.score(X, self.y), fitted.score(X, self.y))
                np.testing.assert_array_equal(
                    loaded.feature_importances_, fitted.feature_importances_
                )
            fitted = RadirRegressor(**QUICK).fit(frames, self.y)
            fitted.save(path)
            loaded = RadirRegressor.load(path)
        used = frames.drop(columns="one")
        np.testing.assert_array_equal(loaded.predict(used), fitted.predict(frames))
        with self.assertRaisesRegex(ValueError, "feature names"):
            loaded.predict(frames.drop(columns="a"))

    def test_columns_may_be_labelled_by_numbers(self):
        # A category makes it a table, whose names are texts.
        frame = pd.DataFrame({0: self.x[:, 0], 1: 1.0, 2: self.x[:, 1], 3: self.x[:, 2] > 0})
        frame[3] = frame[3].map({True: "yes", False: "no"})
        fitted = RadirRegressor(**QUICK).fit(frame, self.y)
        used = frame.drop(columns=1)
        np.testing.assert_array_equal(fitted.predict(used), fitted.predict(frame))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            fitted.save(path)
            loaded = RadirRegressor.load(path)
        np.testing.assert_array_equal(loaded.predict(used), fitted.predict(frame))

    def test_prune_and_export(self):
        smaller = self.fitted.prune(max_parameters=60)
        self.assertLessEqual(smaller.model_.description["parameters"], 60)
        self.assertEqual(len(smaller.predict(self.x)), len(self.x))
        self.assertEqual(len(smaller.feature_importances_), 3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            try:
                smaller.to_onnx(path)
                self.assertGreater(os.path.getsize(path), 100)
            except radir.UnsupportedError:
                print("built without ONNX")

    def test_weights_count_rows(self):
        ones = RadirRegressor(**QUICK).fit(self.x, self.y, np.ones(len(self.y)))
        np.testing.assert_array_equal(ones.predict(self.x), self.fitted.predict(self.x))
        half = np.repeat([1, 0], [75, 75])
        some = RadirRegressor(**QUICK).fit(self.x, self.y, half)
        alone = RadirRegressor(**QUICK).fit(self.x[:75], self.y[:75])
        np.testing.assert_array_equal(some.predict(self.x), alone.predict(self.x))
        with self.assertRaisesRegex(ValueError, "whole numbers"):
            RadirRegressor(**QUICK).fit(self.x, self.y, np.full(len(self.y), 0.5))
        with self.assertRaisesRegex(ValueError, "all zero"):
            RadirRegressor(**QUICK).fit(self.x, self.y, np.zeros(len(self.y)))

    def test_the_order_of_rows_does_not_count(self):
        order = np.random.default_rng(1).permutation(len(self.y))
        other = RadirRegressor(**QUICK).fit(self.x[order], self.y[order])
        np.testing.assert_array_equal(other.predict(self.x), self.fitted.predict(self.x))
        weights = np.where(np.arange(len(self.y)) % 4 == 0, 3, 1)
        weighted = RadirRegressor(**QUICK).fit(self.x, self.y, weights)
        copies = np.random.default_rng(2).permutation(np.repeat(order, weights[order]))
        copied = RadirRegressor(**QUICK).fit(self.x[copies], self.y[copies])
        np.testing.assert_array_equal(copied.predict(self.x), weighted.predict(self.x))
        self.assertEqual(weighted.model_.columns_of_fit, self.fitted.model_.columns_of_fit)

    def test_no_guarantee_for_rows_that_count_twice(self):
        X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
        with self.assertRaisesRegex(radir.ArgumentError, "conformal guarantees nothing"):
            radir.RadirRegressor(conformal=True).fit(X, y, sample_weight=np.full(20, 2))

    def test_random_states_and_jobs(self):
        with_one = RadirRegressor(**QUICK, restarts=2, n_jobs=1).fit(self.x, self.y)
        with_all = RadirRegressor(**QUICK, restarts=2, n_jobs=-1).fit(self.x, self.y)
        np.testing.assert_array_equal(with_one.predict(self.x), with_all.predict(self.x))
        for state in (None, np.random.RandomState(3), np.random.default_rng(3)):
            RadirRegressor(method="rdp", steps=10, random_state=state).fit(self.x, self.y)

    def test_numbers_of_numpy_are_settings(self):
        x, y = numbers()
        model = RadirRegressor(method="rdp", steps=np.int64(50)).fit(x, y)
        self.assertEqual(model.predict(x).shape, y.shape)

    def test_pipelines_and_searches(self):
        pipe = make_pipeline(StandardScaler(), RadirRegressor(**QUICK))
        self.assertGreater(cross_val_score(pipe, self.x, self.y, cv=2).mean(), 0.8)
        grid = GridSearchCV(RadirRegressor(**QUICK), {"hidden": [(5,), (10,)]}, cv=2)
        self.assertIn(grid.fit(self.x, self.y).best_params_["hidden"], [(5,), (10,)])

    def test_presets(self):
        article = RadirRegressor(preset="article", steps=50).fit(self.x, self.y)
        training = article.model_.description["training"]
        self.assertEqual(training["noise_shape"], 6)
        with self.assertRaises(NotImplementedError):
            RadirRegressor(preset="magic").fit(self.x, self.y)

    def test_run_may_be_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run"
            fitted = RadirRegressor(**QUICK, run=path).fit(self.x, self.y)
            loaded = RadirRegressor.load(path)
        np.testing.assert_array_equal(loaded.predict(self.x), fitted.predict(self.x))

    def test_progress(self):
        seen = []
        RadirRegressor(**QUICK, callback=seen.append).fit(self.x, self.y)
        self.assertEqual(seen[-1].done, seen[-1].total)
        stop = RadirRegressor(**QUICK, callback=lambda progress: True)
        with self.assertRaises(radir.StoppedError):
            stop.fit(self.x, self.y)


class PandasTest(unittest.TestCase):
    def test_frames_in_and_out(self):
        data, price = frame()
        fitted = RadirRegressor(**QUICK).fit(data, price)
        self.assertEqual(list(fitted.feature_names_in_), list(data.columns))
        self.assertGreater(fitted.score(data, price), 0.9)
        result = fitted.predict_frame(data.iloc[:4], [0.1, 0.9])
        self.assertEqual(list(result.index), [1000, 1001, 1002, 1003])
        self.assertEqual(list(result.columns[-2:]), ["q0.1", "q0.9"])
        named = fitted.model_.description["preprocessing"]
        self.assertEqual(named["target"]["name"], "price")
        self.assertEqual(named["inputs"][3]["categories"], ["blue", "red"])
        self.assertEqual(len(fitted.feature_importances_), 5)
        self.assertIn("coverage_90", fitted.evaluate(data, price))

    def test_objects_of_numbers_are_numbers(self):
        data, price = frame()
        fitted = RadirRegressor(**QUICK).fit(data, price)
        objects = data.astype({"a": object, "flag": object})
        objects["b"] = [decimal.Decimal(float(value)) for value in data["b"]]
        again = RadirRegressor(**QUICK).fit(objects, price)
        self.assertEqual(
            again.model_.description["preprocessing"], fitted.model_.description["preprocessing"]
        )
        for one, other in ((fitted, objects), (again, data), (again, objects.iloc[::-1])):
            expected = fitted.predict(data.loc[other.index])
            np.testing.assert_array_equal(one.predict(other), expected)
        self.assertEqual(str(objects.dtypes["a"]), "object")  # the caller's frame
        only = objects[["a", "b"]]
        plain = RadirRegressor(**QUICK).fit(data[["a", "b"]], price)
        np.testing.assert_array_equal(
            RadirRegressor(**QUICK).fit(only, price).predict(only),
            plain.predict(data[["a", "b"]]),
        )
        objects.loc[1003, "a"] = None
        with self.assertRaisesRegex(ValueError, "missing"):
            again.predict(objects)

    def test_categories_of_a_fit_stay_so(self):
        data, price = frame()
        data["mixed"] = [1 if i % 3 else "two" for i in range(len(data))]
        fitted = RadirRegressor(**QUICK).fit(data, price)
        ones = data[data["mixed"] == 1]
        expected = fitted.predict(data)[(data["mixed"] == 1).to_numpy()]
        for same in (ones, ones.astype({"mixed": int}), ones.astype({"mixed": "category"})):
            np.testing.assert_array_equal(fitted.predict(same), expected)
        data["mixed"] = pd.Timedelta("1h")
        with self.assertRaisesRegex(ValueError, "timedelta64.*make numbers"):
            RadirRegressor(**QUICK).fit(data, price)

    def test_dates(self):
        data, price = frame()
        data["when"] = pd.Timestamp("2020-01-06") + pd.to_timedelta(range(150), "D")
        fitted = RadirRegressor(**QUICK).fit(data, price)
        (code,) = [
            column
            for column in fitted.model_.description["preprocessing"]["inputs"]
            if column["name"] == "when"
        ]
        self.assertEqual(code["type"], "date")
        expected = fitted.predict(data)
        texts = data.astype({"when": str})
        with_zone = data.assign(when=data["when"].dt.tz_localize("Europe/Berlin"))
        objects = data.assign(when=data["when"].dt.date)
        for same in (texts, with_zone, objects):
            np.testing.assert_array_equal(fitted.predict(same), expected)
        alone = data[["when"]]
        np.testing.assert_array_equal(
            RadirRegressor(**QUICK).fit(alone, price).predict(alone),
            RadirRegressor(**QUICK).fit(objects[["when"]], price).predict(alone),
        )
        data.loc[1003, "when"] = pd.NaT
        with self.assertRaisesRegex(ValueError, "missing"):
            fitted.predict(data)

    def test_other_columns_are_refused(self):
        data, price = frame()
        fitted = RadirRegressor(**QUICK).fit(data, price)
        with self.assertRaisesRegex(ValueError, "feature names"):
            fitted.predict(data.rename(columns={"a": "z"}))
        with self.assertRaisesRegex(ValueError, "4 features"):
            fitted.predict(data.drop(columns="a"))
        other = data.copy()
        other["kind"] = "green"  # not seen: as a level too rare for an input
        self.assertTrue(np.all(np.isfinite(fitted.predict(other))))

    def test_missing_values(self):
        data, price = frame()
        data.loc[1003, "a"] = np.nan
        data.loc[1004, "kind"] = None
        with self.assertRaisesRegex(ValueError, "missing"):
            RadirRegressor(**QUICK).fit(data, price)
        fitted = RadirRegressor(**QUICK, missing="mean").fit(data, price)
        self.assertTrue(np.isfinite(fitted.predict(data)).all())
        dropped = RadirRegressor(**QUICK, missing="drop").fit(data, price)
        np.testing.assert_array_equal(np.isnan(dropped.predict(data)).nonzero()[0], [3, 4])
        x, y = numbers()
        x[5, 1] = np.nan
        with self.assertRaises(ValueError):
            RadirRegressor(**QUICK).fit(x, y)
        self.assertTrue(
            np.isfinite(RadirRegressor(**QUICK, missing="mean").fit(x, y).predict(x)).all()
        )


class ClassifierTest(unittest.TestCase):
    def test_labels_of_any_kind(self):
        x, y = numbers()
        for low, high in ((2, 10), ("no", "yes"), (False, True), (-1.0, 2.0)):
            labels = np.where(y > 0, high, low)
            fitted = RadirClassifier(**QUICK).fit(x, labels)
            self.assertEqual(list(fitted.classes_), [low, high])
            self.assertGreater(fitted.score(x, labels), 0.9)
            probabilities = fitted.predict_proba(x)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1)
            self.assertGreater(probabilities[y > 1, 1].mean(), 0.8)

    def test_frames_and_uncertainty(self):
        data, price = frame()
        kinds = data.pop("kind")
        data["price"] = price.to_numpy()
        fitted = RadirClassifier(**QUICK).fit(data, kinds)
        result = fitted.predict_frame(data)
        self.assertEqual(
            list(result.columns), ["label", "p_blue", "p_red", "entropy", "mutual_information"]
        )
        self.assertTrue((result["mutual_information"] <= result["entropy"] + 1e-9).all())
        self.assertLess(fitted.evaluate(data, kinds)["error"], 0.3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            fitted.save(path)
            loaded = RadirClassifier.load(path)
        np.testing.assert_array_equal(loaded.predict(data), fitted.predict(data))
        json.dumps(loaded.model_.description)


if __name__ == "__main__":
    unittest.main()

"""radir.compress."""

import copy
import os
import tempfile
import unittest

import numpy as np

import radir

NETWORK = {
    "input": [1, 8, 8],
    "layers": [
        {"type": "conv2d", "outputs": 6, "kernel": 3},
        {"type": "relu"},
        {"type": "flatten"},
        {"type": "dense", "outputs": 12},
        {"type": "relu"},
        {"type": "dense", "outputs": 2},
    ],
}
QUICK = {"epochs": 6, "prune_every": 2, "fine_tune_epochs": 2, "batch": 20, "samples": 3}


def bars(count, seed):
    generator = np.random.default_rng(seed)
    images = generator.integers(0, 40, size=(count, 8, 8)).astype(np.uint8)
    labels = np.array(["lying", "upright"])[np.arange(count) % 2]
    for image, label, place in zip(images, labels, generator.integers(8, size=count)):
        image[(place, slice(None)) if label == "lying" else (slice(None), place)] = 230
    return images, labels


class CompressTest(unittest.TestCase):
    def test_makes_a_network_small(self):
        images, labels = bars(400, 1)
        seen = []
        small = radir.compress(images, labels, *bars(100, 2), NETWORK, QUICK, seen.append)
        self.assertEqual(list(small.classes_), ["lying", "upright"])
        self.assertLess(small.figures["test_error"], 0.2)
        self.assertGreater(np.mean(small.predict(images) == labels), 0.8)
        floats = images.astype(np.float64)[:, np.newaxis] / 255
        np.testing.assert_allclose(
            small.decision_function(floats), small.decision_function(images), atol=1e-5
        )
        np.testing.assert_allclose(small.predict_proba(images).sum(axis=1), 1)
        self.assertEqual(small.image_shape, (1, 8, 8))
        for shape in ((4, 4, 4), (2, 16, 16), (3, 3, 8, 8), (1, 1, 1), (2, 4, 16)):
            for method in (small.predict, small.predict_proba, small.decision_function):
                with self.assertRaisesRegex(ValueError, r"takes images of .* \[1, 8, 8\]"):
                    method(np.zeros(shape, np.float32))
        self.assertEqual(len(small.predict(images[:0])), 0)
        for _ in range(2):  # copies share what the library has
            self.assertEqual(len(copy.copy(small).predict(images)), 400)
        # As often as time goes by.
        self.assertGreater(len(seen), 0)
        self.assertIn("parameters", repr(small))
        self.assertIn("unpruned", small._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "network.onnx")
            try:
                small.to_onnx(path)
            except radir.UnsupportedError:
                print("built without ONNX")
                return
            again = radir.compress(images, labels, *bars(100, 2), path, {**QUICK, "epochs": 2})
        self.assertEqual(len(again.predict(images)), 400)

    def test_errors(self):
        images, labels = bars(40, 1)
        with self.assertRaisesRegex(ValueError, "dimensions"):
            radir.compress(images[0], labels, images, labels, NETWORK)
        with self.assertRaisesRegex(ValueError, "40 images"):
            radir.compress(images, labels[1:], images, labels, NETWORK)
        with self.assertRaises(radir.ArgumentError):
            radir.compress(images, labels, images, labels, "lenet5")
        with self.assertRaises(radir.StoppedError):
            radir.compress(images, labels, images, labels, NETWORK, QUICK, lambda _: True)
        self.assertIn("pressure", [s["name"] for s in radir.compress_settings()])


if __name__ == "__main__":
    unittest.main()

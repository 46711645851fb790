"""radir.torch."""

import copy
import io
import json
import math
import os
import pickle
import subprocess
import sys
import unittest
import warnings

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(0)

import radir
import radir.torch as rt
from radir import _torch_functions as functions

torch.set_num_threads(1)


def copies(layer):
    return [flat.detach().clone().requires_grad_() for flat in layer._flats()]


class LayerTest(unittest.TestCase):
    def test_gradients_are_those_of_differences(self):
        for family in ("gaussian", "radial-directional"):
            layer = rt.BayesLinear(4, 3, family=family, dtype=torch.float64, seed=1)
            posteriors = list(layer._posteriors.values())
            kl = lambda *flats: functions.Kl.apply(posteriors, *flats)
            self.assertTrue(torch.autograd.gradcheck(kl, copies(layer)))
        layer = rt.BayesLinear(4, 3, family="gaussian", dtype=torch.float64, seed=1)
        posteriors = list(layer._posteriors.values())
        places = [rt.stream(1), rt.stream(1, 0, 4)]
        draw = lambda *flats: functions.Draw.apply(posteriors, places, *flats)
        self.assertTrue(torch.autograd.gradcheck(draw, copies(layer)))

    def test_radii_have_gradients_of_differences(self):
        layer = rt.BayesLinear(4, 3, bias=False, dtype=torch.float64, seed=1)
        loss = lambda: layer.draw(5)[0].pow(2).sum()
        loss().backward()
        gradient, at = layer.weight_posterior.grad, 0
        for block in layer._posteriors["weight"].weight(torch.float64).blocks:
            if "local" in block["name"] or "global" in block["name"]:
                with torch.no_grad():
                    flat = layer.weight_posterior
                    flat[at] += 1e-6
                    above = loss().item()
                    flat[at] -= 2e-6
                    below = loss().item()
                    flat[at] += 1e-6
                expected = (above - below) / 2e-6
                self.assertAlmostEqual(gradient[at].item(), expected, delta=1e-5)
            at += block["size"]

    def test_gradients_of_directions_are_those_of_the_mean(self):
        # A direction is drawn by rejection: a draw jumps where the parameters
        # change which proposal is taken. Its gradient is not the derivative of
        # the draw but an unbiased estimate of that of the mean.
        layer = rt.BayesLinear(4, 3, bias=False, dtype=torch.float64, seed=1)
        blocks, flat, count, h = layer.blocks(), layer.weight_posterior, 2000, 0.1
        for name in ("row", "column"):
            blocks[f"weight_{name}_log_concentration"].fill_(1.5)
        target = blocks["weight_row_direction"] + blocks["weight_column_direction"]

        def losses():
            draws = (layer.draw(i)[0] for i in range(count))
            return [(w * target).sum() + (w[0] * w[1]).sum() for w in draws]

        def values(step):
            with torch.no_grad():
                flat.add_(step)
                result = torch.stack(losses())
                flat.sub_(step)
            return result

        gradients = torch.stack([torch.autograd.grad(loss, flat)[0] for loss in losses()])
        for name, block in blocks.items():
            if not name.endswith(("direction", "log_concentration")):
                continue
            before = flat.detach().clone()
            block.add_(torch.linspace(1, -0.5, block.numel()).view(block.shape))
            step = flat.detach() - before
            flat.detach().copy_(before)
            differences = (values(h * step) - values(-h * step)) / (2 * h)
            errors = gradients @ step - differences
            deviation = errors.std() / count**0.5
            print(f"{name}: {differences.mean():.3f}, error {errors.mean() / deviation:.1f} sd")
            self.assertLess(errors.mean().abs(), 4 * deviation, name)
            self.assertGreater(differences.mean().abs(), 10 * deviation, name)
            self.assertGreater(errors.abs().max(), 1, name)  # of one draw

    def test_draws_depend_on_seed_and_number(self):
        a, b = rt.BayesLinear(5, 4, seed=2), rt.BayesLinear(5, 4, seed=2)
        x = torch.randn(3, 5)
        self.assertTrue(torch.equal(a(x), b(x)))
        self.assertFalse(torch.equal(a(x), a(x)))
        self.assertEqual(int(a.draws), 3)
        a.mode = "frozen"
        self.assertTrue(torch.equal(a(x), a(x)))
        a.mode = "mean"
        self.assertTrue(torch.equal(a(x), nn.functional.linear(x, *a.point())))
        mean, variance = a.moments()
        draws = torch.stack([a.draw(i)[0] for i in range(2000)])
        self.assertTrue(torch.allclose(draws.mean(0), mean, atol=0.1))
        self.assertTrue(torch.allclose(draws.var(0), variance, rtol=0.5, atol=0.01))
        with self.assertRaises(ValueError):
            a.mode = "magic"

    def test_backward_after_other_draws(self):
        layer = rt.BayesLinear(5, 4, seed=2)
        alone = rt.BayesLinear(5, 4, seed=2)
        x = torch.randn(3, 5)
        first, second = layer(x), layer(x)
        first.pow(2).sum().backward()
        alone(x).pow(2).sum().backward()
        for a, b in zip(layer.parameters(), alone.parameters()):
            self.assertTrue(torch.equal(a.grad, b.grad))

    def test_convolution(self):
        layer = rt.BayesConv2d(4, 6, (3, 2), stride=2, padding=1, groups=2, seed=1)
        x = torch.randn(2, 4, 8, 8)
        weight, bias = layer.draw(0)
        expected = nn.functional.conv2d(x, weight, bias, 2, 1, 1, 2)
        self.assertTrue(torch.equal(layer(x), expected))
        with self.assertRaises(ValueError):
            rt.BayesConv2d(3, 6, 3, groups=2)

    def test_copies_and_files_go_on_as_the_original(self):
        net = nn.Sequential(rt.BayesLinear(5, 4, seed=2), rt.BayesLinear(4, 1, seed=3))
        x = torch.randn(3, 5)
        net(x)
        other = nn.Sequential(rt.BayesLinear(5, 4), rt.BayesLinear(4, 1))
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
        file.seek(0)
        other.load_state_dict(torch.load(file))
        same = [copy.deepcopy(net), pickle.loads(pickle.dumps(net)), other]
        expected = net(x)
        for one in same:
            self.assertTrue(torch.equal(one(x), expected))
        self.assertEqual(net.double()(x.double()).dtype, torch.float64)

    def test_prior_with_a_direction_of_its_own(self):
        layer = rt.BayesLinear(5, 4, options="direction_prior=mean-direction", seed=1)
        buffers = [name for name, _ in layer.named_buffers()]
        self.assertTrue(any("direction" in name for name in buffers), buffers)
        layer(torch.randn(2, 5)).sum().backward()
        self.assertTrue(torch.isfinite(layer.kl()))
        blocks = layer.blocks()
        self.assertEqual(blocks["weight_row_direction"].shape, (4, 5))
        before = layer.kl().item()
        blocks["weight_row_direction"].neg_()  # a view
        self.assertGreater(layer.kl().item(), before)

    def test_errors(self):
        with self.assertRaises(radir.UnsupportedError):
            rt.BayesLinear(3, 2, family="magic")
        with self.assertRaises(radir.ArgumentError):
            rt.BayesLinear(3, 2, options="magic=1")
        with self.assertRaises(radir.UnsupportedError):
            rt.BayesLinear(3, 2, dtype=torch.float16)
        with self.assertRaises(ValueError):
            rt.kl(nn.Linear(2, 2))


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class GpuTest(unittest.TestCase):
    """A layer on a GPU has the draws and gradients of one on the CPU."""

    def test_draws_and_gradients(self):
        for options in ("", "direction_prior=mean-direction"):
            here = rt.BayesConv2d(4, 6, 3, options=options, seed=5, dtype=torch.float64)
            there = copy.deepcopy(here).cuda()
            x = torch.randn(2, 4, 8, 8, dtype=torch.float64)
            results = []
            for layer, device in ((here, "cpu"), (there, "cuda")):
                output = layer(x.to(device))
                self.assertEqual((output.device.type, layer.kl().device.type), (device, device))
                rt.elbo(output.pow(2).sum(), layer, 10).backward()
                gradients = [flat.grad.cpu() for flat in layer.parameters()]
                parts = [part.cpu() for part in (*layer.moments(), *layer.point())]
                results.append([output.cpu(), *gradients, *parts, *layer.blocks().values()])
            for a, b in zip(*results):
                self.assertTrue(torch.allclose(a, b.cpu(), rtol=1e-9, atol=1e-9))

    def test_converts_a_network_where_it_is(self):
        net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()
        x = torch.randn(2, 3, device="cuda")
        expected = net(x)
        converted = rt.convert(net, family="gaussian").eval()
        self.assertTrue(torch.allclose(converted(x), expected, atol=1e-5))
        if hasattr(torch, "set_default_device"):
            with torch.device("cuda"):
                self.assertEqual(rt.BayesLinear(3, 4)(x).device.type, "cuda")


PROGRAM = os.environ.get("RADIR_LAYER_VALUES", "")


def pattern(sizes, dtype):
    count = math.prod(sizes)
    return torch.tensor([math.sin(i + 1) for i in range(count)], dtype=torch.float64).view(
        sizes
    ).to(dtype)


def by_block(layer, vectors):
    """Vectors like the parameters as lists by the names of their parts."""
    result = {}
    for (name, posterior), vector in zip(layer._posteriors.items(), vectors):
        at = 0
        for block in posterior.weight(vector.dtype).blocks:
            if block["trainable"]:
                part = vector[at : at + block["size"]]
                result[f"{name}_{block['name']}"] = part.tolist()
                at += block["size"]
    return result


@unittest.skipUnless(os.path.exists(PROGRAM), "no RADIR_LAYER_VALUES: built without libtorch")
class CppLayersTest(unittest.TestCase):
    """The same seed and number of draws give what the layers of radir::nn give."""

    def compare(self, key, layer, sizes, expected):
        dtype = next(layer.parameters()).dtype
        self.assertEqual(
            by_block(layer, [flat.detach() for flat in layer._flats()]),
            expected["parameters"],
            key,
        )
        x = pattern(sizes, dtype)
        first, second = layer(x), layer(x)
        kl = layer.kl()
        ((second * pattern(second.shape, dtype)).sum() + kl).backward()
        tolerance = 1e-6 if dtype == torch.float64 else 1e-5
        for name, got in (("first", first), ("second", second), ("kl", kl)):
            wanted = torch.tensor(expected[name], dtype=torch.float64).view(got.shape)
            self.assertTrue(
                torch.allclose(got.double(), wanted, rtol=tolerance, atol=tolerance), key
            )
        gradients = by_block(layer, [flat.grad for flat in layer.parameters()])
        self.assertEqual(set(gradients), set(expected["gradients"]))
        for name, got in gradients.items():
            for a, b in zip(got, expected["gradients"][name]):
                self.assertLessEqual(abs(a - b), tolerance * max(1, abs(b)), (key, name))

    def test_draws_and_gradients(self):
        done = subprocess.run([PROGRAM], capture_output=True, text=True, check=True)
        document = json.loads(done.stdout)
        self.assertEqual(len(document), 8)
        for key, expected in document.items():
            kind, family, dtype = key.split()
            if kind == "linear":
                layer, sizes = rt.BayesLinear(4, 3, family=family, seed=5), (2, 4)
            else:
                layer = rt.BayesConv2d(4, 6, 3, 2, 1, groups=2, family=family, seed=6)
                sizes = (2, 4, 5, 5)
            # Starting values are floats in C++, whatever they become.
            self.compare(key, layer.to(getattr(torch, dtype)), sizes, expected)


class NetworkTest(unittest.TestCase):
    def test_trains_a_converted_network(self):
        torch.manual_seed(1)
        x = torch.rand(200, 2) * 2 - 1
        y = x[:, :1] - 2 * x[:, 1:]
        net = rt.convert(nn.Sequential(nn.Linear(2, 20), nn.ReLU(), nn.Linear(20, 1)))
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(600):
            optimizer.zero_grad()
            nll = 50 * nn.functional.mse_loss(net(x), y)
            rt.elbo(nll, net, len(x)).backward()
            optimizer.step()
        net.eval()
        self.assertLess((net(x) - y).pow(2).mean().item(), 0.05)
        draws = rt.sample(net, x, 50)
        self.assertEqual(draws.shape, (50, 200, 1))
        self.assertGreater(draws.std(0).mean().item(), 0)
        self.assertEqual([layer.mode for layer in rt.bayes_layers(net)], ["auto", "auto"])

    def test_a_gaussian_network_starts_from_the_weights(self):
        net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Flatten(), nn.Linear(12, 2))
        x = torch.randn(2, 1, 4, 4)
        expected = net(x)
        converted = rt.convert(copy.deepcopy(net), family="gaussian").eval()
        self.assertTrue(torch.allclose(converted(x), expected, atol=1e-6))

    def test_converted_layers_have_their_own_seeds_type_and_mode(self):
        net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).double().eval()
        first, second = rt.convert(net, seed=5)
        self.assertEqual([int(first.seed), int(second.seed)], [5, 6])
        self.assertEqual(next(first.parameters()).dtype, torch.float64)
        self.assertFalse(second.training)

    def test_a_layer_used_twice_stays_one(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 4)
                self.again = self.first
                self.inside = nn.Sequential(self.first, nn.ReLU(), self.first)
                self.nothing = None

        net = rt.convert(Net(), seed=1)
        self.assertIsInstance(net.first, rt.BayesLinear)
        for same in (net.again, net.inside[0], net.inside[2]):
            self.assertIs(same, net.first)
        self.assertEqual(len(list(rt.bayes_layers(net))), 1)
        self.assertEqual(net.inside(torch.randn(2, 4)).shape, (2, 4))

    def test_refuses_what_a_new_layer_would_undo(self):
        tied = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5, bias=False))
        tied[1].weight = tied[0].weight
        hooked = nn.Linear(3, 3)
        hooked.register_forward_hook(lambda *_: None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            normed = nn.utils.weight_norm(nn.Linear(3, 3))
        spectral = nn.utils.parametrizations.spectral_norm(nn.Conv2d(2, 2, 3))
        for message, layer in (
            ("share a parameter", tied),
            ("'1' has hooks", hooked),
            ("'1' is computed", normed),
            ("'1' is computed", spectral),
        ):
            net = nn.Sequential(nn.Linear(3, 3), layer)
            with self.assertRaisesRegex(radir.UnsupportedError, message):
                rt.convert(net)
            self.assertIs(type(net[0]), nn.Linear)  # nothing is converted

    def test_imports_in_either_order(self):
        use = "; radir.vmf.entropy(3, 1.0); torch.ones(2) + 1"
        for order in ("import torch, radir.vmf", "import radir.vmf, torch"):
            done = subprocess.run(
                [sys.executable, "-c", order + use], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

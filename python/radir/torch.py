"""Bayesian layers for PyTorch networks.

    >>> net = nn.Sequential(BayesLinear(13, 50), nn.ReLU(), BayesLinear(50, 1))
    >>> loss = elbo(mse(net(x), y), net, data_count=len(train))
    >>> loss.backward()

A layer draws its weights while it trains and uses their mean after ``eval()``.
Its parameters are those of the posterior; any optimiser and ``state_dict`` work.
Draws depend on the layer's ``seed``, the number of its draws so far and the
parameters alone: they are computed on the CPU and copied to the layer's device.
"""

from __future__ import annotations

import itertools
from typing import Any, Iterator, Optional, Sequence, Union

import torch
from torch import Tensor, nn
from torch.nn import functional

from ._library import UnsupportedError, lib, stream
from ._torch_functions import Draw, Kl, Posterior

__all__ = ["BayesConv2d", "BayesLinear", "bayes_layers", "convert", "elbo", "kl", "sample"]

_POINTS = {"mean": 0, "median": 1, "mode": 2}
_MODES = ("auto", "sample", "frozen", *_POINTS)
# The stream of starting values, far from those of draws.
_INITIAL_STREAM = 1 << 31


def _on_cpu(tensor: Tensor) -> Tensor:
    return tensor if tensor.device.type == "cpu" else tensor.cpu()


class _BayesLayer(nn.Module):
    """What the layers share.

    family, options  : the posterior of the weights, such as "gaussian" and
                       "prior_scale=0.5"
    bias_prior_scale : prior standard deviation of the bias
    seed             : of all random numbers of the layer; None takes one from
                       PyTorch's generator, so that torch.manual_seed repeats runs

    The trainable parameters of the weight's posterior are one vector,
    ``weight_posterior``, those of the bias's ``bias_posterior``: one tensor
    costs an optimiser much less than twenty. ``blocks()`` shows their parts.
    """

    seed: Tensor
    draws: Tensor
    weight_posterior: Tensor

    def __init__(
        self,
        shape: tuple[int, int, int, int],
        sizes: tuple[int, ...],
        bias: bool,
        family: str,
        options: str,
        bias_prior_scale: float,
        seed: Optional[int],
        dtype: Optional[torch.dtype],
    ) -> None:
        super().__init__()
        self._posteriors = {"weight": Posterior(family, options, shape, sizes)}
        if bias:
            rows = shape[0] * shape[1]
            self._posteriors["bias"] = Posterior(
                family, options, shape, (rows,), bias_prior_scale
            )
        self._mode = "auto"
        self._frozen_step = 0
        if seed is None:
            seed = int(torch.randint(2**62, (1,)).item())
        self.register_buffer("seed", torch.tensor(seed))
        self.register_buffer("draws", torch.tensor(0))
        self._initialize(dtype or torch.get_default_dtype())

    def _initialize(self, dtype: torch.dtype) -> None:
        """Registers the parameters, with starting values, where PyTorch makes
        tensors by default."""
        seed, first_stream = int(self.seed), _INITIAL_STREAM
        device = self.seed.device
        for name, posterior in self._posteriors.items():
            weight = posterior.weight(dtype)
            flat = torch.empty(weight.size, dtype=dtype, device="cpu")
            fixed = {
                f"{name}_{block['name']}": torch.empty(block["size"], dtype=dtype, device="cpu")
                for block in weight.blocks
                if not block["trainable"]
            }
            random = stream(seed, 0, first_stream)
            pointers = weight.pointers(flat, list(fixed.values()))
            lib.weight_initialize(weight.handle, random, pointers)
            for key, values in fixed.items():
                self.register_buffer(key, values.to(device))
            self.register_parameter(f"{name}_posterior", nn.Parameter(flat.to(device)))
            first_stream += weight.streams

    def _flats(self) -> list[Tensor]:
        """The parameters of weight and bias on the CPU, with their fixed ones in
        place."""
        flats = []
        for name, posterior in self._posteriors.items():
            flat = _on_cpu(getattr(self, f"{name}_posterior"))
            flats.append(flat if flat.is_contiguous() else flat.contiguous())
            weight = posterior.weight(flat.dtype)
            if None in weight.offsets:
                posterior.fixed = [
                    _on_cpu(getattr(self, f"{name}_{block['name']}"))
                    for block in weight.blocks
                    if not block["trainable"]
                ]
        return flats

    def blocks(self) -> dict[str, Tensor]:
        """The parts of the parameters by their names, such as
        ``weight_row_direction``: views, without gradients."""
        result = {}
        for name, posterior in self._posteriors.items():
            flat, at = getattr(self, f"{name}_posterior").detach(), 0
            for block in posterior.weight(flat.dtype).blocks:
                key = f"{name}_{block['name']}"
                if not block["trainable"]:
                    result[key] = getattr(self, key)
                    continue
                part = flat[at : at + block["size"]]
                result[key] = part.view(posterior.sizes) if block["weight_shaped"] else part
                at += block["size"]
        return result

    def extra_repr(self) -> str:
        dtype = next(self.parameters()).dtype
        return f"mode={self._mode}, {self._posteriors['weight'].weight(dtype).description}"

    @property
    def mode(self) -> str:
        """Which weights forward() uses: "auto" (a fresh draw while training, the
        mean after eval()), "sample", "frozen" (one draw until it is set again),
        "mean", "median" or "mode"."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
        self._mode = mode
        if mode == "frozen":
            self._frozen_step = self._next_step()

    def _next_step(self) -> int:
        step = int(self.draws)
        self.draws += 1
        return step

    def kl(self) -> Tensor:
        """KL(posterior || prior) of weight and bias in nats."""
        return kl(self)

    def draw(self, step: int) -> tuple[Tensor, Optional[Tensor]]:
        """Weight and bias of a step of the random sequence."""
        flats, seed, random, number = self._flats(), int(self.seed), [], 0
        posteriors = list(self._posteriors.values())
        for posterior, flat in zip(posteriors, flats):
            random.append(stream(seed, step, number))
            number += posterior.weight(flat.dtype).streams
        return self._placed(Draw.apply(posteriors, random, *flats))

    def _placed(self, values: Sequence[Tensor]) -> tuple[Tensor, Optional[Tensor]]:
        """Weight and bias on the device of the layer."""
        weight, *bias = (value.to(self.weight_posterior.device) for value in values)
        return weight, bias[0] if bias else None

    def point(self, kind: str = "mean") -> tuple[Tensor, Optional[Tensor]]:
        """Weight and bias that stand for their distribution: its mean, or the
        median or mode of the radii. Without gradients."""
        results = []
        for posterior, flat in zip(self._posteriors.values(), self._flats()):
            weight = posterior.weight(flat.dtype)
            result = torch.empty(posterior.sizes, dtype=flat.dtype, device="cpu")
            pointers = weight.pointers(flat, posterior.fixed)
            lib.weight_point(weight.handle, pointers, _POINTS[kind], result.data_ptr())
            results.append(result)
        return self._placed(results)

    def weights(self) -> tuple[Tensor, Optional[Tensor]]:
        """Weight and bias that the mode says."""
        mode = self._mode
        if mode == "auto":
            mode = "sample" if self.training else "mean"
        if mode == "sample":
            return self.draw(self._next_step())
        if mode == "frozen":
            return self.draw(self._frozen_step)
        return self.point(mode)

    def moments(self) -> tuple[Tensor, Tensor]:
        """E[W] and Var[W] of each weight, without gradients."""
        posterior, flat = self._posteriors["weight"], self._flats()[0]
        weight = posterior.weight(flat.dtype)
        mean = torch.empty(posterior.sizes, dtype=flat.dtype, device="cpu")
        variance = torch.empty_like(mean)
        pointers = weight.pointers(flat, posterior.fixed)
        lib.weight_moments(weight.handle, pointers, mean.data_ptr(), variance.data_ptr())
        device = self.weight_posterior.device
        return mean.to(device), variance.to(device)


class BayesLinear(_BayesLayer):
    """y = x W^T + b with W and b random, in the place of ``nn.Linear``."""

    __doc__ += "\n\n" + (_BayesLayer.__doc__ or "")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        family: str = "radial-directional",
        options: str = "",
        bias_prior_scale: float = 1.0,
        seed: Optional[int] = None,
        dtype: Optional[torch.dtype] = None,
    ) -> None:
        shape = (1, out_features, in_features, 1)
        super().__init__(
            *[shape, (out_features, in_features), bias, family, options],
            *[bias_prior_scale, seed, dtype],
        )
        self.in_features = in_features
        self.out_features = out_features

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = self.weights()
        return functional.linear(input, weight, bias)


class BayesConv2d(_BayesLayer):
    """A convolution with random filters, in the place of ``nn.Conv2d``."""

    __doc__ += "\n\n" + (_BayesLayer.__doc__ or "")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Union[int, tuple[int, int]],
        stride: Union[int, tuple[int, int]] = 1,
        padding: Union[int, tuple[int, int], str] = 0,
        dilation: Union[int, tuple[int, int]] = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        family: str = "radial-directional",
        options: str = "",
        bias_prior_scale: float = 1.0,
        seed: Optional[int] = None,
        dtype: Optional[torch.dtype] = None,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{groups} groups do not divide the channels")
        height, width = (
            (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
        )
        inputs, outputs = in_channels // groups, out_channels // groups
        super().__init__(
            *[(groups, outputs, inputs, height * width)],
            *[(out_channels, inputs, height, width), bias, family, options],
            *[bias_prior_scale, seed, dtype],
        )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = (height, width)
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        weight, bias = self.weights()
        return functional.conv2d(
            *[input, weight, bias, self.stride, self.padding, self.dilation, self.groups]
        )


def bayes_layers(module: nn.Module) -> Iterator[_BayesLayer]:
    """The Bayesian layers in a module."""
    return (part for part in module.modules() if isinstance(part, _BayesLayer))


def kl(module: nn.Module) -> Tensor:
    """The sum of the KL divergences of all Bayesian layers, in nats."""
    layers = list(bayes_layers(module))
    if not layers:
        raise ValueError("the module has no Bayesian layer; see convert()")
    posteriors: list[Posterior] = []
    flats: list[Tensor] = []
    for layer in layers:
        posteriors += layer._posteriors.values()
        flats += layer._flats()
    result: Tensor = Kl.apply(posteriors, *flats)
    return result.to(layers[0].weight_posterior.device)


def elbo(
    nll: Tensor, module: nn.Module, data_count: int, kl_weight: float = 1.0
) -> Tensor:
    """The negative evidence lower bound per example: ``nll``, the mean negative
    log-likelihood of a batch, plus the KL divergence spread over the
    ``data_count`` examples of the training set."""
    if data_count <= 0:
        raise ValueError(f"data_count must be positive, but is {data_count}")
    return nll + (kl_weight / data_count) * kl(module)


def sample(module: nn.Module, input: Tensor, count: int) -> Tensor:
    """Outputs under ``count`` draws of the weights, [count, ...], whether the
    module trains or not; other layers behave as they do."""
    layers = list(bayes_layers(module))
    modes = [layer.mode for layer in layers]
    try:
        for layer in layers:
            layer._mode = "sample"
        return torch.stack([module(input) for _ in range(count)])
    finally:
        for layer, mode in zip(layers, modes):
            layer._mode = mode


def _converted(layer: nn.Module, options: dict[str, Any]) -> Optional[_BayesLayer]:
    if isinstance(layer, (nn.Linear, nn.Conv2d)):
        options = {"dtype": layer.weight.dtype, **options}
    if type(layer) is nn.Linear:
        has_bias = layer.bias is not None
        return BayesLinear(layer.in_features, layer.out_features, has_bias, **options)
    if type(layer) is nn.Conv2d:
        if layer.padding_mode != "zeros":
            raise UnsupportedError(f"convert: padding_mode {layer.padding_mode!r}")
        return BayesConv2d(
            *[layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride],
            *[layer.padding, layer.dilation, layer.groups, layer.bias is not None],
            **options,
        )
    return None


def _is_layer(module: nn.Module) -> bool:
    return type(module) in (nn.Linear, nn.Conv2d)


def _check_convertible(module: nn.Module) -> None:
    """Refuses what a new layer in the place of another would silently undo."""
    users: dict[int, list[str]] = {}
    for name, part in module.named_modules():
        for parameter in part.parameters(recurse=False):
            users.setdefault(id(parameter), []).append(name)
        if not isinstance(part, (nn.Linear, nn.Conv2d)):
            continue
        hooks = (part._forward_hooks, part._forward_pre_hooks, part._backward_hooks)
        if hasattr(part, "parametrizations") or "weight" not in part._parameters:
            raise UnsupportedError(
                f"convert: the weight of the layer {name!r} is computed from other parameters "
                "(weight_norm, spectral_norm, a parametrization); remove that first"
            )
        if _is_layer(part) and any(hooks):
            raise UnsupportedError(
                f"convert: the layer {name!r} has hooks, which the layer in its place would "
                "not have; remove them first"
            )
    for name, part in module.named_modules():
        for parameter in part.parameters(recurse=False) if _is_layer(part) else ():
            if len(users[id(parameter)]) > 1:
                raise UnsupportedError(
                    f"convert: the layers {users[id(parameter)]} share a parameter, which "
                    "would have a posterior for each; use one layer in all places"
                )


def convert(module: nn.Module, **options: Any) -> nn.Module:
    """Replaces every ``nn.Linear`` and ``nn.Conv2d`` in a module, in place, by
    its Bayesian form with starting values of its own; ``options`` as of
    ``BayesLinear``, with a ``seed`` counted up from layer to layer. Returns the
    module, or what replaces it. A layer that is used in several places becomes
    one. A Gaussian family starts from the weights that are there. Layers with
    hooks, weight normalisation or shared parameters are refused."""
    _check_convertible(module)
    seed = options.pop("seed", None)
    seeds = None if seed is None else itertools.count(seed)
    return _convert(module, options, seeds, {})


def _convert(
    module: nn.Module,
    options: dict[str, Any],
    seeds: Optional[Iterator[int]],
    done: dict[nn.Module, nn.Module],
) -> nn.Module:
    """``done`` has what became of the modules so far."""
    if module in done:
        return done[module]
    done[module] = module
    if _is_layer(module) and seeds is not None:
        options = {**options, "seed": next(seeds)}
    replaced = _converted(module, options)
    if replaced is not None:
        replaced.to(module.weight.device)
        replaced.train(module.training)
        if options.get("family") == "gaussian":
            blocks = replaced.blocks()
            for name in replaced._posteriors:
                blocks[f"{name}_loc"].copy_(getattr(module, name).detach())
        done[module] = replaced
        return replaced
    for name, child in list(module._modules.items()):
        if child is not None:
            setattr(module, name, _convert(child, options, seeds, done))
    return module

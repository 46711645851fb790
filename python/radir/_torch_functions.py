"""Draws and divergences of a weight tensor as functions PyTorch differentiates. All
tensors are on the CPU."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ._library import (
    FLOAT32,
    FLOAT64,
    RandomStream,
    UnsupportedError,
    WeightShape,
    lib,
    read_json,
)

_TYPES = {torch.float32: FLOAT32, torch.float64: FLOAT64}


class Weight:
    """A radir_weight of one type of numbers, on one array of all its trainable
    parameters and the tensors of its fixed ones."""

    def __init__(self, handle: ctypes.c_void_p, dtype: torch.dtype) -> None:
        self.handle = handle
        description = read_json(lib.weight_describe, handle)
        self.blocks: list[dict[str, Any]] = description["blocks"]
        self.description: str = description["description"]
        self.streams: int = description["streams"]
        self.size = 0
        self.offsets: list[Optional[int]] = []  # in bytes; None: fixed
        itemsize = torch.empty((), dtype=dtype).element_size()
        for block in self.blocks:
            self.offsets.append(self.size * itemsize if block["trainable"] else None)
            self.size += block["size"] if block["trainable"] else 0
        self._array = ctypes.c_void_p * len(self.blocks)
        self._last: dict[tuple[int, ...], Any] = {}

    def __del__(self) -> None:
        if lib is not None:
            lib.weight_free(self.handle)

    def pointers(self, flat: Tensor, fixed: Sequence[Tensor] = ()) -> Any:
        """A pointer per block; of fixed blocks null where none are given."""
        key = (flat.data_ptr(), *(tensor.data_ptr() for tensor in fixed))
        found = self._last.get(key)
        if found is None:
            others = iter(key[1:])
            found = self._array(
                *(key[0] + o if o is not None else next(others, None) for o in self.offsets)
            )
            if len(self._last) > 8:  # the arrays of gradients change their place
                self._last.clear()
            self._last[key] = found
        return found


class Posterior:
    """The posterior of a weight, or of the bias that goes with it, in any type
    of numbers; can be copied and pickled."""

    def __init__(
        self,
        family: str,
        options: str,
        shape: tuple[int, int, int, int],
        sizes: tuple[int, ...],
        bias_prior_scale: Optional[float] = None,
    ) -> None:
        self._arguments = (family, options, shape, sizes, bias_prior_scale)
        self.sizes = sizes
        self.fixed: list[Tensor] = []  # set by the layer
        self._weights: dict[torch.dtype, Weight] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Posterior, self._arguments

    def weight(self, dtype: torch.dtype) -> Weight:
        if dtype not in self._weights:
            self._weights[dtype] = self._make(dtype)
        return self._weights[dtype]

    def _make(self, dtype: torch.dtype) -> Weight:
        if dtype not in _TYPES:
            raise UnsupportedError(f"weights must be float32 or float64, not {dtype}")
        family, options, shape, _, bias_prior_scale = self._arguments
        handle = ctypes.c_void_p()
        lib.weight_create(
            *[family.encode(), options.encode(), _TYPES[dtype]],
            *[ctypes.byref(WeightShape(*shape)), ctypes.byref(handle)],
        )
        if bias_prior_scale is None:
            return Weight(handle, dtype)
        bias = ctypes.c_void_p()
        try:
            lib.weight_create_bias(handle, bias_prior_scale, ctypes.byref(bias))
        finally:
            lib.weight_free(handle)
        return Weight(bias, dtype)


class Draw(torch.autograd.Function):
    """The values of a draw of each posterior, as a function of their
    parameters: weight and bias of a layer."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, posteriors: Sequence[Posterior], random: Sequence[RandomStream], *flats: Tensor
    ) -> tuple[Tensor, ...]:
        results, draws = [], []
        for posterior, place, flat in zip(posteriors, random, flats):
            weight = posterior.weight(flat.dtype)
            values = torch.empty(posterior.sizes, dtype=flat.dtype, device="cpu")
            draw = ctypes.c_int64()
            lib.weight_draw(
                *[weight.handle, weight.pointers(flat, posterior.fixed), place],
                *[values.data_ptr(), draw],
            )
            results.append(values)
            draws.append(draw.value)
        ctx.posteriors, ctx.random, ctx.draws = posteriors, random, draws
        ctx.save_for_backward(*results, *flats)
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Any:  # type: ignore[override]
        count = len(ctx.posteriors)
        values, flats = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        results: list[Optional[Tensor]] = []
        for i, posterior in enumerate(ctx.posteriors):
            if not ctx.needs_input_grad[2 + i]:
                results.append(None)
                continue
            weight = posterior.weight(flats[i].dtype)
            gradient = gradients[i].contiguous()
            result = torch.zeros_like(flats[i])
            lib.weight_backward(
                *[weight.handle, weight.pointers(flats[i], posterior.fixed), ctx.random[i]],
                *[ctx.draws[i], values[i].data_ptr(), gradient.data_ptr()],
                weight.pointers(result),
            )
            results.append(result)
        return (None, None, *results)


class Kl(torch.autograd.Function):
    """The sum of KL(posterior || prior), as a function of the parameters."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, posteriors: Sequence[Posterior], *flats: Tensor
    ) -> Tensor:
        total, value = 0.0, ctypes.c_double()
        for posterior, flat in zip(posteriors, flats):
            weight = posterior.weight(flat.dtype)
            lib.weight_kl(weight.handle, weight.pointers(flat, posterior.fixed), value)
            total += value.value
        ctx.posteriors = posteriors
        ctx.save_for_backward(*flats)
        return torch.tensor(total, dtype=flats[0].dtype, device="cpu")

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        scale = gradient.item()
        results: list[Optional[Tensor]] = []
        for i, (posterior, flat) in enumerate(zip(ctx.posteriors, ctx.saved_tensors)):
            if not ctx.needs_input_grad[1 + i]:
                results.append(None)
                continue
            weight = posterior.weight(flat.dtype)
            result = torch.zeros_like(flat)
            lib.weight_kl_backward(
                *[weight.handle, weight.pointers(flat, posterior.fixed), scale],
                weight.pointers(result),
            )
            results.append(result)
        return (None, *results)

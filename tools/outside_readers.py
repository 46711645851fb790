#!/usr/bin/env python3
"""Reads the files of finished runs with readers that are not ours.

Usage: tools/outside_readers.py RUN...

model.safetensors is read with the package safetensors and must hold the bytes
that the format's description finds in it. Where a run has network.pt and
network.onnx, PyTorch and ONNX Runtime must agree on random images.
Needs the Python packages safetensors and numpy, for the networks also torch and
onnxruntime.
"""

import json
import pathlib
import struct
import sys

import numpy
import safetensors
import safetensors.numpy

LARGEST_DIFFERENCE = 1e-5  # of outputs, relative to the largest


def check(holds, failure):
    if not holds:
        sys.exit(failure)


def check_model(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    with safetensors.safe_open(path, framework="numpy") as file:
        check(file.metadata() == metadata, f"{path}: other metadata")
    tensors = safetensors.numpy.load_file(path)
    check(tensors.keys() == header.keys(), f"{path}: other tensors")
    for name, tensor in tensors.items():
        begin, end = (8 + length + at for at in header[name]["data_offsets"])
        check(list(tensor.shape) == header[name]["shape"], f"{path}: {name}")
        check(tensor.tobytes() == content[begin:end], f"{path}: {name}")
        check(numpy.isfinite(tensor).all(), f"{path}: {name} is not finite")
    print(f"{path}: {len(tensors)} tensors as safetensors "
          f"{safetensors.__version__} reads them")


def check_networks(torchscript, onnx):
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(
        str(onnx), providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    shape = [256] + entry.shape[1:]
    images = numpy.random.default_rng(1).random(shape, dtype=numpy.float32)
    (by_onnxruntime,) = session.run(None, {entry.name: images})
    module = torch.jit.load(str(torchscript)).eval()
    with torch.no_grad():
        by_torch = module(torch.from_numpy(images)).numpy()
    check(by_torch.shape == by_onnxruntime.shape, f"{onnx}: another shape")
    difference = abs(by_torch - by_onnxruntime).max() / abs(by_onnxruntime).max()
    print(f"{torchscript}: PyTorch {torch.__version__} and ONNX Runtime "
          f"{onnxruntime.__version__} differ by {difference:.1e}")
    check(difference <= LARGEST_DIFFERENCE, f"{onnx}: other outputs")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in map(pathlib.Path, sys.argv[1:]):
        check_model(folder / "model.safetensors")
        networks = folder / "network.pt", folder / "network.onnx"
        if all(network.exists() for network in networks):
            check_networks(*networks)


main()

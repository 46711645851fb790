#!/usr/bin/env python3
"""Times a step of LeNet-5 with plain weights in PyTorch, as a CUDA graph.

Forward, softmax cross-entropy, backward and fused Adam, batches of 100 images
that lie on the device already, FP32 without TF32: what `radir_gpu_speed` is
compared with.
"""

import statistics

import torch
from torch import nn

BATCH = 100
REPLAYS = 500
ROUNDS = 9


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500), nn.ReLU(),
        nn.Linear(500, 10)).cuda()


def graph_of_step(memory_format):
    network = lenet5().to(memory_format=memory_format)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True,
                                 capturable=True)
    images = torch.randn(BATCH, 1, 28, 28, device="cuda")
    images = images.to(memory_format=memory_format)
    labels = torch.randint(10, (BATCH,), device="cuda")
    loss_of = nn.CrossEntropyLoss()

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss_of(network(images), labels).backward()
        optimiser.step()

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(10):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def microseconds(graph):
    start = torch.cuda.Event(enable_timing=True)
    stop = torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(REPLAYS):
        graph.replay()
    stop.record()
    torch.cuda.synchronize()
    return 1000 * start.elapsed_time(stop) / REPLAYS


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    for name in ("contiguous_format", "channels_last"):
        graph = graph_of_step(getattr(torch, name))
        microseconds(graph)
        times = [microseconds(graph) for _ in range(ROUNDS)]
        print(f"plain LeNet-5, batch {BATCH}, {name}: "
              f"{statistics.median(times):.1f} us a step "
              f"({min(times):.1f} to {max(times):.1f})")


if __name__ == "__main__":
    main()

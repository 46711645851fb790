# %% [markdown]
# # A smaller network from a PyTorch CNN
# The architecture of a PyTorch network is written as JSON, trained with weights
# that may vanish, and what does not help is removed.

# %%
import numpy as np
import torch
from torch import nn

import radir

torch.manual_seed(0)
cnn = nn.Sequential(
    nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(16 * 5 * 5, 60), nn.ReLU(), nn.Linear(60, 3),
)  # fmt: skip


def description(network, input_shape):
    """What `radir.compress` takes, from the layers of an nn.Sequential."""
    layers = []
    for layer in network:
        if isinstance(layer, nn.Conv2d):
            layers.append({"type": "conv2d", "outputs": layer.out_channels,
                           "kernel": layer.kernel_size[0]})  # fmt: skip
        elif isinstance(layer, nn.MaxPool2d):
            layers.append({"type": "max-pool2d", "kernel": layer.kernel_size})
        elif isinstance(layer, nn.Linear):
            layers.append({"type": "dense", "outputs": layer.out_features})
        else:
            layers.append({"type": type(layer).__name__.lower()})
    return {"input": list(input_shape), "layers": layers}


# %%
# Images of crosses, rings and bars, in any place.
def shapes(count, seed):
    generator = np.random.default_rng(seed)
    images = generator.uniform(0, 0.3, size=(count, 12, 12)).astype(np.float32)
    labels = np.array(["cross", "ring", "bar"])[generator.integers(3, size=count)]
    for image, label in zip(images, labels):
        row, column = generator.integers(0, 8, size=2)
        patch = image[row : row + 5, column : column + 5]
        patch[2, :] = 0.9
        if label != "bar":
            patch[:, 2] = 0.9
        if label == "ring":
            patch[[0, -1], :] = patch[:, [0, -1]] = 0.9
            patch[1:4, 1:4] = 0.1
    return images, labels


images, labels = shapes(1200, 1)
test_images, test_labels = shapes(300, 2)

# %%
small = radir.compress(
    images, labels, test_images, test_labels, description(cnn, (1, 12, 12)),
    {"epochs": 12, "prune_every": 4, "fine_tune_epochs": 4, "batch": 50, "pressure": 60},
)  # fmt: skip
before, after = small.report["unpruned"], small.figures
for title, figures in (("before", before), ("after", after)):
    print(
        f"{title:7} {figures['architecture']:12} {figures['parameters']:6} parameters "
        f"{figures['flops']:7} FLOPs  test error {100 * figures['test_error']:.1f} %"
    )
print("first test images:", *small.predict(test_images[:4]), "- truth:", *test_labels[:4])
assert after["parameters"] < before["parameters"] / 2 and after["test_error"] < 0.1

"""Classes that are nodes of a tree: hyperbolic prototypes beside Euclidean ones and a plain softmax, on the digits.

    python docs/examples/class_prototypes.py [--seeds 0 1 2] [--dim 5] [--train 400]

The tree is Ward's clustering of the mean images of the training part. All heads sit on the same network (64 pixels, one
hidden layer of 64, `dim` outputs), trained alike. Prototypes start at the construction of the tree drawn together by
the factor .1, and are trained along, or stay ("fixed"). The factor on distances and the learning rate of each head are
those of the best accuracy on a validation part, with one seed that is not among those reported. Severity is the height,
in edges, of the lowest common ancestor of the true and the predicted class, over the mistakes.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

import treeball
from treeball.torch import HyperbolicEmbedding, PrototypeHead, RiemannianAdam, to_normal

VALIDATION_SEED = 100
RATES, FACTORS = (0.01, 0.03), (4.0, 8.0, 16.0)
EPOCHS = 100
HEADS = ("softmax", "euclidean", "hyperbolic", "hyperbolic, fixed")


class EuclideanPrototypes(nn.Module):  # type: ignore[misc]  # torch is not followed
    """The same prototypes as points of flat space, which start at the same distances from the origin."""

    def __init__(self, prototypes: Tensor, factor: float) -> None:
        super().__init__()
        self.prototypes = nn.Parameter(prototypes)
        self.factor = factor

    def forward(self, outputs: Tensor) -> Tensor:
        """Logits of outputs (m, dim)."""
        return -self.factor * torch.cdist(outputs, self.prototypes)


def class_tree(images: NDArray[np.float64], labels: NDArray[np.int64]) -> treeball.Hierarchy:
    """The classes 0 to 9 as leaves of the binary tree of Ward's clustering."""
    means = np.stack([images[labels == digit].mean(axis=0) for digit in range(10)])
    edges = []
    for step, (left, right, *_) in enumerate(linkage(means, "ward")):
        edges += [(str(int(left)), str(10 + step)), (str(int(right)), str(10 + step))]
    return treeball.read(edges, direction="child-parent")


def severity(hierarchy: treeball.Hierarchy, true: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    """Mean height of the lowest common ancestor, over the mistakes."""
    codes = hierarchy.names.find_many([str(digit) for digit in range(10)])
    wrong = true != predicted
    if not wrong.any():
        return 0.0
    return float(hierarchy.height[hierarchy.common_ancestor(codes[true[wrong]], codes[predicted[wrong]])].mean())


def network(dim: int) -> nn.Module:
    """Pixels to `dim` outputs; small ones at first, so that points start near the origin."""
    made = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim)).double()
    with torch.no_grad():
        made[2].weight *= 0.1
    return made


def head(kind: str, hierarchy: treeball.Hierarchy, dim: int, factor: float) -> nn.Module:
    """The last layer."""
    if kind == "softmax":
        return nn.Linear(dim, 10).double()
    nodes = HyperbolicEmbedding.from_hierarchy(hierarchy, dim=dim, init_scale=0.1)
    classes = [str(digit) for digit in range(10)]
    if kind.startswith("hyperbolic"):
        return PrototypeHead(nodes, classes, factor=factor, learn="fixed" not in kind)
    return EuclideanPrototypes(to_normal(nodes(nodes.codes(classes))).detach(), factor)


def trained(
    kind: str, parts: Sequence[Tensor], hierarchy: treeball.Hierarchy, dim: int, rate: float, factor: float, seed: int
) -> nn.Module:
    """Network and head after `EPOCHS` epochs in batches of 50."""
    torch.manual_seed(seed)
    model = nn.Sequential(network(dim), head(kind, hierarchy, dim, factor))
    optimizer = RiemannianAdam([p for p in model.parameters() if p.requires_grad], lr=rate)
    images, labels = parts
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    return model


def split(seed: int, train: int) -> tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]:
    """Images and labels of the training part, of 400 for validation, and of the rest, for the test."""
    images, labels = load_digits(return_X_y=True)
    first, rest, first_labels, rest_labels = train_test_split(
        images / 16.0, labels, train_size=train, random_state=seed, stratify=labels
    )
    middle, last, middle_labels, last_labels = train_test_split(
        rest, rest_labels, train_size=400, random_state=seed, stratify=rest_labels
    )
    return [first, middle, last], [first_labels, middle_labels, last_labels]


def accuracy(
    model: nn.Module, images: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[float, NDArray[np.int64]]:
    """Share of right answers, and the answers."""
    with torch.no_grad():
        predicted = model(torch.from_numpy(images)).argmax(1).numpy()
    return float((predicted == labels).mean()), predicted


def main() -> None:
    """Choose by validation, then print a line for each head and seed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--dim", type=int, default=5)
    parser.add_argument("--train", type=int, default=400)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| head | rate, factor | seed | accuracy | severity of mistakes |\n|---|---|---|---|---|")
    for kind in HEADS:
        images, labels = split(VALIDATION_SEED, arguments.train)
        tree = class_tree(images[0], labels[0])
        parts = torch.from_numpy(images[0]), torch.from_numpy(labels[0])
        choices = list(itertools.product(RATES, FACTORS if kind != "softmax" else (1.0,)))
        found = [
            accuracy(trained(kind, parts, tree, arguments.dim, *choice, VALIDATION_SEED), images[1], labels[1])[0]
            for choice in choices
        ]
        rate, factor = choices[int(np.argmax(found))]
        for seed in arguments.seeds:
            images, labels = split(seed, arguments.train)
            tree = class_tree(images[0], labels[0])
            parts = torch.from_numpy(images[0]), torch.from_numpy(labels[0])
            model = trained(kind, parts, tree, arguments.dim, rate, factor, seed)
            right, predicted = accuracy(model, images[2], labels[2])
            bad = severity(tree, labels[2], predicted)
            print(f"| {kind} | {rate:g}, {factor:g} | {seed} | {right:.4f} | {bad:.3f} |", flush=True)


if __name__ == "__main__":
    main()

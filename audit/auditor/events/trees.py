"""Boosted trees as a score: learned by scikit-learn, stored as plain arrays, evaluated here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from audit.auditor.events.protocol import READERS
from reference.common.arrays import FloatArray

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

TREES, LEAVES, LEARNING_RATE = 40, 8, 0.2

MASK_BITS, ALL_LEAVES = 8, 255
"""Most leaves in a mask, and the mask with all of them."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """A tree by its leaves from left to right: a split rules out its left leaves for outputs that go right.

    Parameters
    ----------
    splits : tuple of (int, float, int)
        Coordinate, threshold, and a mask of the leaves that remain for outputs above it.
    values : ndarray, shape (leaves,)
    """

    splits: tuple[tuple[int, float, int], ...]
    values: FloatArray

    @cached_property
    def values_by_mask(self) -> FloatArray:
        """The value of the first leaf in every mask; the last leaf's if none is left."""
        masks = np.arange(ALL_LEAVES + 1)
        first = np.where(masks > 0, np.bitwise_count((masks & -masks) - 1), 0)
        found: FloatArray = self.values[np.minimum(first, len(self.values) - 1)]
        return found


@dataclass(frozen=True, eq=False)
class TreeScore:
    """A sum of regression trees.

    Every tree is laid out in arrays of equal length; a leaf points at itself, so that a fixed number of steps
    leads every output to its leaf.

    Parameters
    ----------
    feature, left, right : ndarray of int, shape (trees, nodes)
    threshold, value : ndarray, shape (trees, nodes)
        An output goes left where its coordinate is <= threshold.
    depth : int
    """

    feature: npt.NDArray[np.intp]
    threshold: FloatArray
    left: npt.NDArray[np.intp]
    right: npt.NDArray[np.intp]
    value: FloatArray
    depth: int
    name: ClassVar[str] = "trees"
    learned: ClassVar[bool] = True
    sees_all: ClassVar[bool] = False
    binary: ClassVar[bool] = False

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray) -> TreeScore:
        """Return the score for two samples of shape (n, k)."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        both = np.concatenate([left, right])
        labels = np.repeat([1, 0], [len(left), len(right)])
        model = HistGradientBoostingClassifier(
            max_iter=TREES,
            max_leaf_nodes=LEAVES,
            learning_rate=LEARNING_RATE,
            early_stopping=False,
            random_state=0,
        )
        # its threads wait for each other: on a busy machine ten times as long as one takes, past any time limit
        # a split is the mean of two values, whose sum may overflow: an infinite one splits nothing
        with threadpool_limits(limits=1, user_api="openmp"), np.errstate(over="ignore"):
            model.fit(both, labels)
        return cls.of(model)

    @classmethod
    def of(cls, model: HistGradientBoostingClassifier) -> TreeScore:
        """Return the trees of a fitted model; a test compares with its `decision_function`."""
        trees = [predictor.nodes for (predictor,) in model._predictors]
        size = max(len(nodes) for nodes in trees)
        shape = (len(trees), size)
        here = np.broadcast_to(np.arange(size), shape)
        feature, children = np.zeros(shape, dtype=np.intp), [here.copy(), here.copy()]
        threshold, value = np.full(shape, np.inf), np.zeros(shape)
        for t, nodes in enumerate(trees):
            inner = np.flatnonzero(nodes["is_leaf"] == 0)
            feature[t, inner] = nodes["feature_idx"][inner]
            threshold[t, inner] = nodes["num_threshold"][inner]
            children[0][t, inner], children[1][t, inner] = nodes["left"][inner], nodes["right"][inner]
            value[t, : len(nodes)] = nodes["value"]
        depth = max(int(nodes["depth"].max()) for nodes in trees)
        return cls(feature, threshold, children[0], children[1], value, depth)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the sums over trees of the value of the output's leaf."""
        if self._ranked is not None:
            return self._by_masks(outputs, self._ranked)
        total = np.zeros(len(outputs))
        rows = np.arange(len(outputs))
        for t in range(len(self.feature)):
            node = np.zeros(len(outputs), dtype=np.intp)
            for _ in range(self.depth):
                goes_left = outputs[rows, self.feature[t][node]] <= self.threshold[t][node]
                node = np.where(goes_left, self.left[t][node], self.right[t][node])
            total += self.value[t][node]
        return total

    @cached_property
    def _ranked(self) -> list[Ranked] | None:
        """The trees with their leaves from left to right; None if one has more leaves than a mask holds."""
        found = [self._leaves(t) for t in range(len(self.feature))]
        ranked = [tree for tree in found if tree is not None]
        return ranked if len(ranked) == len(found) else None

    def _leaves(self, t: int) -> Ranked | None:
        """Return a tree's leaves in order, and which of them remain after going right at each inner node.

        None if it is not a tree, or too large a one.
        """
        values: list[float] = []
        splits: list[tuple[int, float, int]] = []

        def visit(node: int, level: int) -> bool:
            if self.left[t][node] == self.right[t][node] == node:
                values.append(float(self.value[t][node]))
                return len(values) <= MASK_BITS
            start = len(values)
            if level == self.depth or not visit(int(self.left[t][node]), level + 1):
                return False
            passed = ((1 << len(values)) - 1) ^ ((1 << start) - 1)
            splits.append((int(self.feature[t][node]), float(self.threshold[t][node]), ALL_LEAVES ^ passed))
            return visit(int(self.right[t][node]), level + 1)

        shallow = self.depth < 2**MASK_BITS
        return Ranked(tuple(splits), np.array(values)) if shallow and visit(0, 0) else None

    @staticmethod
    def _by_masks(outputs: FloatArray, trees: list[Ranked]) -> FloatArray:
        """Return the sums; an output's leaf is the first that no split has ruled out."""
        columns = np.ascontiguousarray(outputs.T)
        total = np.zeros(len(outputs))
        for tree in trees:
            open_leaves = np.full(len(outputs), ALL_LEAVES, dtype=np.uint8)
            for feature, threshold, kept in tree.splits:
                # not <=, so that the comparison is the tree's
                goes_right = ~(columns[feature] <= threshold)
                open_leaves &= np.uint8(kept) | (goes_right.view(np.uint8) - np.uint8(1))
            total += tree.values_by_mask.take(open_leaves)
        return total

    def to_json(self) -> dict[str, Any]:
        """Return the arrays, with null for the threshold of a leaf, which is not used."""
        return {
            "feature": self.feature.tolist(),
            "tree_threshold": [[t if np.isfinite(t) else None for t in row] for row in self.threshold.tolist()],
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            "value": self.value.tolist(),
            "depth": self.depth,
        }


def _read(document: dict[str, Any]) -> TreeScore:
    thresholds = [[np.inf if t is None else t for t in row] for row in document["tree_threshold"]]
    feature, depth = np.array(document["feature"], dtype=np.intp), int(document["depth"])
    if not 0 <= depth <= feature.shape[1]:
        # otherwise a stored depth could keep a verifier busy for ever
        raise ValueError(f"trees of {feature.shape[1]} nodes are not {depth} deep")
    return TreeScore(
        feature,
        np.array(thresholds, dtype=np.float64),
        np.array(document["left"], dtype=np.intp),
        np.array(document["right"], dtype=np.intp),
        np.array(document["value"], dtype=np.float64),
        depth,
    )


READERS["trees"] = _read

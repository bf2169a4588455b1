"""Boosted trees as a score: learned by scikit-learn, stored as plain arrays, evaluated here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from audit.auditor.events.protocol import READERS
from reference.common.arrays import FloatArray

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

TREES, LEAVES, LEARNING_RATE = 40, 8, 0.2


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

    @classmethod
    def learn(cls, left: FloatArray, right: FloatArray, random_state: int) -> TreeScore:
        """Return the score for two samples of shape (n, k)."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        both = np.concatenate([left, right])
        labels = np.repeat([1, 0], [len(left), len(right)])
        model = HistGradientBoostingClassifier(
            max_iter=TREES,
            max_leaf_nodes=LEAVES,
            learning_rate=LEARNING_RATE,
            early_stopping=False,
            random_state=random_state,
        ).fit(both, labels)
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
        total = np.zeros(len(outputs))
        rows = np.arange(len(outputs))
        for t in range(len(self.feature)):
            node = np.zeros(len(outputs), dtype=np.intp)
            for _ in range(self.depth):
                goes_left = outputs[rows, self.feature[t][node]] <= self.threshold[t][node]
                node = np.where(goes_left, self.left[t][node], self.right[t][node])
            total += self.value[t][node]
        return total

    def to_json(self) -> dict[str, Any]:
        """Return the arrays; the threshold of a leaf, which is never used, as null."""
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
        # else a written depth would keep whoever counts the event busy for ever
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

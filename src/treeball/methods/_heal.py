"""heal: mend an embedding by moving what is ill or in the way, and nothing else.

Of a tree with the objective parents, what is ill settles anew (`heal_tree`). Where a node has several positives, in a
DAG or with the objective ancestors, there is more to keep in order than its nearest node (`heal_several`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..checks import require, require_whole
from ..embedding import Embedding
from ..engine import Device
from ..evaluation import Evaluation
from .heal_several import mend as mend_several
from .heal_tree import mend as mend_tree
from .healing import Course, Healing

__all__ = ["Healing", "heal"]


# Rounds at most.
ROUNDS = 30


def heal(
    embedding: Embedding,
    *,
    rounds: int = ROUNDS,
    threads: int = 0,
    watch: Callable[[int, Evaluation], bool | None] | None = None,
    device: Device = "auto",
) -> Healing:
    """Mend the ill pairs of an embedding, for the objective that it was made for.

    Parameters
    ----------
    embedding
        Any embedding in hyperbolic space; one on the hyperboloid comes back in the ball.
    rounds
        How many there may be; it ends earlier where no more can be mended.
    threads
        0 uses all cores.
    watch
        Called after every round with its number and the scores; return True to stop.
    device
        Where scores are computed; see :func:`treeball.evaluate`.

    Returns
    -------
    Healing
        The best of all rounds. Nothing is worse than in what was given: of a tree for the objective parents MAP, else
        the number of ill pairs, MAP and mean rank alike.
    """
    embedding.space.require_hyperbolic("heal")
    require(
        not embedding.keeps_distances,
        "heal moves nodes towards their parents, which would spoil the distances this model was made for: fit the "
        "hierarchy for the objective parents and heal that",
    )
    embedding.require_one_term("heal")
    require_whole("rounds", rounds, 0)
    course = Course(embedding, rounds, threads, watch, device)
    given, before = course.vectors, course.scores
    if embedding.hierarchy.is_tree and embedding.objective == "parents":
        mend_tree(course)
    else:
        mend_several(course)
    record = embedding.provenance.without_scores()
    best = Embedding(course.vectors, embedding.hierarchy, "poincare", record)
    moved = int((course.vectors != given).any(axis=1).sum())
    healing = Healing(best, before, course.scores, moved, course.rounds)
    best.keep_scores(course.scores)
    best.quick_reach()  # so that it is saved
    made = record.with_log(healing.note, healing=healing.to_dict()).with_scores(healing.after)
    return replace(healing, embedding=best.with_provenance(made))

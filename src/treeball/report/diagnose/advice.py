"""What would treat an illness: the commands, and when each is the one to try."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...embedding import Embedding
from ...evaluation import Evaluation
from ...evaluation.illness import CAPACITY
from ...limits import BALL_RADIUS
from ...words import count
from .room import CapacityRow, Dilated, Precision

# Beyond this share of ill pairs healing leaves hardly a node of a tree in place, and starting again is as good. Where
# nodes have several positives, it mends few of more than so many.
SETTLED_SHARE, MENDED_SHARE = 0.5, 0.05
_WORTHWHILE_MAP = 0.01


@dataclass(frozen=True)
class Advice:
    """One thing to do: why, and the command that does it, if there is one."""

    reason: str
    command: str | None = None


class Commands:
    """Command lines for one model; the output always gets a new name."""

    def __init__(self, embedding: Embedding, model: str, evaluation: Evaluation) -> None:
        self.embedding = embedding
        self.evaluation = evaluation
        self.model = model
        made = embedding.provenance.input or {}
        source = str(made.get("source") or "")
        # Only what was read from a file, or is shipped, can be named on a command line.
        self.source = source if made.get("sha256") or source.startswith("example:") else "SOURCE"

    @property
    def can_heal(self) -> bool:
        """Whether heal treats it: in hyperbolic space, what the model was made for."""
        return self.embedding.space.is_hyperbolic and self.evaluation.objective == self.embedding.objective

    @property
    def settles(self) -> bool:
        """Whether heal lets subtrees settle anew, as it does for trees and the objective parents."""
        return self.embedding.hierarchy.is_tree and self.evaluation.objective == "parents"

    @property
    def mostly_healthy(self) -> bool:
        """Whether so few pairs are ill that healing is worth more than starting again."""
        share = SETTLED_SHARE if self.settles else MENDED_SHARE
        return len(self.evaluation.illness) <= share * self.evaluation.ranking.ranks.size

    def heal(self) -> str:
        """Move what is ill or in the way."""
        return f"treeball heal {shlex.quote(self.model)} -o {self._output('healed')}"

    def refit(self, dim: int | None = None, method: str = "auto") -> str:
        """Embed the hierarchy again."""
        objective = " --objective ancestors" if self.evaluation.objective == "ancestors" else ""
        return (
            f"treeball fit {shlex.quote(self.source)} --method {method} --dim {dim or self.embedding.dim}{objective} "
            f"-o {self._output('refitted')}"
        )

    def more_dimensions(self) -> str:
        """Embed it again in a space with more room around every node."""
        return self.refit(dim=self.embedding.dim + max(1, self.embedding.dim // 2))

    def resume(self) -> str:
        """Go on where the training stopped."""
        return f"treeball fit {shlex.quote(self.source)} --resume ... -o {shlex.quote(self.model)}"

    def for_node(self, kind: int, needed: float | None, radius: float) -> str:
        """The command that would treat a node.

        Parameters
        ----------
        kind
            Its illness.
        needed
            Radius its children need if they lack room, else None.
        radius
            Its own distance from the origin.
        """
        if kind == CAPACITY and needed is not None and radius + needed > BALL_RADIUS:
            return self.more_dimensions()
        return self.heal() if self.can_heal and self.mostly_healthy else self.refit()

    def _output(self, what: str) -> str:
        path = Path(self.model)
        return shlex.quote(str(path.with_name(f"{path.stem}-{what}.parquet")))


def advise(
    commands: Commands, table: Sequence[CapacityRow], precision: Precision, dilations: Sequence[Dilated]
) -> tuple[Advice, ...]:
    """What to do about the whole embedding, the most promising first."""
    evaluation, embedding = commands.evaluation, commands.embedding
    ill, pairs = len(evaluation.illness), evaluation.ranking.ranks.size
    if not ill:
        seen = "Every node" if evaluation.ranking.is_exact else "Every sampled node"
        return (Advice(f"{seen} is nearer to its {evaluation.objective} than to anything else: nothing to treat."),)
    share, advice = f"{ill / pairs:.1%}", []
    if not embedding.space.is_hyperbolic:
        advice.append(
            Advice("Euclidean space has no room for a tree that branches: use a hyperbolic one.", commands.refit())
        )
    elif not commands.can_heal:
        advice.append(Advice(f"{share} of the pairs are ill: embed the hierarchy again.", commands.refit()))
    elif commands.mostly_healthy:
        along = ", with its subtrees" if commands.settles else ""
        reason = f"{share} of the pairs are ill: mend them, moving only what is ill or in the way{along}."
        advice.append(Advice(reason, commands.heal()))
    elif not commands.settles:
        reason = f"{share} of the pairs are ill, too many to mend one by one: embed the hierarchy again."
        advice.append(Advice(reason, commands.refit()))
        reason = "Healing mends a part of them, and makes nothing worse."
        advice.append(Advice(reason, commands.heal()))
    else:
        reason = f"{share} of the pairs are ill, too many to keep the rest in place: embed the hierarchy again."
        advice.append(Advice(reason, commands.refit()))
        reason = "Vectors whose model cannot be fitted again can be healed, which moves nearly every node."
        advice.append(Advice(reason, commands.heal()))
    advice += _stopped_early(commands)
    if commands.settles:
        advice += [*_dilation(commands, dilations), *_room(commands, table)]
    elif embedding.space.is_hyperbolic:
        reason = f"What stays ill then has no room in {embedding.dim} dimensions: use more."
        advice.append(Advice(reason, commands.more_dimensions()))
    if precision.undecided:
        advice.append(
            Advice(
                f"For {count(precision.undecided, 'node')} rounding decides who is nearer: that coarse is float64 at "
                f"radius {precision.max_radius:.1f}. More dimensions need smaller radii.",
                commands.more_dimensions(),
            )
        )
    return tuple(advice)


def _stopped_early(commands: Commands) -> list[Advice]:
    made = commands.embedding.provenance
    done, wanted = made.epochs_done, made.settings.get("epochs")
    if not done or not wanted or done >= wanted:
        return []
    return [Advice(f"Its training stopped after {done:,} of {wanted:,} epochs.", commands.resume())]


def _dilation(commands: Commands, dilations: Sequence[Dilated]) -> list[Advice]:
    if not dilations:
        return []
    now, best = dilations[0], max(dilations, key=lambda tried: tried.map if not math.isnan(tried.map) else -1.0)
    if best.map < now.map + _WORTHWHILE_MAP:
        return []
    reason = (
        f"Dilating by {best.factor:g} alone would raise MAP from {now.map:.3f} to {best.map:.3f} and lower the share "
        f"of insufficient inner nodes from {now.lacking / now.inner:.0%} to {best.lacking / best.inner:.0%}: train "
        "with dilations."
    )
    return [Advice(reason, commands.refit(method="ga-dl-rw"))]


def _room(commands: Commands, table: Sequence[CapacityRow]) -> list[Advice]:
    """More dimensions, when the children of some node need more radius than float64 has."""
    widest = max((row for row in table if row.lacking), key=lambda row: row.enough, default=None)
    if widest is None or widest.enough < BALL_RADIUS / 2:
        return []
    reason = (
        f"{widest.children:,} children need a radius of {widest.enough:.1f} around their parent in "
        f"{commands.embedding.dim} dimensions, and float64 carries {BALL_RADIUS:g} in all: use more dimensions."
    )
    return [Advice(reason, commands.more_dimensions())]

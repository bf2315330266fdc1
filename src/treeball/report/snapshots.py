"""Snapshots of a training: where the nodes were and which pairs were ill, in a file beside the model.

``model.parquet`` has its snapshots in ``model.frames.npz``: plain NumPy arrays, no pickled objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..evaluation.illness import KINDS
from ..hierarchy import Hierarchy
from ..io.atomic import atomic_write, require_writable
from ..io.memory import memory_budget, require_room
from .plane import Plane

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..methods.observe import Moment

_VERSION = 1
_COPIES = 2  # of an array, itself included, while it is read and looked at
_ALL_DIGITS_UP_TO = 20_000


def frames_path(model: Path) -> Path:
    """The file with the snapshots of a model."""
    return model.with_suffix(".frames.npz")


@dataclass(frozen=True)
class Frames:
    """A training in f pictures.

    Attributes
    ----------
    epoch : int64 (f,)
    loss, map : float64 (f,)
    places : float64 or float32 (f, n, 2)
        Points of the disk: the vectors themselves in two hyperbolic dimensions, else projected (see `Plane`).
    ill_ptr : int64 (f + 1,)
        The ill pairs of frame i are at ``ill_ptr[i]:ill_ptr[i + 1]`` of the following three.
    ill_node, ill_positive : int32 (ill,)
    ill_kind : int8 (ill,)
    pairs, sampled : int64 ()
        How many pairs were looked at in each frame, and of how many sampled nodes they are; 0 if of all.
    dim : int64 ()
        Dimension of the vectors.
    basis : float64 (dim, 2) or (0, 2)
        Plane of the last picture, if there was a projection.
    flat : bool ()
        Whether the space is Euclidean.
    fingerprint : str ()
        Identifies the hierarchy.
    """

    epoch: NDArray[np.int64]
    loss: NDArray[np.float64]
    map: NDArray[np.float64]
    places: NDArray[np.float64] | NDArray[np.float32]
    ill_ptr: NDArray[np.int64]
    ill_node: NDArray[np.int32]
    ill_positive: NDArray[np.int32]
    ill_kind: NDArray[np.int8]
    pairs: NDArray[np.int64]
    sampled: NDArray[np.int64]
    dim: NDArray[np.int64]
    basis: NDArray[np.float64]
    flat: NDArray[np.bool_]
    fingerprint: NDArray[np.str_]

    def __len__(self) -> int:
        return int(self.epoch.size)

    def ill(self, frame: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Nodes, positives and kinds of the ill pairs of a frame."""
        part = slice(self.ill_ptr[frame], self.ill_ptr[frame + 1])
        node, positive, kind = (array[part] for array in (self.ill_node, self.ill_positive, self.ill_kind))
        return node.astype(np.int64), positive.astype(np.int64), kind.astype(np.int64)

    def save(self, path: Path) -> Path:
        """Write the file, whole or not at all."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        with atomic_write(path) as temporary, open(temporary, "wb") as file:
            np.savez_compressed(file, version=np.array(_VERSION), **arrays)
        return path


def load_frames(path: Path, hierarchy: Hierarchy) -> Frames:
    """Read the snapshots of a training of this hierarchy; they may take as much memory as a model may."""
    with memory_budget("auto", str(path), can_be_set=False):
        return _load_frames(path, hierarchy)


def _load_frames(path: Path, hierarchy: Hierarchy) -> Frames:
    if not path.exists():
        raise InputError(
            f"there are no snapshots of the training, {str(path)!r}: record them with  treeball fit ... --snapshots 60"
        )
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            if int(stored["version"]) != _VERSION:
                raise InputError(f"{str(path)!r} was written by another version of treeball: fit the model again")
            frames = Frames(**{one.name: _array(stored, one.name) for one in fields(Frames)})
    except (InputError, MemoryError):
        raise
    except Exception as error:  # an archive of arrays can be damaged in many ways
        raise InputError(f"{str(path)!r} holds no snapshots that can be read: fit the model again") from error
    if str(frames.fingerprint) != fingerprint(hierarchy):
        raise InputError(
            f"the snapshots in {str(path)!r} are of another hierarchy than the model: fit it again with --snapshots"
        )
    if not _fits(frames, hierarchy.n_nodes):
        raise InputError(f"{str(path)!r} is damaged, its arrays do not fit each other: fit the model again")
    return frames


def _array(stored: Any, name: str) -> NDArray[Any]:
    """An array of the archive, which says before how large it is: zeros are a thousand times smaller when compressed.

    What is no array in there comes as bytes.
    """
    require_room(_COPIES * stored.zip.getinfo(f"{name}.npy").file_size)
    return np.asarray(stored[name])


def _fits(frames: Frames, n: int) -> bool:
    """Whether the arrays have the shapes and kinds that they should, and refer to nodes that there are."""
    f = len(frames.epoch) if frames.epoch.ndim == 1 else -1
    ill = frames.ill_node.size
    shapes = {
        "loss": (f,),
        "map": (f,),
        "places": (f, n, 2),
        "ill_ptr": (f + 1,),
        "ill_node": (ill,),
        "ill_positive": (ill,),
        "ill_kind": (ill,),
        **dict.fromkeys(("pairs", "sampled", "dim", "flat", "fingerprint"), ()),
    }
    if f < 1 or any(getattr(frames, name).shape != shape for name, shape in shapes.items()):
        return False
    kinds = {"epoch": "i", "loss": "f", "map": "f", "places": "f", "ill_ptr": "i", "ill_node": "i", "ill_positive": "i"}
    kinds["ill_kind"] = "i"
    if any(getattr(frames, name).dtype.kind != kind for name, kind in kinds.items()):
        return False
    ends = frames.ill_ptr
    nodes = np.concatenate([frames.ill_node, frames.ill_positive])
    return bool(
        ends[0] == 0
        and ends[-1] == ill
        and (np.diff(ends) >= 0).all()
        and ((nodes >= 0) & (nodes < n)).all()
        and ((frames.ill_kind >= 0) & (frames.ill_kind < len(KINDS))).all()
        and np.isfinite(frames.places).all()
        and frames.basis.ndim == 2
        and frames.basis.shape[1] == 2
    )


def fingerprint(hierarchy: Hierarchy) -> str:
    """Identifies a hierarchy by its edges and some of its names."""
    digest = hashlib.sha256()
    for codes in hierarchy.edges():
        digest.update(np.ascontiguousarray(codes, np.int64).tobytes())
    some = np.unique(np.linspace(0, hierarchy.n_nodes - 1, 1000).astype(np.int64))
    digest.update("\n".join(str(name) for name in hierarchy.names.take(some)).encode())
    return digest.hexdigest()[:32]


class SnapshotRecorder:
    """Watches a training and keeps evenly spaced snapshots of it.

    A resumed training keeps the snapshots from before, if there are any.

    Parameters
    ----------
    path
        File to write when the training ends.
    count
        How many snapshots to keep of a whole training.
    say
        Told what was written.
    """

    def __init__(self, path: Path, count: int, say: Callable[[str], None] = lambda words: None) -> None:
        require_writable(path)
        self.path = path
        self.count = count
        self.say = say
        self.plane: Plane | None = None
        self._shots: list[dict[str, Any]] = []

    def pause_every(self, epochs: int) -> int:
        """Epochs from one snapshot to the next."""
        return max(1, round(epochs / self.count))

    def see(self, moment: Moment) -> None:
        """Keep a snapshot when it is time for one."""
        run = moment.run
        step = self.pause_every(run.settings.epochs)
        if self.plane is None:
            self._keep_earlier(moment)
        if not self._shots or run.epoch // step > self._shots[-1]["epoch"] // step:
            self._keep(moment)

    def finish(self, moment: Moment) -> None:
        """Keep the last state, which may have been healed after its last epoch, and write the file."""
        if self._shots and self._shots[-1]["epoch"] == moment.run.epoch:
            self._shots.pop()
        self._keep(moment)
        if len(self._shots) < 2:
            self.say(f"no snapshots: {moment.run.settings.method} has no epochs to take them of")
            return
        self._frames(moment).save(self.path)
        self.say(f"wrote {len(self._shots)} snapshots to {self.path}")

    def close(self) -> None:
        """Nothing is open."""

    def _keep(self, moment: Moment) -> None:
        run, embedding = moment.run, moment.embedding
        self.plane = self.plane or Plane()
        self._shots.append(
            {
                "epoch": run.epoch,
                "loss": np.nan if run.loss is None else run.loss,
                "map": moment.scores.map,
                "places": _compact(self.plane.places(embedding.vectors, embedding.space), embedding.dim),
                "ill": _ill_pairs(moment.scores),
            }
        )

    def _keep_earlier(self, moment: Moment) -> None:
        """Take over the snapshots of the part of the training that was resumed."""
        run = moment.run
        self.plane = Plane()
        began = run.epoch - (0 if moment.done is None else moment.done.count)
        if began == 0 or not self.path.exists():
            return
        try:
            before = load_frames(self.path, run.hierarchy)
        except InputError:
            return
        if before.basis.size:
            self.plane.basis = before.basis
        for i in np.flatnonzero(before.epoch <= began):
            node, positive, kind = before.ill(int(i))
            self._shots.append(
                {
                    "epoch": int(before.epoch[i]),
                    "loss": float(before.loss[i]),
                    "map": float(before.map[i]),
                    "places": before.places[i],
                    "ill": (node, positive, kind),
                }
            )

    def _frames(self, moment: Moment) -> Frames:
        shots, run, ranking = self._shots, moment.run, moment.scores.ranking
        node, positive, kind = (np.concatenate([shot["ill"][i] for shot in shots]) for i in range(3))
        sizes = [shot["ill"][0].size for shot in shots]
        return Frames(
            epoch=np.array([shot["epoch"] for shot in shots], np.int64),
            loss=np.array([shot["loss"] for shot in shots], np.float64),
            map=np.array([shot["map"] for shot in shots], np.float64),
            places=np.stack([shot["places"] for shot in shots]),
            ill_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            ill_node=node.astype(np.int32),
            ill_positive=positive.astype(np.int32),
            ill_kind=kind.astype(np.int8),
            pairs=np.array(ranking.ranks.size, np.int64),
            sampled=np.array(0 if ranking.is_exact else ranking.sources.size, np.int64),
            dim=np.array(moment.embedding.dim, np.int64),
            basis=np.empty((0, 2)) if self.plane is None or self.plane.basis is None else self.plane.basis,
            flat=np.array(not moment.embedding.space.is_hyperbolic),
            fingerprint=np.array(fingerprint(run.hierarchy)),
        )


def _compact(places: NDArray[np.float64], dim: int) -> NDArray[np.float64] | NDArray[np.float32]:
    """Half the digits will do, except for a 2-d model of moderate size, in which one may look closely at a node."""
    if dim == 2 and len(places) <= _ALL_DIGITS_UP_TO:
        return places
    # Rounded to float32, a point must not leave the disk.
    length = np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 0.5)
    return np.asarray(places * np.minimum(1.0, 0.9999998 / length), np.float32)


def _ill_pairs(scores: Evaluation) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    illness = scores.illness
    return illness.node, illness.positive, illness.kind

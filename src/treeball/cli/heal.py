"""``treeball heal``: move what is ill in a model, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..words import count
from .console import print_json, print_line, print_rows, say
from .outputs import changing, save

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def heal(
    model: Path,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    json: bool = False,
    threads: int = 0,
) -> int:
    """Mend the ill pairs of a model, for the objective that it was made for.

    Nodes that are ill, and those in their way, get new places; all other vectors stay byte for byte as they are. The
    result never scores worse than the model given. Ctrl-C ends it with what there is.

    Parameters
    ----------
    model
        Model file, of treeball or imported: of a tree or a DAG, for the objective parents or ancestors.
    output
        Healed model to write, which may be the model itself; by default its name with the ending .healed.parquet. It is
        not written if no node moves.
    json
        Print scores before and after as one JSON object.
    threads
        Workers; 0 uses all cores.
    """
    from ..io.model_file import load
    from ..methods import heal as mend
    from ..methods.progress import HealingProgress

    output = output or model.with_name(model.stem + ".healed.parquet")
    with changing(model, output):
        embedding = load(model)
        with HealingProgress() as watch:
            healing = mend(embedding, threads=threads, watch=watch)
        is_healed = healing.moved > 0
        if is_healed:
            save(healing.embedding, output)
        if json:
            print_json(healing.to_dict() | {"written": str(output) if is_healed else None})
        else:
            print_rows(("", "before", "after"), _rows(healing.before, healing.after), healing.note)
            if healing.after.certificate is not None:
                print_line(healing.after.certificate.sentence())
        say(f"saved {output}" if is_healed else _nothing_to_heal(healing.before, output))
        return 0


def _nothing_to_heal(scores: Evaluation, output: Path) -> str:
    """Why no file is written."""
    ill = len(scores.illness)
    if ill:
        return f"none of the {count(ill, 'ill pair')} could be healed: nothing was written to {output}"
    among = " among the nodes that were ranked" if not scores.ranking.is_exact else ""
    return f"no node is ill{among}, so there is nothing to heal: nothing was written to {output}"


def _rows(before: Evaluation, after: Evaluation) -> list[tuple[str, str, str]]:
    rows = [
        ("MAP", f"{before.map:.4f}", f"{after.map:.4f}"),
        ("mean rank", f"{before.mean_rank:.3f}", f"{after.mean_rank:.3f}"),
    ]
    for kind, number in before.illness.counts().items():
        rows.append((kind.replace("_", "-"), f"{number:,}", f"{after.illness.counts()[kind]:,}"))
    rows.append(("largest radius", f"{before.max_radius:.2f}", f"{after.max_radius:.2f}"))
    return rows

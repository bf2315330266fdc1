"""``treeball evaluate``: scores of a saved model."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..checks import require
from ..errors import InputError
from ..types import Device, Objective
from ..words import count
from .console import distortion_rows, print_json, print_line, print_table, say, score_rows
from .folder_answers import evaluate_folder, refuse_options

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..hierarchy import Hierarchy

_PAIRS = Parameter(group="Held-out pairs")


def evaluate(
    model: Path,
    *,
    objective: Objective | None = None,
    sample: Annotated[int | None, Parameter(alias="-n")] = None,
    seed: int = 0,
    threads: int = 0,
    device: Device = "auto",
    json: bool = False,
    ill_pairs: Path | None = None,
    escape_formulas: bool = False,
    distortion: bool | None = None,
    require_map: float | None = None,
    require_ill: int | None = None,
    held_out: Annotated[Path | None, _PAIRS] = None,
    validation: Annotated[Path | None, _PAIRS] = None,
    score: Annotated[str | None, _PAIRS] = None,
    corrupted: Annotated[int | None, _PAIRS] = None,
    keep_descendants: Annotated[bool, _PAIRS] = False,
) -> int:
    """Score a model against its hierarchy: MAP, mean rank, hits@1 and the three kinds of illness.

    Parameters
    ----------
    model
        Model file or folder that treeball fit wrote; of a folder 4,000 random nodes are ranked, or as --sample says.
    objective
        Rank a node's parents or all its ancestors; by default what the model was trained for.
    sample
        Rank only this many random nodes and give 95 % intervals; 0 ranks all. By default all up to 150,000 nodes, and
        beyond if that takes less than about two minutes; else 4,000.
    seed
        Chooses the sample, or the corrupted pairs.
    threads
        Workers; 0 uses all cores.
    device
        Where to compare distances: cpu, cuda (a graphics card), or auto, which takes a card where there is one and it
        is faster. The ranks are the same.
    json
        Print one JSON object.
    ill_pairs
        Write every ill pair to this CSV file: node, positive, offender, kind.
    escape_formulas
        Put an apostrophe before names in that file that a spreadsheet would compute, such as =cmd().
    distortion
        Compare distances with path lengths in the hierarchy, by edge weights where there are some: average and worst
        case after the best scale, and Spearman's rank correlation; exact up to 2,000 nodes and sampled beyond. And the
        MAP in which a node's children count as well as its parents. All this is done unless you say --no-distortion.
    require_map
        Exit with 1 if the MAP is below this, for a test in a pipeline.
    require_ill
        Exit with 1 if there are more ill pairs than this.
    held_out
        Rank the pairs of this file instead, which treeball split kept out of the training, and tell them from corrupted
        ones: link prediction.
    validation
        Pairs from the same split to choose the threshold on by which pairs are told apart; without them there is an
        AUC, but no F1.
    score
        What pairs are told apart by: distance, detour, ascent, or auto, the default: the one with the best F1 on the
        validation pairs.
    corrupted
        Corrupted pairs for every true one, half with another node and half with another ancestor; by default 10.
    keep_descendants
        Keep a node's descendants as candidates in the ranking, as published figures do; by default they are left out,
        for one of them as a parent would make a cycle.
    """
    from ..io.atomic import require_writable
    from ..io.model_file import load
    from ..methods.progress import WorkProgress
    from ..scale.layout import is_folder

    if require_map is not None:
        require(0 <= require_map <= 1, f"--require-map must be between 0 and 1, not {require_map:g}")
    if is_folder(model):
        refuse_options(
            ill_pairs=ill_pairs, distortion=distortion, held_out=held_out, validation=validation, score=score,
            corrupted=corrupted, keep_descendants=keep_descendants, require_ill=require_ill,
            escape_formulas=escape_formulas, device=None if device == "auto" else device,
        )  # fmt: skip
        found = evaluate_folder(model, objective, sample, seed, threads, json)
        return _verdict(found["map"], require_map)
    of_pairs = _given(validation=validation, score=score, corrupted=corrupted, keep_descendants=keep_descendants)
    of_model = _given(sample=sample, ill_pairs=ill_pairs, require_ill=require_ill)
    if device != "auto":
        of_model["device"] = device
    if distortion is not None:
        of_model["distortion"] = distortion
    if require_ill is not None:
        require(require_ill >= 0, f"--require-ill must be at least 0, not {require_ill}")
    if held_out is None and of_pairs:
        raise InputError(f"without --held-out there are no pairs for {_options(of_pairs)}: give their file as well")
    if held_out is not None and of_model:
        raise InputError(f"--held-out has no use for {_options(of_model)}: ask for one of the two")
    require(ill_pairs is not None or not escape_formulas, "--escape-formulas goes with --ill-pairs")
    if ill_pairs is not None:
        require_writable(ill_pairs, model)
    embedding = load(model)
    if held_out is not None:
        from ..evaluation import evaluate_held_out

        pairs = _read_pairs(held_out, "held-out pairs")
        if validation is not None:
            of_pairs["validation"] = _read_pairs(validation, "validation pairs")
        result = evaluate_held_out(embedding, pairs, objective, seed=seed, threads=threads, **of_pairs)
        if json:
            print_json(result.to_dict())
        else:
            print_table(result.rows(), f"{model}: held-out pairs of {held_out}")
        return _verdict(result.map, require_map)
    with WorkProgress() as work:
        work.begin("evaluating")
        evaluation = embedding.evaluate(objective, sample=sample, seed=seed, threads=threads, device=device)
    if ill_pairs is not None:
        _write_ill_pairs(evaluation, embedding.hierarchy, ill_pairs, escape_formulas)
    record, rows = evaluation.to_dict(), score_rows(evaluation)
    if distortion is not False:
        from ..evaluation import distortion as measure
        from ..evaluation import map_neighbours
        from ..words import json_number

        measured = measure(embedding, seed=seed)
        neighbours = map_neighbours(embedding, seed=seed, threads=threads)
        record |= {"map_neighbours": json_number(neighbours), "distortion": measured.to_dict()}
        rows += [("MAP, neighbours", f"{neighbours:.4f}"), *distortion_rows(measured)]
    verdict = _verdict(evaluation.map, require_map, len(evaluation.illness), require_ill)
    if json:
        print_json(record)
        return verdict
    title = f"{model}: {evaluation.nodes:,} nodes, {evaluation.edges:,} edges, dimension {evaluation.dim}"
    print_table(rows, title)
    if evaluation.certificate is not None:
        print_line(evaluation.certificate.sentence())
    return verdict


def _read_pairs(path: Path, what: str) -> Hierarchy:
    """The pairs of a file; says what it was read as."""
    from ..evaluation._given_pairs import read_pairs

    pairs = read_pairs(path)
    if pairs.report is not None:
        say(f"{what}: {pairs.report.headline_of_edges()}")
    return pairs


def _verdict(score: float, least: float | None, ill: int = 0, most: int | None = None) -> int:
    """The exit code: 1 where a score is worse than was required, which it says."""
    failed = False
    if least is not None and score < least:
        say(f"MAP is {score:.6f}, below the {least:g} that --require-map asks for")
        failed = True
    if most is not None and ill > most:
        say(f"{count(ill, 'pair')} ill, more than the {most:,} that --require-ill allows")
        failed = True
    return int(failed)


def _given(**options: Any) -> dict[str, Any]:
    """Those options that were set."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def _options(names: Iterable[str]) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in names)


def _write_ill_pairs(evaluation: Evaluation, hierarchy: Hierarchy, path: Path, escape_formulas: bool) -> None:
    import pyarrow as pa
    from pyarrow import csv

    from ..evaluation.illness import KINDS
    from ..io.atomic import atomic_write
    from ..io.spreadsheet import escaped

    illness = evaluation.illness

    def as_cells(texts: pa.Array) -> pa.Array:
        return pa.array([escaped(text, escape_formulas) for text in texts.to_pylist()], pa.string())

    names = as_cells(hierarchy.names.to_arrow())
    table = pa.table(
        {
            "node": names.take(illness.node),
            "positive": names.take(illness.positive),
            "offender": names.take(illness.offender),
            "kind": pa.array([KINDS[kind] for kind in illness.kind], pa.string()),
        }
    )
    if hierarchy.names.has_labels:
        labels = as_cells(hierarchy.labels.to_arrow())
        for side in ("node", "positive", "offender"):
            table = table.append_column(f"{side}_label", labels.take(getattr(illness, side)))
    with atomic_write(path) as temporary:
        csv.write_csv(table, temporary)
    say(f"wrote {count(len(illness), 'ill pair')} to {path}")

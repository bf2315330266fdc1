"""``treeball insert``: new nodes in a model; and nodes removed, renamed, or hung elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..errors import InputError
from ..words import count
from .console import print_json, print_line, print_table, recorded_score_rows, say, say_lines
from .folder_answers import insert_folder, refuse_options
from .outputs import changing
from .sources import ReadingOptions, read_new_edges
from .suggest_parent import names_in

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..hierarchy.names import Names
    from ..methods._insert import Insertion

_SHOWN = 10


def insert(
    model: Path,
    edges: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    *more: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    near: list[str] | None = None,
    name: str | None = None,
    remove: list[str] | None = None,
    rename: list[str] | None = None,
    reparent: list[str] | None = None,
    make_room: bool = True,
    heal: bool = False,
    json: bool = False,
    threads: int = 0,
    reading: Annotated[ReadingOptions, Parameter(name="*", group="Reading")] = ReadingOptions(),  # noqa: B008
) -> int:
    """Add nodes to a model, remove, rename or move some; all other vectors stay byte for byte as they are.

    Each new node gets a place where its parent is the nearest node and where it is the nearest of no other. What is
    done, is done in this order: rename, remove, reparent, insert.

    Parameters
    ----------
    model
        Model file that treeball fit wrote, or a model folder, to which new leaves are added in place.
    edges
        New edges child,parent in any format that treeball fit reads, a table of ids and labels for one; - for standard
        input. Parents are nodes of the model or new themselves.
    more
        Further files that belong to it, such as products below categories.
    output
        Model to write, which may be the model itself; by default its name with the ending .inserted.parquet.
    near
        Nodes that the node given by --name is near to, separated by commas: its parent is chosen from them.
    name
        Name of a new node whose parent is unknown; needs --near.
    remove
        Node to remove with its subtree, by its id or label; may be given several times. @FILE takes a line of the file
        for each.
    rename
        OLD=NEW; may be given several times. An id gets another id, a label another label. @FILE as for --remove.
    reparent
        NODE=NEWPARENT: hangs the node with its subtree below another parent; may be given several times. @FILE as for
        --remove.
    make_room
        Where a node is full and its new children have no place, move as few old nodes as will do, and say which. With
        --no-make-room none moves, and those without a place are named.
    heal
        Heal the model if a new node is ill, or another because of it; says which other nodes moved. A model made for
        the objective ancestors is refused.
    json
        Print what was done as one JSON object.
    threads
        Workers; 0 uses all cores.
    """
    from ..scale.layout import is_folder

    if is_folder(model):
        refuse_options(
            output=output,
            near=near,
            name=name,
            remove=remove,
            rename=rename,
            reparent=reparent,
            heal=heal,
            no_make_room=not make_room,
        )
        return insert_folder(model, edges, more, threads, json, reading)
    from ..io.model_file import load
    from ..io.readers.edges import NewEdges
    from ..methods._insert import insert as insert_nodes
    from ..methods.progress import WorkProgress
    from .node_arguments import Spoken

    if edges is None and reading.repairs is not None:
        raise InputError("--repairs lists the repairs of new edges, and none are given: leave it out")
    if (near is None) != (name is None):
        raise InputError("--near and --name belong together: name the new node, and nodes that it is near to")
    output = output or model.with_name(model.stem + ".inserted.parquet")
    with changing(model, output, *([] if edges is None else [edges]), *more):
        embedding = load(model)
        names = embedding.names
        remove, rename, reparent = (_with_lines_of_files(texts, names) for texts in (remove, rename, reparent))
        with WorkProgress() as work:
            work.begin(f"reading {edges}")
            found = None if edges is None else read_new_edges(edges, more, reading, names)
        if found is not None and found.report is not None:
            say_lines(found.report.summary_of_edges())
        if name is not None and near is not None:
            _require_new(name, names, [*remove, *(_split(text, names, "rename", "OLD=NEW")[0] for text in rename)])
            pair = (name, _parent_from(embedding, name, near))
            found = NewEdges([pair]) if found is None else found.with_pair(*pair)
        insertion = insert_nodes(
            embedding,
            found,
            remove=[names[names.find(text)] for text in remove],
            rename=_one_each((_split(text, names, "rename", "OLD=NEW") for text in rename), "rename", names),
            reparent=_reparent(reparent, rename, names),
            make_room=make_room,
            heal_ill=heal,
            threads=threads,
            progress=True,
        )
        insertion.embedding.save(output)
        if found is not None and found.described is not None:
            _tell_other_labels(names, found.described)
        if json:
            listed = (insertion.ill, insertion.without_place, insertion.fell_ill, insertion.healed_by_moving)
            mentioned = [one for some in listed for one in some]
            scores = {"scores": insertion.embedding.provenance.scores}
            print_json(insertion.to_dict() | scores | Spoken(insertion.embedding.names, mentioned).labels(*mentioned))
        else:
            _print(insertion)
        if insertion.embedding is embedding:
            say("nothing is new: the model has all these edges already and is written as it was")
        elif insertion.placed and embedding.objective == "ancestors":
            say(
                "warning: this model is made for the objective ancestors, but new nodes are placed next to their "
                "parent, so its scores may fall (treeball evaluate tells): treeball heal mends the result"
            )
        say(f"saved {output}")
        return 0


def _with_lines_of_files(texts: list[str] | None, names: Names) -> list[str]:
    """The texts, where @FILE stands for the lines of a file; what begins with @ and is no file may be a node."""
    found: list[str] = []
    for text in texts or ():
        path = Path(text[1:])
        if not (text.startswith("@") and path.is_file()):
            if text.startswith("@") and not _begins_with_node(text, names):
                raise InputError(f"there is no file {text[1:]!r}, nor a node {text!r}: correct the path after the @")
            found.append(text)
            continue
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise InputError(f"{str(path)!r} is not text in UTF-8: save it as that") from None
        found += [line for line in lines if line.strip()]
    return found


def _begins_with_node(text: str, names: Names) -> bool:
    """Whether the text, or what is before an equals sign in it, means a node."""
    ends = [len(text), *(i for i, letter in enumerate(text) if letter == "=")]
    return any(names.look_up(text[:end]) for end in ends)


def _tell_other_labels(names: Names, described: Names) -> None:
    """Say so when nodes of the model have another label in the file: new edges do not change it."""
    both = [name for name in described if name in names] if described.has_labels and names.has_labels else []
    before, now = names.labels_by_name(both), described.labels_by_name(both)
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        example = f"{changed[0]}: {before.get(changed[0], 'none')} -> {now[changed[0]]}"
        say(
            f"{count(len(changed), 'old node')} with another label in the new edges ({example}): labels of old nodes "
            "stay as they are; --rename OLD=NEW changes one"
        )


def _require_new(name: str, names: Names, free: Iterable[Hashable]) -> None:
    """Refuse the name of an old node for a new one, unless that node is removed or renamed."""
    taken = set(names.look_up(name)).difference(*(names.look_up(one) for one in free))
    if taken:
        old = names.shown(min(taken))
        raise InputError(f"--name {name!r} is in the model already, as {old!r}: give a new node a name of its own")


def _parent_from(embedding: Embedding, name: str, near: list[str]) -> Hashable:
    """The best parent for a node that is near to some; says which."""
    from ..embedding._suggest_parent import suggest_parent

    known = [one for text in near for one in names_in(text, embedding.names)]
    best = suggest_parent(embedding, known, 1)[0]
    parent, *others = embedding.names.shown_as([best.name, *known])
    say(f"{name!r} goes below {parent!r}, the best parent for a node near to {', '.join(others)}")
    return best.name


def _split(text: str, names: Names, option: str, form: str) -> tuple[Hashable, str]:
    """The two names of ``A=B``; a name may hold an equals sign itself, so A is the longest part that is a node."""
    cuts = [i for i, letter in enumerate(text) if letter == "="]
    if not cuts:
        raise InputError(f"--{option} {text!r} needs the form {form}")
    fitting = [cut for cut in cuts if names.look_up(text[:cut])]
    cut = fitting[-1] if fitting else cuts[0]
    return text[:cut], text[cut + 1 :]


def _reparent(texts: list[str], renamed: list[str], names: Names) -> dict[Hashable, Hashable]:
    """Nodes and new parents; where nodes are renamed as well, these are the new names, which are not in the model."""
    pairs = [_split(text, names, "reparent", "NODE=NEWPARENT") for text in texts]
    fresh = {text.rpartition("=")[2] for text in renamed}
    found = ((names[names.find(node)], above if above in fresh else names[names.find(above)]) for node, above in pairs)
    return _one_each(found, "reparent", names)


def _one_each(pairs: Iterable[tuple[Hashable, Hashable]], option: str, names: Names) -> dict[Hashable, Hashable]:
    """The pairs by their first; which of two that differ is meant, nobody knows."""
    found: dict[Hashable, Hashable] = {}
    for one, other in pairs:
        if found.setdefault(one, other) != other:
            node, first, second = names.shown_as([one, found[one], other])
            what = "new names" if option == "rename" else "new parents"
            raise InputError(f"--{option} gives {node!r} two {what}, {first!r} and {second!r}: leave out one of them")
    return found


def _print(insertion: Insertion) -> None:
    from ..evaluation import Certificate

    rows = [("nodes", f"{len(insertion.embedding):,}")]
    if insertion.placed:
        placed = len(insertion.placed)
        share = insertion.parent_nearest / placed
        rows += [
            ("placed", f"{placed:,}"),
            ("parent is nearest", f"{insertion.parent_nearest:,} ({share:.2%})"),
            ("other nodes that fell ill", f"{len(insertion.fell_ill):,}"),
        ]
    if insertion.removed:
        rows.append(("removed", f"{insertion.removed:,}"))
    scores = insertion.embedding.provenance.scores
    print_table(rows + recorded_score_rows(scores))
    known = insertion.embedding.names
    _list("found no free place", insertion.without_place, known)
    _list("placed, but not nearest to the parent", insertion.ill, known)
    _list("fell ill because of those placed", insertion.fell_ill, known)
    _list(f"had no room left for {'its' if len(insertion.full) == 1 else 'their'} new children", insertion.full, known)
    _list("moved to make room", insertion.moved_for_room, known)
    _list("moved to heal", insertion.healed_by_moving, known)
    certificate = Certificate.of_scores(scores)
    if certificate is not None:
        print_line(certificate.sentence())


def _list(what: str, names: list[Hashable], known: Names) -> None:
    """A sentence with all of a few names, or the first of many and where to find the rest."""
    if names:
        shown = ", ".join(known.shown_as(names[:_SHOWN]))
        rest = f" and {len(names) - _SHOWN:,} more (--json lists all)" if len(names) > _SHOWN else ""
        print_line(f"{count(len(names), 'node')} {what}: {shown}{rest}")

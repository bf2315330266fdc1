"""``treeball ask``: the relatives of a node, by geometry or by the hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError
from ..types import Source
from .console import also_below, print_json, print_line, print_rows, say
from .folder_answers import ask_folder, refuse_options
from .node_arguments import FromFile, FromSource, NodeNames, plain

if TYPE_CHECKING:
    from ..embedding import Embedding

Question = Literal["parent", "parents", "children", "ancestors", "subtree", "is-ancestor", "common-ancestor", "path"]
_OF_TWO = ("is-ancestor", "common-ancestor", "path")


def ask(
    model: Path,
    question: Question,
    nodes: NodeNames = (),
    *,
    source: FromSource = "geometry",
    depth: int | None = None,
    from_file: FromFile = None,
    json: bool = False,
) -> int:
    """Ask a model for the relatives of a node.

    The questions parent, parents, children, ancestors and subtree take any number of nodes; is-ancestor (ANCESTOR
    NODE), common-ancestor and path take two, or more in pairs. To parent a node with several is answered by all of
    them, the nearest first, in one line. Geometry tells relatives as they are where no pair is
    ill; that of a model with ill pairs answers with a warning, and --from hierarchy is right for all.

    Parameters
    ----------
    model
        Model file or folder that treeball fit wrote; a folder answers from the hierarchy, and parent from geometry too.
    question
        What to ask.
    nodes
        Ids, labels or synonyms of nodes, exactly as in the hierarchy.
    source
        Answer from distances alone, where the nodes within its reach are a node's parents or ancestors, or from the
        hierarchy.
    depth
        How many edges below the node a subtree reaches; by default all.
    from_file
        Read names from this file instead, one question a line, two names separated by a tab; - for standard input.
    json
        Print one JSON object a line, one for each question.
    """
    from ..embedding._questions import doubt_of
    from ..io.model_file import load
    from ..scale.layout import is_folder
    from .node_arguments import Spoken, questions

    if depth is not None and question != "subtree":
        raise InputError("--depth goes with the question subtree")
    if is_folder(model):
        refuse_options(from_file=from_file)
        return ask_folder(model, question, nodes, source, depth, json)
    embedding = load(model)
    asked = questions(embedding.names, nodes, from_file, size=2 if question in _OF_TWO else 1)
    doubt = doubt_of(embedding, source)
    if doubt:
        say(f"{doubt}: --from hierarchy knows them")
    answers = _answers(embedding, question, asked, source, depth)
    mentioned = [(*names, *_nodes_in(answer)) for names, answer in zip(asked, answers, strict=True)]
    spoken = Spoken(embedding.names, [name for some in mentioned for name in some])
    if json:
        for names, answer, nodes_named in zip(asked, answers, mentioned, strict=True):
            outline = _Outline(embedding, names[0], source, depth) if question == "subtree" else None
            others = [] if outline is None else outline.other_names()
            told = _record(question, names, answer) | ({} if outline is None else outline.record())
            print_json(told | Spoken(embedding.names, [*nodes_named, *others]).labels(*nodes_named, *others))
    elif question in ("parent", "common-ancestor"):
        texts = [", ".join(map(spoken.shown, _nodes_in(answer))) or "none" for answer in answers]
        rows = [(*map(spoken.shown, names), text) for names, text in zip(asked, texts, strict=True)]
        print_rows(None, rows if len(rows) > 1 else [(texts[0],)])
    elif question == "is-ancestor":
        for (above, below), answer in zip(asked, answers, strict=True):
            verb = "is an ancestor" if answer else "is no ancestor"
            print_line(f"{spoken.shown(above)} {verb} of {spoken.shown(below)} (score {answer.score:.4f})")
    else:
        for place, (names, answer) in enumerate(zip(asked, answers, strict=True)):
            if len(asked) > 1:
                if place:
                    print_line()
                print_line(f"{' to '.join(map(spoken.shown, names))}:")
            if question == "subtree":
                lines = _Outline(embedding, names[0], source, depth).lines()
            else:
                lines = list(map(spoken.shown, answer))
            for line in lines or ["none"]:
                print_line(line)
    return 0


def _answers(
    embedding: Embedding, question: Question, asked: list[Any], source: Source, depth: int | None
) -> list[Any]:
    from ..embedding import _answers

    first = [names[0] for names in asked]
    second = [names[-1] for names in asked]
    match question:
        case "parent" | "parents":
            return _answers.parents_of(embedding, first, source)
        case "children":
            return _answers.children_of(embedding, first, source)
        case "ancestors":
            return _answers.ancestors_of(embedding, first, source)
        case "subtree":
            return _answers.subtree(embedding, first, source, depth)
        case "is-ancestor":
            return _answers.is_ancestor(embedding, first, second, source)
        case "common-ancestor":
            return _answers.common_ancestor(embedding, first, second, source)
        case "path":
            return _answers.path(embedding, first, second, source)


def _record(question: Question, names: tuple[Any, ...], answer: Any) -> dict[str, Any]:
    key = question.replace("-", "_")
    if question == "is-ancestor":
        shown = {"ancestor": plain(names[0]), "node": plain(names[1])}
        return {**shown, key: answer.holds, "score": answer.score}
    shown = {"a": plain(names[0]), "b": plain(names[1])} if len(names) == 2 else {"node": plain(names[0])}
    if question == "parent":  # one, and all of them: in a DAG there may be several
        shown |= {"parent": plain(answer[0]) if answer else None}
        key = "parents"
    return {**shown, key: [plain(name) for name in answer] if isinstance(answer, list) else plain(answer)}


def _nodes_in(answer: Any) -> list[Any]:
    """The nodes that an answer names."""
    if isinstance(answer, list):
        return answer
    return [] if answer is None or hasattr(answer, "score") else [answer]


class _Outline:
    """A node and all below it, and for each the parents that the outline does not show it below."""

    def __init__(self, embedding: Embedding, name: Any, source: Source, depth: int | None) -> None:
        from ..embedding._answers import further_parents, outline

        tree = embedding.hierarchy if source == "hierarchy" else embedding.read_back()
        self.names = embedding.names
        self.rows = list(outline(tree, self.names.index_of(name), depth))
        found = further_parents(self.rows, tree.parents_of)
        real = {node: [one for one in some if one != tree.virtual_root] for node, some in found.items()}
        self.others = {node: some for node, some in real.items() if some}

    def lines(self) -> list[str]:
        """Names, indented; behind a node its further parents."""
        shown = self.names.shown_of([code for code, _ in self.rows])
        return [f"{'  ' * level}{text}{self._also(code)}" for text, (code, level) in zip(shown, self.rows, strict=True)]

    def record(self) -> dict[str, Any]:
        """How many edges below the first node each one is, and further parents by name."""
        others = {str(self.names[code]): [plain(self.names[one]) for one in some] for code, some in self.others.items()}
        return {"depths": [level for _, level in self.rows], "other_parents": others}

    def other_names(self) -> list[Any]:
        """All further parents."""
        return [self.names[one] for some in self.others.values() for one in some]

    def _also(self, code: int) -> str:
        return also_below(self.names.shown_of(self.others[code])) if code in self.others else ""

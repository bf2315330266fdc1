"""What else auto tries, and which embedding it keeps: the best of what it chose and its rivals."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..embedding import Embedding
from ..errors import NumericalError
from ..interruption import answered
from ._heal import heal
from .auto import Choice
from .run import Run
from .settings import Settings

__all__ = ["best_of"]


def best_of(
    embedding: Embedding | None, choice: Choice, run: Run, attempt: Callable[[Settings], Embedding]
) -> Embedding | None:
    """The best embedding by MAP, then by mean rank, of what the choice made and what its rivals make.

    The log says what was compared. A rival whose scores are not numbers never wins.

    Parameters
    ----------
    embedding
        What the chosen method made; None if its training stopped giving numbers.
    attempt
        Makes the embedding of a rival.

    Returns
    -------
    embedding
        None if neither the choice nor a rival gave one.
    """
    name = choice.settings.method
    for settings in choice.rivals:
        rival = _name_of(settings, choice.settings)
        if embedding is not None and (_is_made(embedding, settings) or _is_needless(embedding, settings)):
            continue
        try:
            other = attempt(settings)
        except KeyboardInterrupt:
            if embedding is None:
                raise
            answered()
            return embedding.with_provenance(embedding.provenance.with_log(f"{rival} was not compared"))
        except NumericalError as error:
            run.note(f"{rival} was not compared: {error}")
            if embedding is not None:
                embedding = embedding.with_provenance(embedding.provenance.with_log(run.log[-1].text))
            continue
        name, embedding = _better((name, embedding), (rival, other), choice, run)
        if other.provenance.epochs_done < settings.epochs_to_train:  # Ctrl-C ended it
            break
    return embedding


def _better(
    kept: tuple[str, Embedding | None], tried: tuple[str, Embedding], choice: Choice, run: Run
) -> tuple[str, Embedding]:
    """The name of the better one and the embedding, whose log says what both scored."""
    (name, embedding), (rival, other), chosen = kept, tried, choice.settings
    wins = embedding is None or _merit(other, chosen) > _merit(embedding, chosen)
    both = {name: embedding, rival: other}
    scores = {
        one: made.evaluate(threads=chosen.threads, device=chosen.scored_on)
        for one, made in both.items()
        if made is not None
    }
    texts = [f"{one} MAP {found.map:.4f}, mean rank {found.mean_rank:.3f}" for one, found in scores.items()]
    compared = {one: found.to_dict() for one, found in scores.items()}
    winner, best = (rival, other) if wins or embedding is None else (name, embedding)
    if best is other:  # its record begins with what led to it
        best = other.with_provenance(other.provenance.with_history(run.log, run.trace))
    note = f"compared {' and '.join(texts)}: {winner} it is"
    best = best.with_provenance(best.provenance.with_log(note, compared=compared))
    if wins and chosen.heal and not other.provenance.settings.get("heal") and best.precise is None:
        best = heal(best, threads=chosen.threads, device=chosen.scored_on).embedding
    return winner, best


def _merit(embedding: Embedding, settings: Settings) -> tuple[float, float]:
    """What is compared, larger for better; below everything for scores that are not numbers."""
    scores = embedding.evaluate(threads=settings.threads, device=settings.scored_on)
    if math.isnan(scores.map) or math.isnan(scores.mean_rank):
        return -math.inf, -math.inf
    return scores.map, -scores.mean_rank


def _is_made(embedding: Embedding, settings: Settings) -> bool:
    """Whether a healed construction is the best so far: an unhealed one that wins is healed at once."""
    return settings.heal and not settings.epochs_to_train and embedding.provenance.method == settings.method


def _is_needless(embedding: Embedding, settings: Settings) -> bool:
    """Whether a rival that takes its time, as all do but a plain construction, has nothing to mend."""
    takes_time = settings.epochs_to_train or settings.heal or getattr(settings, "precision", 1) > 1
    scores = embedding.evaluate(threads=settings.threads, device=settings.scored_on)
    return bool(takes_time) and not len(scores.illness)


def _name_of(settings: Settings, chosen: Settings) -> str:
    """What the log calls a rival: its method, and how it differs from what was chosen."""
    terms = getattr(settings, "precision", 1)
    if settings.epochs_to_train != chosen.epochs_to_train and settings.epochs_to_train:
        return f"{settings.method} in {settings.epochs_to_train:,} epochs"
    if settings.epochs_to_train:
        return f"{settings.method} from random vectors"
    if terms > 1:
        return f"{settings.method} with {terms} terms"
    return f"healed {settings.method}" if settings.heal else settings.method

"""treeball: embeds hierarchies in hyperbolic space so faithfully that they can be read back from distances.

>>> import treeball
>>> embedding = treeball.fit("catalog.csv", dim=5)       # doctest: +SKIP
>>> embedding.evaluate().map                             # doctest: +SKIP
>>> embedding.neighbors("Shoes", k=5)                    # doctest: +SKIP
>>> embedding.save("catalog.parquet")                    # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .comparing import compare
    from .embedding import Embedding
    from .errors import InputError, MissingExtraError, NumericalError, TreeballError
    from .evaluation import Evaluation, evaluate
    from .exchange.importing import import_vectors
    from .held_out import evaluate_held_out
    from .hierarchy import Hierarchy
    from .methods.fit import fit
    from .methods.heal import heal
    from .methods.insert import insert
    from .model_file import load
    from .readers import read
    from .readers.settings import ReadSettings
    from .report.diagnose import diagnose
    from .settings import FitSettings
    from .splitting import split
    from .suggesting import suggest_parent

# Every public name and the module it lives in. They are imported on first use: numba and pyarrow take longer to
# import than many a script that only wants `treeball.__version__` takes to run.
_HOMES = {
    "Embedding": "embedding",
    "Evaluation": "evaluation",
    "FitSettings": "settings",
    "Hierarchy": "hierarchy",
    "InputError": "errors",
    "MissingExtraError": "errors",
    "NumericalError": "errors",
    "ReadSettings": "readers.settings",
    "TreeballError": "errors",
    "compare": "comparing",
    "diagnose": "report.diagnose",
    "evaluate": "evaluation",
    "evaluate_held_out": "held_out",
    "fit": "methods.fit",
    "heal": "methods.heal",
    "import_vectors": "exchange.importing",
    "insert": "methods.insert",
    "load": "model_file",
    "read": "readers",
    "split": "splitting",
    "suggest_parent": "suggesting",
}

__all__ = [
    "Embedding",
    "Evaluation",
    "FitSettings",
    "Hierarchy",
    "InputError",
    "MissingExtraError",
    "NumericalError",
    "ReadSettings",
    "TreeballError",
    "__version__",
    "compare",
    "diagnose",
    "evaluate",
    "evaluate_held_out",
    "fit",
    "heal",
    "import_vectors",
    "insert",
    "load",
    "read",
    "split",
    "suggest_parent",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

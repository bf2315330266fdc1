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
    from .embedding import Embedding
    from .errors import InputError, MissingExtraError, NumericalError, TreeballError
    from .evaluation import Evaluation, evaluate
    from .hierarchy import Hierarchy
    from .methods.fit import fit
    from .model_file import load
    from .readers import read
    from .readers.settings import ReadSettings
    from .settings import FitSettings

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
    "evaluate": "evaluation",
    "fit": "methods.fit",
    "load": "model_file",
    "read": "readers",
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
    "evaluate",
    "fit",
    "load",
    "read",
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

"""treeball: embeds hierarchies in hyperbolic space so faithfully that they can be read back from distances.

>>> import treeball
>>> embedding = treeball.fit("catalog.csv", dim=5)       # doctest: +SKIP
>>> embedding.evaluate().map                             # doctest: +SKIP
>>> embedding.neighbors("Shoes", k=5)                    # doctest: +SKIP
>>> embedding.save("catalog.parquet")                    # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazy
from ._version import __version__

if TYPE_CHECKING:
    from .embedding import Embedding, suggest_parent
    from .errors import InputError, MissingExtraError, NumericalError, TreeballError
    from .evaluation import Evaluation, compare, evaluate, evaluate_held_out, split
    from .hierarchy import Hierarchy
    from .io.model_file import load
    from .io.readers import ReadSettings, read
    from .io.vectors import import_vectors
    from .methods import FitSettings, fit, heal, insert
    from .report.diagnose import diagnose

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

# Every public name and the room it lives in. They are imported on first use: numba and pyarrow take longer to
# import than many a script that only wants `treeball.__version__` takes to run.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "Embedding": "embedding",
        "Evaluation": "evaluation",
        "FitSettings": "methods",
        "Hierarchy": "hierarchy",
        "InputError": "errors",
        "MissingExtraError": "errors",
        "NumericalError": "errors",
        "ReadSettings": "io.readers",
        "TreeballError": "errors",
        "compare": "evaluation",
        "diagnose": "report.diagnose",
        "evaluate": "evaluation",
        "evaluate_held_out": "evaluation",
        "fit": "methods",
        "heal": "methods",
        "import_vectors": "io.vectors",
        "insert": "methods",
        "load": "io.model_file",
        "read": "io.readers",
        "split": "evaluation",
        "suggest_parent": "embedding",
    },
)

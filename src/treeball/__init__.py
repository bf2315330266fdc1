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
    from .embedding import Embedding, Provenance, Suggestion, suggest_parent
    from .errors import InputError, MissingExtraError, NumericalError, TreeballError
    from .evaluation import (
        Classification,
        Comparison,
        Evaluation,
        HeldOut,
        Split,
        compare,
        evaluate,
        evaluate_held_out,
        split,
    )
    from .experiments import Bench, bench
    from .hierarchy import Hierarchy
    from .io.model_file import load
    from .io.readers import ReadSettings, read
    from .io.vectors import import_vectors
    from .io.verify import Verification, verify
    from .matching import Alignment, align
    from .methods import FitSettings, Healing, Insertion, Method, Update, fit, heal, insert, register, update
    from .report.diagnose import Diagnosis, diagnose

__all__ = [
    "Alignment",
    "Bench",
    "Classification",
    "Comparison",
    "Diagnosis",
    "Embedding",
    "Evaluation",
    "FitSettings",
    "Healing",
    "HeldOut",
    "Hierarchy",
    "InputError",
    "Insertion",
    "Method",
    "MissingExtraError",
    "NumericalError",
    "Provenance",
    "ReadSettings",
    "Split",
    "Suggestion",
    "TreeballError",
    "Update",
    "Verification",
    "__version__",
    "align",
    "bench",
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
    "register",
    "split",
    "suggest_parent",
    "update",
    "verify",
]

# Every public name and the room it lives in. They are imported on first use: numba and pyarrow take longer to
# import than many a script that only wants `treeball.__version__` takes to run.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "Alignment": "matching",
        "Bench": "experiments",
        "Classification": "evaluation",
        "Comparison": "evaluation",
        "Diagnosis": "report.diagnose",
        "Embedding": "embedding",
        "Evaluation": "evaluation",
        "FitSettings": "methods",
        "Healing": "methods",
        "HeldOut": "evaluation",
        "Hierarchy": "hierarchy",
        "InputError": "errors",
        "Insertion": "methods",
        "Method": "methods",
        "MissingExtraError": "errors",
        "NumericalError": "errors",
        "Provenance": "embedding",
        "ReadSettings": "io.readers",
        "Split": "evaluation",
        "Suggestion": "embedding",
        "TreeballError": "errors",
        "Update": "methods",
        "Verification": "io.verify",
        "align": "matching",
        "bench": "experiments",
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
        "register": "methods",
        "split": "evaluation",
        "suggest_parent": "embedding",
        "update": "methods",
        "verify": "io.verify",
    },
)

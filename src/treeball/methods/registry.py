"""The methods by name. Adding one is a module that ends in a `Method`, and a line in the table below.

Somebody else's method is registered from outside: see `register`, and docs/methods.md for an example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from ..checks import require
from ..errors import InputError
from ..interruption import is_interruption
from .settings import Settings

if TYPE_CHECKING:
    from ..hierarchy import Hierarchy
    from .descent import Epochs
    from .run import Run

__all__ = ["Method", "find", "is_plug_in", "method_names", "plug_in_names", "register", "require_known"]

# A method and the module that holds it, as METHODS; imported when somebody asks for it.
_HOMES = {
    "construct": "construct",
    "softmax": "softmax",
    "poincare": "baselines",
    "lorentz": "baselines",
    "euclidean": "baselines",
    "ga-dl": "geometry_aware",
    "ga-dl-rw": "geometry_aware",
    "ga-rw": "geometry_aware",
    "sarkar": "sarkar",
}
_ENTRY_POINTS = "treeball.methods"
_registered: dict[str, Method] = {}


@dataclass(frozen=True)
class Method:
    """A way to embed a hierarchy.

    Attributes
    ----------
    name
        How it is called on the command line and in `fit`.
    run
        Takes a :class:`treeball.methods.run.Run` and sets its vectors. A training yields what some epochs did after
        them, as often as it can be watched and stopped; a construction yields nothing.
    space
        Geometry of its vectors.
    settings
        Class of its settings: a frozen dataclass below :class:`treeball.methods.settings.Settings`. A setting that is
        not in it is refused.
    needs
        Raises InputError when a hierarchy lacks what the method needs, such as weights.
    """

    name: str
    run: Callable[[Run], Iterator[Epochs]]
    space: str = "poincare"
    settings: type[Settings] = Settings
    needs: Callable[[Hierarchy, Any], None] | None = None


def register(method: Method) -> Method:
    """Make a method known to `fit` under its name; an earlier one of that name is replaced.

    A package does the same for the command line with an entry point of the group ``treeball.methods``, whose name is
    that of the method and whose object is the :class:`Method`.
    """
    if method.name == "auto" or method.name in _HOMES:
        raise InputError(f"there is a method {method.name!r} already: choose another name")
    _registered[method.name] = method
    return method


def method_names() -> list[str]:
    """All methods, those that were registered last."""
    return [*_HOMES, *_registered]


def plug_in_names() -> list[str]:
    """Names of the methods from outside: registered ones, and those of installed packages."""
    installed = (point.name for point in entry_points(group=_ENTRY_POINTS))
    return sorted({*_registered, *installed} - set(_HOMES))


def is_plug_in(name: str) -> bool:
    """Whether a method of this name comes from outside: it checks its own settings."""
    return name not in _HOMES and name in plug_in_names()


def find(name: str) -> Method:
    """The method of this name; InputError when there is none."""
    if name in _registered:
        return _registered[name]
    if name in _HOMES:
        methods: tuple[Method, ...] = import_module(f"{__package__}.{_HOMES[name]}").METHODS
        return next(method for method in methods if method.name == name)
    require_known(name)
    (point, *_) = entry_points(group=_ENTRY_POINTS, name=name)
    return register(_loaded(point))


def _loaded(point: EntryPoint) -> Method:
    """The method of an installed package; InputError if the package does not load, or offers something else."""
    try:
        loaded = point.load()
    except Exception as error:
        if is_interruption(error):
            raise
        raise InputError(f"the method {point.name!r} cannot be loaded from {point.value}: {error}") from error
    if not isinstance(loaded, Method) or loaded.name != point.name:
        raise InputError(
            f"the entry point {point.name!r} leads to {point.value}, which is not a treeball.Method of this name"
        )
    return loaded


def require_known(name: str) -> None:
    """InputError when there is no method of this name."""
    known = [*_HOMES, *plug_in_names()]
    require(name in known, f"method must be one of auto, {', '.join(known)}, not {name!r}")

"""Pages from templates: what is put in is escaped, and a page's policy knows its own script and style by digest.

The templates are the ``.html`` files of this package, named by their path in it. In a template ``{{ value }}`` is text,
``{{ value | tojson }}`` is data for a script element, and ``{{ script | digest }}`` is what the policy calls a script.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ..words import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# Comments of whole lines from /** to */; casts within a line stay.
_TYPES = re.compile(r"^ */\*\*.*?\*/\n", re.DOTALL | re.MULTILINE)


def render(template: str, **values: object) -> str:
    """Fill in a template; a value that it names and that is not given is an error."""
    return _environment().get_template(template).render(values)


def asset(path: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(*path.split("/")).read_text("utf-8")


def script(path: str) -> str:
    """The text of a script without the types in it, which are for the checker: a page should not carry them."""
    return _TYPES.sub("", asset(path))


def trusted(text: str) -> Markup:
    """Text that a template takes in as it is: our own scripts, styles and pictures, in which every name is escaped."""
    from markupsafe import Markup

    return Markup(text)


def digest(text: str) -> Markup:
    """What a content security policy calls a script or style."""
    return trusted(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'")


def _visible(value: object) -> object:
    """What a page shows of a value: text with hidden characters written out; what is markup already stays."""
    return "\n".join(map(printable, value.split("\n"))) if type(value) is str else value


@cache
def _environment() -> Environment:
    # Only who makes a page waits for the import.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        finalize=_visible,
    )
    environment.filters["digest"] = digest
    # Python would write NaN, which is not JSON.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return environment

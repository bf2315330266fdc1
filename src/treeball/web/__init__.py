"""HTTP for all parts of treeball that serve something: a port, a server that no client can block, safe headers.

The service of a model takes the pieces; a page of a command is an application that `LocalServer` runs in a thread.
"""

from .answers import html_response, with_safe_headers
from .connections import ADDRESS_TOO_LONG, LONGEST_ADDRESS, MOST_IN_HEAD, Bounds
from .local import LocalServer
from .log import log_settings
from .port import LOOPBACK, address_of, listen, names_this_machine
from .server import BoundedServer, bounded_config

__all__ = [
    "ADDRESS_TOO_LONG",
    "LONGEST_ADDRESS",
    "LOOPBACK",
    "MOST_IN_HEAD",
    "BoundedServer",
    "Bounds",
    "LocalServer",
    "address_of",
    "bounded_config",
    "html_response",
    "listen",
    "log_settings",
    "names_this_machine",
    "with_safe_headers",
]

"""What errors say."""

from __future__ import annotations

import pytest

import treeball
from treeball.errors import InputError


def test_the_text_of_an_error_is_one_line_that_no_terminal_obeys() -> None:
    assert str(InputError("a\tname\x1b[2J,\n  and what a library said\r\nof it")) == (
        "a\\tname\\x1b[2J, and what a library said of it"
    )


def test_a_name_with_half_a_character_and_a_line_break_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="lone surrogate") as refused:
        treeball.read([("child", "pa\nrent\x7f\uda5b")])
    assert str(refused.value).isprintable()

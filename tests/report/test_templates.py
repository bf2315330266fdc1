"""What all pages rely on: text stays text, data stays data, and a page names its own script and style."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from treeball.report import templates
from treeball.report.live_page import make_page

HOSTILE = "</script><!-- ' \" & {{ 7 * 7 }} <b>"


def filled(source, **values):
    return templates._environment().from_string(source).render(values)


def test_text_is_escaped_and_never_a_template():
    page = filled('<p title="{{ name }}">{{ name }}</p>', name=HOSTILE)
    assert not re.search(r"</script|<!--|<b>", page)
    assert "{{ 7 * 7 }}" in page
    assert filled("{{ name }}", name=templates.trusted("<b>")) == "<b>"


def test_data_of_a_script_cannot_end_it():
    value = {"name": HOSTILE, "é": [1, None, 0.5]}
    text = filled("{{ value | tojson }}", value=value)
    assert not set("<>&'") & set(text)
    assert json.loads(text) == value
    assert "é" in text
    with pytest.raises(ValueError, match="not JSON compliant"):
        filled("{{ value | tojson }}", value=float("nan"))


def test_a_value_that_is_missing_is_noticed():
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        filled("{{ nothing }}")


def test_the_policy_names_the_script_and_the_style_of_the_page():
    page = make_page(HOSTILE)
    policy = re.search(r'Security-Policy" content="([^"]+)"', page)[1]
    for tag in ("script", "style"):
        content = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_a_page_does_not_carry_the_types_of_its_script():
    source, shipped = templates.asset("assets/live.js"), templates.script("assets/live.js")
    assert "@param" in source
    assert "@param" not in shipped
    assert re.findall(r"^(?:async )?function \w+|^// .*", source, re.M) == re.findall(
        r"^(?:async )?function \w+|^// .*", shipped, re.M
    )


def test_every_template_is_understood():
    folder = Path(str(files("treeball.report")))
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
    assert len(found) >= 4
    for name in found:
        templates._environment().get_template(name)


def test_only_who_makes_a_page_waits_for_jinja():
    code = (
        "import sys, treeball.report.browser, treeball.report.diagnose.page, treeball.report.live_page as live; "
        "assert 'jinja2' not in sys.modules; live.make_page('a'); assert 'jinja2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_browser_hides_is_written_out():
    page = filled("<p>{{ name }}</p><i>{{ text }}</i>", name="\u202egpj\u200b.exe\U000e0041", text="two\nlines")
    assert page == "<p>\\u202egpj\\u200b.exe\\U000e0041</p><i>two\nlines</i>"
    assert filled("{{ name }}", name=templates.trusted("<b>\u200b")) == "<b>\u200b"

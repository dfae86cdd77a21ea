"""Every template keeps the rules of the house: no inline script or style, only files that are there."""

import re
from pathlib import Path

from django import forms
from django.contrib.staticfiles import finders
from django.template import Context, Template
from django.template.loader import get_template
from django.test import RequestFactory

from apps.core.forms import StyledWidgets
from tests.pages import flat

ROOT = Path(__file__).resolve().parents[2] / "templates"
NAMES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.html"))

LINE_LENGTH = 120
UNBROKEN = re.compile(  # where a line break would change what is shown, or a word of the template's language
    r"""{% blocktranslate.*?endblocktranslate %}|{%.*?%}|{{.*?}}|{#.*?#}|"[^"]*"|'[^']*'|<pre.*|<\w+\s"""
)
INLINE = re.compile(r"""<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=["']|javascript:""", re.IGNORECASE)


def shown(text: str, **context: object) -> str:
    request = RequestFactory().get("/x/")
    return " ".join(Template(text).render(Context({"request": request} | context)).split())


def test_a_template_compiles_and_holds_no_inline_script_or_style() -> None:
    assert len(NAMES) > 200
    for name in NAMES:
        get_template(name)
    assert {name for name in NAMES if INLINE.search((ROOT / name).read_text())} == set()


def test_a_template_names_only_static_files_that_are_there() -> None:
    named = {path for name in NAMES for path in re.findall(r"{% static '([^']+)' %}", (ROOT / name).read_text())}
    assert named
    assert {path for path in named if not finders.find(path)} == set()


def has_place_to_break(line: str) -> bool:
    return " " in UNBROKEN.sub(lambda match: "x" * len(match[0]), line).strip()


def test_a_long_line_has_no_place_to_break() -> None:
    long = [
        (name, number)
        for name in NAMES
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
        if len(line) > LINE_LENGTH and has_place_to_break(line)
    ]
    assert long == []
    assert has_place_to_break("<p>one two</p>")
    assert not has_place_to_break('<p class="a b">{% translate "one two" %}</p>')


def test_the_rule_itself_finds_what_it_should() -> None:
    for text in ("<script>x</script>", '<a style="x">', '<a onclick="x">', "<style>"):
        assert INLINE.search(text), text
    assert not INLINE.search('<script src="x"></script><a class="style">on time = 3</a>')


def test_a_progress_bar_says_its_figures() -> None:
    html = shown('{% include "components/progress.html" with done=5 total=9 bad=2 %}')
    assert 'role="progressbar"' in html
    assert 'aria-valuenow="5"' in html
    assert "5 / 9" in html
    assert "2 failed" in html
    empty = shown('{% include "components/progress.html" with done=0 total=0 bad=0 %}')
    assert 'viewBox="0 0 1 1"' in empty
    assert "failed" not in empty


def test_an_empty_place_says_what_to_do_next() -> None:
    html = shown(
        '{% include "components/empty.html" with title="None" text="Add." action_url="/new/" action_label="New" %}'
    )
    assert '<a class="btn btn-primary" href="/new/">New</a>' in html
    assert "btn" not in shown('{% include "components/empty.html" with title="No sites" %}')


def test_a_list_of_names_and_values_shows_a_dash_for_nothing() -> None:
    html = shown('{% include "components/kv.html" %}', rows=[("MTU", 9000), ("RTT", None), ("Loss", 0)])
    assert "<dt>MTU</dt><dd>9000</dd><dt>RTT</dt><dd>–</dd><dt>Loss</dt><dd>0</dd>" in flat(html)


def test_a_confirmation_posts_and_can_be_cancelled() -> None:
    html = shown('{% include "components/confirm.html" with text="Sure?" confirm_label="Yes" cancel_url="/back/" %}')
    assert '<form method="post"' in html
    assert "btn-danger" in html
    assert 'href="/back/"' in html


def test_a_form_of_files_says_so() -> None:
    class Upload(StyledWidgets, forms.Form):
        file = forms.FileField()

    class Words(StyledWidgets, forms.Form):
        words = forms.CharField()

    html = '{% include "components/form.html" %}'
    assert 'enctype="multipart/form-data"' in shown(html, form=Upload())
    assert "enctype" not in shown(html, form=Words())

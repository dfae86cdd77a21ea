"""Nothing that a person can write is marked as HTML: what marks a text as safe is named with its reason."""

import ast
import re
from collections.abc import Iterator

import pytest

from apps.config.settings.base import BASE_DIR
from tests.test_architecture import SOURCES, tree_of

TEMPLATES = BASE_DIR / "templates"
# What takes the escaping away within a template, and attributes that are not quoted, where a blank ends the value.
UNESCAPED = re.compile(r"\|\s*safe(?:seq)?\b|\bautoescape\s+off\b|{%\s*filter\s[^%]*\bsafe|<[^>{]*\s[\w-]+={{")
# Of a filter that is called safe, or a function that takes any text for HTML.
MARKS = {"mark_safe", "SafeString", "SafeText", "html_safe", "__html__", "is_safe", "autoescape"}
FORMATS = {"format_html": 1, "format_html_join": 2}
# {file: why what it marks holds no text of a person}.
REASONS = {
    "apps/archive/landing/figures.py": "A template wrote it and escaped what it holds; it was kept as it was since.",
    "apps/testbeds/topology/__init__.py": "An empty text, where there is nothing to draw.",
}


def marking(tree: ast.AST) -> Iterator[str]:
    """Yield what marks a text as HTML without escaping it: a name that does, or a format that is not written out."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in FORMATS:
                formats = node.args[: FORMATS[name]]
                if len(formats) < FORMATS[name] or not all(
                    isinstance(text, ast.Constant) and isinstance(text.value, str) for text in formats
                ):
                    yield name
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MARKS:
                yield name
            case ast.keyword(arg=str(name), value=ast.Constant(value=bool())) if name in MARKS:
                yield name
            case ast.FunctionDef(name=name) if name in MARKS:
                yield name
            case ast.ClassDef(bases=bases) if any(ast.unparse(base).split(".")[-1] in MARKS for base in bases):
                yield node.name


def test_no_template_takes_a_text_as_html() -> None:
    found = {
        f"{path.relative_to(TEMPLATES)}: {match[0]}"
        for path in TEMPLATES.rglob("*")
        if path.is_file()
        for match in UNESCAPED.finditer(path.read_text())
    }
    assert found == set()


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_code_marks_as_html_only_what_is_named_with_its_reason() -> None:
    assert len(SOURCES) > 500
    found = {path.relative_to(BASE_DIR).as_posix(): names for path in SOURCES if (names := [*marking(tree_of(path))])}
    assert sorted(found) == sorted(REASONS), found


def test_the_rules_find_what_they_should() -> None:
    for text in (
        "{{ field.help_text|safe }}", "{{ a | safe }}", "{{ a|safeseq|join:' ' }}", "{% autoescape off %}",
        "{% filter upper|safe %}", "<a class={{ a }}>",
    ):  # fmt: skip
        assert UNESCAPED.search(text), text
    for text in ('<a class="{{ a }}">', "{{ a|join:'safe' }}", "{% with a=b %}", "{{ safety }}"):
        assert not UNESCAPED.search(text), text
    for text in (
        "mark_safe(a)", "safestring.mark_safe(a)", "SafeString(a)", "format_html(a, b)", "format_html(f'<b>{a}')",
        "format_html(_('<b>'), a)", "format_html_join(a, '<b>', rows)", "register.filter(f, is_safe=True)",
        "def __html__(self): ...", "class Text(SafeString): ...", "Context(values, autoescape=False)",
    ):  # fmt: skip
        assert [*marking(ast.parse(text))], text
    for text in ("format_html('<b>{}</b>', a)", "format_html_join('', '{}', rows)", "def f() -> SafeString: ..."):
        assert not [*marking(ast.parse(text))], text


# Where people write more than a line, and what programs print: there htmx does nothing, should escaping ever fail.
LONG = re.compile(
    r"<pre\b[^>]*>|<\w+[^>]*>(?=(?:<strong>[^<]*</strong>: )?{{[^}]*(?:\|linebreaks|\.help_text|\.goal))"
)


def test_htmx_does_nothing_within_long_texts() -> None:
    places = [
        (str(path.relative_to(TEMPLATES)), match[0])
        for path in TEMPLATES.rglob("*.html")
        for match in LONG.finditer(path.read_text())
    ]
    assert len(places) > 20
    assert [place for place in places if "hx-disable" not in place[1]] == []

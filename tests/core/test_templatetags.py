"""Tags and filters of the templates."""

from datetime import UTC, datetime

import pytest
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone


def render(text: str, **context: object) -> str:
    return Template(text).render(
        Context({"request": RequestFactory().get("/x/", {"q": "a b", "page": "2"})} | context)
    )


def test_a_quantity_is_shown_with_its_unit() -> None:
    assert render('{{ v|quantity:"bit/s" }}', v=983_000_000.0) == "983.0 Mbit/s"
    assert render('{{ v|quantity:"B" }}', v=65536) == "64 KiB"
    assert render('{{ v|quantity:"B" }}', v=0) == "0 B"


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_quantity_is_a_dash(nothing: object) -> None:
    assert render('{{ v|quantity:"B" }}{{ v|duration }}', v=nothing) == "––"


def test_a_duration_is_shown_in_its_own_units() -> None:
    assert render("{{ v|duration }}", v=5400) == "1 h 30 min"
    assert render("{{ v|duration }}", v=0.0048) == "4.80 ms"


def test_a_stored_message_is_shown() -> None:
    assert render("{{ m|message }}", m={"msgid": "%(n)s < 4", "params": {"n": 3}}) == "3 &lt; 4"


def test_a_marked_text_is_translated() -> None:
    assert render("{{ m|translated }}", m="Save") == "Save"
    assert render("{{ m|translated }}", m="") == ""


def test_a_time_is_shown_in_the_readers_zone_and_kept_for_machines() -> None:
    moment = datetime(2026, 3, 1, 15, 30, 5, 123456, tzinfo=UTC)
    with timezone.override("Asia/Seoul"):
        shown = render("{% when m %}", m=moment)
        precise = render('{% when m "precise" %}', m=moment)
    assert ">2026-03-02 00:30</time>" in shown
    assert 'datetime="2026-03-02T00:30:05.123456+09:00"' in shown
    assert 'title="2026-03-02 00:30:05 KST"' in shown
    assert ">2026-03-02 00:30:05.123</time>" in precise


def test_no_time_is_a_dash() -> None:
    assert render("{% when m %}", m=None) == "–"


def test_an_icon_is_hidden_from_screen_readers() -> None:
    assert render('{% icon "key" %}') == '<i class="bi bi-key" aria-hidden="true"></i>'


def test_an_item_is_found_by_a_variable_key() -> None:
    assert render("{{ d|get_item:k }}", d={"a": 1}, k="a") == "1"
    assert render("{{ d|get_item:k }}", d={"a": 1}, k="b") == "None"
    assert render("{{ d|get_item:k }}", d=None, k="b") == "None"


def test_the_query_string_keeps_what_is_not_changed() -> None:
    assert render("{% with_query page=3 %}") == "?q=a+b&amp;page=3"
    assert render("{% with_query page=None %}") == "?q=a+b"


def test_many_pages_are_shown_as_a_few_numbers() -> None:
    page = Paginator(range(1000), 50).get_page(9)
    assert render("{% for n in p|page_numbers %}{{ n }} {% endfor %}", p=page) == "1 … 7 8 9 10 11 … 20 "


def test_a_share_is_shown_in_per_cent() -> None:
    assert render("{{ v|percent }} {{ w|percent }} {{ n|percent }}", v=0.0312, w=0.5, n=None) == "3.1 % 50 % –"


def test_a_whole_in_per_cent_is_no_power_of_ten() -> None:
    assert (
        render("{{ v|percent }} {{ w|percent }} {{ n|percent }}", v=1.0, w=0.9951, n=12.5) == "100 % 99.51 % 1250 %"
    )

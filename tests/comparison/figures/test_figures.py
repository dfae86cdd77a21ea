"""Every chart comes as PNG and SVG, drawn away from the web process."""

import io
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from apps.comparison.figures import checks, renderer
from apps.core.limits.fair_places import FairPlaces, Owners
from tests.comparison.figures import charts


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


@pytest.fixture(scope="module")
def drawn_as_svg() -> dict[str, bytes]:
    """Return {name: figure} of each kind, by one program: to start it takes most of the time."""
    return dict(zip(charts.ALL, renderer.render_each(list(charts.ALL.values()), "svg"), strict=True))


@pytest.mark.xdist_group("figures-as-svg")
@pytest.mark.parametrize("name", charts.ALL)
def test_each_kind_is_drawn_as_svg_without_text_that_needs_a_font(name: str, drawn_as_svg: dict[str, bytes]) -> None:
    drawn = ElementTree.parse(io.BytesIO(drawn_as_svg[name])).getroot()
    assert drawn.tag.endswith("svg")
    assert not list(drawn.iter("{http://www.w3.org/2000/svg}text"))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}path"))) > 10


def test_a_png_is_large_enough_to_print_and_the_same_each_time() -> None:
    first = renderer.render(charts.LINE, "png")
    width, height = size_of(first)
    assert width >= 1200
    assert height >= 600
    assert renderer.render(charts.LINE, "png") == first


def test_many_figures_come_from_one_program_each_as_it_is_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = renderer._started
    monkeypatch.setattr(renderer, "_started", lambda *given: started.append(start(*given)) or started[-1])
    drawn = list(renderer.render_each([charts.LINE, charts.HEAT, charts.LINE], "svg"))
    assert len(started) == 1
    assert drawn[0] == drawn[2] != drawn[1] == renderer.render(charts.HEAT, "svg")
    assert list(renderer.render_each([], "svg")) == []


def test_of_many_figures_those_before_a_broken_one_are_given_and_then_it_is_told_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What the door lets through is drawn: here it lets a moment through that no calendar has.
    monkeypatch.setattr(checks, "LATEST", 1e13)
    no_such_day = charts.TIME | {"series": [{"label": "", "points": [{"x": 1e12, "y": 1.0}]}]}
    figures = renderer.render_each([charts.WORDS, no_such_day, charts.LINE], "svg")
    assert b"<svg" in next(figures)
    with pytest.raises(renderer.FigureError, match="Error"):
        next(figures)
    with pytest.raises(checks.ChartError, match="metric"):
        next(renderer.render_each([charts.WORDS, {"kind": "line"}], "svg"))


def test_korean_has_its_letters_and_a_dollar_is_a_dollar() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "apps.comparison.figures.program"],
        input=json.dumps({"chart": charts.LINE, "ending": "svg", "most_s": 60}).encode(),
        capture_output=True,
        cwd=settings.BASE_DIR,
        check=True,
    )
    # Of a letter that no font has, matplotlib says "Glyph ... missing".
    assert b"Glyph" not in ran.stderr
    assert b"mathtext" not in ran.stderr


def test_the_web_process_never_loads_numpy_or_matplotlib() -> None:
    code = (
        "import sys, django; django.setup(); import apps.config.urls, apps.comparison.figures.renderer;"
        "sys.exit(bool({'numpy', 'matplotlib', 'PIL'} & set(sys.modules)))"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "apps.config.settings.test", "PATH": ""}
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, env=environment, check=False).returncode
        == 0
    )


def ask(client: Client, chart: object = charts.WORDS, **values: str) -> Any:
    fields = {"chart": chart if isinstance(chart, str) else json.dumps(chart), "ending": "svg", "name": "My <figure>"}
    return client.post(reverse("figures:draw"), {**fields, **values})


def test_who_is_signed_in_gets_the_chart_of_the_page_as_a_file(client: Client, cast: SimpleNamespace) -> None:
    assert ask(client).status_code == 302
    client.force_login(cast.bob)
    answer = ask(client)
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Content-Disposition"] == 'attachment; filename="my-figure.svg"'
    assert b"<svg" in answer.content
    assert client.get(reverse("figures:draw")).status_code == 405


@pytest.mark.parametrize(
    ("chart", "ending", "words"),
    [
        ("{", "svg", "chart: give an object"),
        ("null", "png", "chart: give an object"),
        (
            charts.HEAT | {"cells": [{"x": 9, "y": 0, "v": 1}]},
            "svg",
            "cells[0].x: give a place in the labels, 0 to 1",
        ),
        (charts.WORDS, "pdf", "Choose PNG or SVG"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    client: Client, cast: SimpleNamespace, chart: object, ending: str, words: str
) -> None:
    client.force_login(cast.bob)
    answer = ask(client, chart, ending=ending)
    assert answer.status_code == 400
    assert words in answer.content.decode()


def test_too_many_figures_at_once_wait_and_then_are_refused(
    client: Client, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer, "_places", FairPlaces(1, wait_s=0.01))
    client.force_login(cast.bob)
    with renderer._places.turn(Owners("another")):
        answer = ask(client)
    assert answer.status_code == 503
    assert "Ask again in a minute" in answer.content.decode()
    assert ask(client).status_code == 200


@pytest.mark.parametrize("limit_s", [0.001, 60])
def test_a_program_that_breaks_or_hangs_is_told_and_frees_its_slot(
    client: Client, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, limit_s: float
) -> None:
    monkeypatch.setattr(renderer, "TIME_LIMIT_S", limit_s)
    if limit_s > 1:
        monkeypatch.setattr(renderer.sys, "executable", "/bin/false")
    client.force_login(cast.bob)
    for _attempt in range(renderer.AT_ONCE + 1):
        answer = ask(client)
        status, words = (500, "could not be drawn") if limit_s > 1 else (400, "takes too long")
        assert answer.status_code == status
        assert words in answer.content.decode()


def test_of_one_person_one_figure_is_drawn_at_a_time_and_the_others_are_drawn_meanwhile(
    client: Client, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer, "_places", FairPlaces(renderer.AT_ONCE, wait_s=0.01))
    client.force_login(cast.bob)
    with renderer._places.turn(Owners(f"person {cast.bob.pk}")):
        refused = ask(client)
        assert refused.status_code == 429
        assert "Try again in" in refused.content.decode()
        client.force_login(cast.alice)
        assert ask(client).status_code == 200


def test_a_team_with_all_its_people_leaves_a_place_to_others(
    client: Client, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer, "_places", FairPlaces(renderer.AT_ONCE, wait_s=0.01))
    with renderer._places.turn(Owners("another", (f"team {cast.team.pk}",))):
        for person in (cast.alice, cast.oscar, cast.bob):
            client.force_login(person)
            assert ask(client).status_code == 429
        client.force_login(cast.charlie)
        assert ask(client).status_code == 200


def test_the_program_is_given_no_more_memory_than_its_limit() -> None:
    # Past the door: so many cells take more than that.
    chart = charts.HEAT | {"x": {"label": "", "labels": [""] * 30_000}, "y": {"label": "", "labels": [""] * 30_000}}
    assert _drawn(chart, most_s=60) == bytes(renderer.LENGTH_BYTES)


def test_a_figure_within_all_bounds_has_so_much_time_and_no_more() -> None:
    values = [float(number) for number in range(90)]
    box = {"q1": 1.0, "median": 2.0, "q3": 3.0, "whisker_low": 0.0, "whisker_high": 4.0, "points": values}
    chart = charts.BOX | {
        "x": {"label": "", "labels": [str(number) for number in range(1000)]},
        "series": [{"label": str(name), "boxes": [{**box, "x": at} for at in range(1000)]} for name in range(2)],
    }
    checks.check_chart(chart)
    assert _drawn(chart, most_s=0.5) == bytes(renderer.LENGTH_BYTES)


def test_a_figure_that_takes_too_long_is_refused_with_what_to_do(
    client: Client, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer, "DRAWING_S", 0.001)
    client.force_login(cast.bob)
    answer = ask(client)
    assert answer.status_code == 400
    assert "show fewer points" in answer.content.decode()


def _drawn(chart: object, most_s: float) -> bytes:
    ran = subprocess.run(
        [sys.executable, "-m", "apps.comparison.figures.program"],
        input=json.dumps({"chart": chart, "ending": "svg", "most_s": most_s}).encode(),
        capture_output=True,
        cwd=settings.BASE_DIR,
        check=True,
    )
    return ran.stdout

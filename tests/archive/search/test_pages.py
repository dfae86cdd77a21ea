"""The pages of the archive: the search, searches under names, and what was measured already."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.archive.models import SavedSearch
from apps.campaigns.models import Campaign, Experiment
from tests.archive.search.conftest import START, experiment_of, figures, index, sites
from tests.campaigns import factories as make
from tests.pages import flat

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("search")]

SEARCH = "/archive/"


def read(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.content.decode()[:500]
    return answer.content.decode()


def test_strangers_sign_in_and_other_teams_find_only_theirs(client: Client, archive: SimpleNamespace) -> None:
    kept = SavedSearch.objects.create(team=archive.cast.team, name="Ours", query="q=window")
    change = reverse("archive:saved_update", args=[kept.pk])
    for address in (SEARCH, reverse("archive:saved_list"), change):
        assert client.get(address).status_code == 302, address
    client.force_login(archive.cast.charlie)
    page = read(client, SEARCH)
    assert "Theirs" in page
    assert "Window sweep" not in page
    assert "Ours" not in page
    assert client.get(change).status_code == 404


def test_the_page_shows_figures_facets_and_what_it_is_narrowed_by(client: Client, archive: SimpleNamespace) -> None:
    client.force_login(archive.cast.bob)
    pair = sites(archive.kisti, archive.pnu)
    page = flat(read(client, f"{SEARCH}?pair={pair}&metric=goodput:1M..&q=sweep"))
    assert "Window sweep" in page
    assert "Way back" not in page
    assert "(105.0 Mbit/s – 910.0 Mbit/s)" in page
    assert f'value="experiment:{experiment_of(archive.windows).pk}"' in page
    # Each chip takes one thing away, and the form keeps them all.
    assert "Between sites: Busan – Daejeon" in page
    assert re.search(r'href="\?q=sweep&amp;pair=[0-9-]+"[^>]*>Goodput: 1M …', page)
    assert f'type="hidden" name="pair" value="{pair}"' in page
    assert 'action="/compare/"' in page
    assert 'href="/exports/?search=q%3Dsweep%26pair%3D' in page
    assert "Save this search" not in page


def test_many_nodes_are_patterns_and_swept_values_have_units_whatever_the_tool(
    client: Client, archive: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    client.force_login(archive.cast.bob)
    experiment_of(archive.windows).roles.filter(role="server").delete()
    for node in make.nodes(archive.cast.team, *(f"pnu{number}" for number in range(10, 20)), site="Busan"):
        experiment_of(archive.windows).roles.create(role="server", node=node)
    Experiment.objects.filter(campaign=archive.back).update(
        tool="gone", factors=[{"name": "window", "expression": "65536, 131072"}]
    )
    with django_assert_max_num_queries(27):
        page = " ".join(re.sub(r"<[^>]+>", "", read(client, SEARCH)).split())
    assert "kisti01 → pnu[10-19]" in page
    assert "Window: 64 KiB, 1 MiB" in page
    # Of a tool that is gone nothing is known but what was written.
    assert "window: 65536, 131072" in page
    found = client.get("/api/v1/archive/?q=sweep").json()["results"]
    assert found[0]["nodes"] == "kisti01 → " + "+".join(f"pnu{number}" for number in range(10, 20))


def test_what_cannot_be_read_is_told_beside_what_is_found(client: Client, archive: SimpleNamespace) -> None:
    client.force_login(archive.cast.bob)
    page = read(client, f"{SEARCH}?tool=ior&param=colour:3&since=soon")
    assert "No tool has a parameter “colour”." in page
    assert "“soon” is no date" in page
    assert "Disks" in page
    assert "Nothing matches" in read(client, f"{SEARCH}?q=nowhere&page=7")


def test_an_empty_archive_says_where_its_entries_come_from(client: Client, archive: SimpleNamespace) -> None:
    Campaign.objects.update(deleting_at=START)
    client.force_login(archive.cast.bob)
    assert "Nothing has been measured yet" in read(client, SEARCH)


def test_the_page_costs_a_bounded_number_of_queries(
    client: Client, archive: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    for name in ("One more", "And another"):
        figures(make.launched(archive.cast, archive.kisti, archive.pnu, name=name), [1e8], START)
    index()
    client.force_login(archive.cast.bob)
    pair = sites(archive.kisti, archive.pnu)
    with django_assert_max_num_queries(27):
        read(client, f"{SEARCH}?q=k&pair={pair}&tool=iperf3-tcp&param=window:1..&metric=goodput:1..&since=2020-01-01")


def test_an_operator_keeps_a_search_under_a_name_and_a_viewer_does_not(
    client: Client, archive: SimpleNamespace
) -> None:
    form = reverse("archive:saved_create")
    client.force_login(archive.cast.bob)
    assert client.post(form, {"name": "Mine", "query": "q=sweep"}).status_code == 403
    client.force_login(archive.cast.oscar)
    assert "Save this search" in read(client, f"{SEARCH}?q=sweep")
    answer = client.post(form, {"name": "Sweeps", "query": "?sort=newest&q=sweep"})
    assert (answer.status_code, answer["Location"]) == (302, f"{SEARCH}?q=sweep")
    assert "already has" in client.post(form, {"name": "Sweeps", "query": "q=x"}).content.decode()
    for query, text in (("", "required"), ("sort=name", "There is nothing to save"), ("since=soon", "is no date")):
        assert text in client.post(form, {"name": "Other", "query": query}).content.decode(), query
    kept = SavedSearch.objects.get()
    assert (kept.query, kept.created_by) == ("q=sweep", archive.cast.oscar)
    assert client.post(reverse("archive:saved_delete", args=[kept.pk])).status_code == 302
    assert "No saved search yet" in read(client, reverse("archive:saved_list"))


def ask(client: Client, archive: SimpleNamespace, **values: Any) -> str:
    """Return what the page says of an experiment as typed: two windows from KISTI to PNU, unless told otherwise."""
    draft = make.campaign(archive.cast, name="Planned")
    data: dict[str, Any] = {
        "tool": "iperf3-tcp", "name": "Planned", "role_client": [f"node:{archive.kisti.pk}"],
        "role_server": [f"node:{archive.pnu.pk}"], "param_window": "64KiB, 1MiB", "param_duration": "2 s",
        "repetitions": 3, "warmups": 0, "order": "as-given", "seed": 1, "max_attempts": 3, "retry_wait_s": 5,
        "most_repetitions": 20, "search_goal": "knee", "search_budget": 8, "param_direction": "forward",
    }  # fmt: skip
    answer = client.post(reverse("archive:already", args=[draft.pk]), {**data, **values})
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_same_points_measured_before_are_told_with_their_figures(
    client: Client, archive: SimpleNamespace
) -> None:
    client.force_login(archive.cast.oscar)
    page = ask(client, archive)
    assert "All 2 points have been measured with the same settings between the same nodes." in page
    assert "105.0 Mbit/s – 910.0 Mbit/s" in page
    assert "Window sweep: windows" in page
    assert "Way back" not in page
    page = ask(client, archive, param_window="64KiB, 2MiB, 4MiB")
    assert "1 of 3 points have been measured" in page


def test_what_is_alike_is_told_where_the_same_was_not_measured(client: Client, archive: SimpleNamespace) -> None:
    client.force_login(archive.cast.oscar)
    page = ask(client, archive, param_window="8MiB")
    assert "Not with these settings, but with the same tool between the same nodes:" in page
    assert "Window sweep: windows" in page
    assert "Way back" not in page
    [neighbour] = make.nodes(archive.cast.team, "pnu02", site="Busan")
    page = ask(client, archive, role_server=[f"node:{neighbour.pk}"])
    assert "Not between these nodes, but with the same tool between their sites:" in page
    assert "Window sweep: windows" in page
    [nowhere] = make.nodes(archive.cast.team, "jeju01", site="Jeju")
    assert "Nothing like it has been measured yet." in ask(client, archive, role_server=[f"node:{nowhere.pk}"])
    assert "Once the experiment is complete" in ask(client, archive, role_server=[])
    assert "Once the experiment is complete" in ask(client, archive, tool="none-such")


def test_invalid_figures_and_others_private_campaigns_are_no_earlier_ones(
    client: Client, archive: SimpleNamespace
) -> None:
    archive.windows.trials.filter(point=0).update(invalid_at=START)
    client.force_login(archive.cast.oscar)
    assert "1 of 2 points" in ask(client, archive)
    Campaign.objects.filter(pk=archive.windows.pk).update(visibility="private", created_by=archive.cast.alice)
    assert "Nothing like it has been measured yet." in ask(client, archive)


def test_only_who_may_define_an_experiment_is_told_what_was_measured(
    client: Client, archive: SimpleNamespace
) -> None:
    draft = make.campaign(archive.cast, name="Planned")
    address = reverse("archive:already", args=[draft.pk])
    assert client.post(address).status_code == 302
    for person, status in ((archive.cast.charlie, 404), (archive.cast.bob, 403)):
        client.force_login(person)
        assert client.post(address).status_code == status

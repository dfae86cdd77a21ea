"""Published figures become campaigns marked as such; the same file again changes nothing, a wrong one is refused."""

import copy
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.agents.models import Job
from apps.bench.toolkit import Flag
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.results.models import Sample
from apps.testbeds import inventory
from apps.testbeds.models import Link
from apps.tuning import published as figures
from apps.tuning.published import importing
from tests import factories
from tests.campaigns import factories as make
from tests.tuning import published


def messages_of(text: str, facts: str = "") -> list[str]:
    """Return what is wrong with a file, [] for nothing."""
    try:
        importing.read_cases(text, facts)
    except ValidationError as error:
        return error.messages
    return []


def changed(path: str, value: Any) -> str:
    """Return the file with one value replaced: ``cases.0.given.rtt_s``."""
    return json.dumps(replaced(published.DOCUMENT, path, value))


def replaced(document: Any, path: str, value: Any) -> Any:
    """Return a copy of a document with one value replaced."""
    made = copy.deepcopy(document)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner = made
    for part in way:
        inner = inner[part]
    inner[last] = value
    return made


@pytest.fixture
def _without_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import without asking the rules: what they conclude is not what most tests here look at."""
    monkeypatch.setattr("apps.tuning.services.draw_conclusions", lambda *, campaign, now: None)


pytestmark = pytest.mark.usefixtures("_without_rules")


def test_every_case_is_a_finished_campaign_and_the_same_file_again_changes_nothing(cast: SimpleNamespace) -> None:
    done = published.load(cast.team)
    assert [campaign.name for campaign in done.created] == list(published.CASES)
    for campaign in Campaign.objects.all():
        assert campaign.is_published
        assert (campaign.state, campaign.team) == ("finished", cast.team)
        assert campaign.publication["given"] == published.CASES[campaign.name]["given"]
        assert campaign.goal == published.CASES[campaign.name].get("conclusion", "")
        assert campaign.experiments.exists()
    assert set(Trial.objects.values_list("state", flat=True)) == {"succeeded"}
    assert not Job.objects.exists()
    before = set(Trial.objects.values_list("pk", flat=True))
    again = published.load(cast.team)
    assert (len(again.created), len(again.changed), len(again.same), again.described) == (0, 0, 21, 0)
    assert set(Trial.objects.values_list("pk", flat=True)) == before


def test_figures_are_samples_in_base_units_with_where_they_stand(cast: SimpleNamespace) -> None:
    published.load(cast.team, published.CASES["window-limited"])
    samples = Sample.objects.filter(metric="goodput").order_by("value")
    assert [sample.value for sample in samples] == [160.74e6, 1e9]
    assert [sample.result.observed["published"]["statistic"] for sample in samples] == ["sample", "about"]
    flag = Flag.from_json(samples[0].result.flags[0])
    assert (flag.name, flag.severity) == ("published", "info")
    assert "cases[0].given.measured[0]" in str(flag.message)


def test_a_case_that_differs_is_changed_and_keeps_its_campaign(cast: SimpleNamespace) -> None:
    old = published.load(cast.team, *(published.CASES[name] for name in ("bdp-10ms", "kigfs-server"))).created
    new = published.load(cast.team, published.case("bdp-10ms", rtt_s=0.02), published.CASES["kigfs-server"])
    assert [campaign.pk for campaign in new.changed] == [old[0].pk]
    assert [campaign.pk for campaign in new.same] == [old[1].pk]
    assert Sample.objects.get(metric="rtt_min").value == 0.02


def test_two_teams_have_archives_of_their_own(cast: SimpleNamespace) -> None:
    published.load(cast.team, published.CASES["bdp-10ms"])
    done = published.load(cast.other_team, published.CASES["bdp-10ms"])
    assert len(done.created) == 1
    assert Campaign.objects.filter(team=cast.other_team).count() == 1


def test_a_copy_is_a_draft_to_measure_without_the_printed_trends(cast: SimpleNamespace) -> None:
    campaign = published.load(cast.team, published.CASES["lan-client-saturation"]).created[0]
    assert campaign.experiments.get().printed
    draft = campaigns.clone_campaign(campaign=campaign, user=cast.oscar)
    assert not draft.is_published
    assert draft.experiments.get().printed == {}


def test_links_that_the_team_calls_otherwise_are_the_same_links(cast: SimpleNamespace) -> None:
    inventory.load_example(team=cast.team)
    before = set(Link.objects.values_list("name", flat=True))
    published.load(cast.team)
    assert set(Link.objects.values_list("name", flat=True)) - before == {"bdp-10ms-01 – bdp-10ms-02"}


def test_what_does_not_agree_in_the_sources_is_told(cast: SimpleNamespace) -> None:
    done = published.load(cast.team, facts=published.FACTS)
    told = "\n".join(map(str, done.remarks))
    assert "GPFS_PDAISY is printed with 9 nodes; its list names 10" in told
    assert "110.0 MB/s / 120.0 MB/s for read" in told
    assert "“302400 87380 302400”, not min ≤ default ≤ max" in told
    polarised = Campaign.objects.get(name="pdaisy-server-polarised").publication["remarks"]
    assert any(item["params"].get("client") == "HEXA" for item in polarised)
    assert "S0-18" in json.dumps(polarised)
    assert "S0-18" not in json.dumps(Campaign.objects.get(name="btio").publication["remarks"])


def test_a_printed_bdp_that_is_not_the_product_is_told() -> None:
    text = changed("cases.1.expect.bdp_bytes", 1280000)
    _world, drafts, _remarks = importing.read_cases(text)
    assert "1,280,000 B" in str(drafts[1].remarks[0])
    assert "1,250,000 B" in str(drafts[1].remarks[0])


def test_a_case_of_another_name_is_left_out_and_told(cast: SimpleNamespace) -> None:
    done = published.load(cast.team, {"id": "new-case", "given": {}}, published.CASES["bdp-10ms"])
    assert [campaign.name for campaign in done.created] == ["bdp-10ms"]
    assert any("new-case" in str(remark) for remark in done.remarks)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("cases.0.given.rtt_s", "4.8 ms", "cases[0].given.rtt_s: here stands a number"),
        ("cases.0.given.rtt_s", -1, "cases[0].given.rtt_s: -1 cannot be"),
        ("cases.0.given.rtt_s", True, "cases[0].given.rtt_s: here stands a number"),
        ("cases.0.given.bit_per_s", 1e30, "cases[0].given.bit_per_s: 1e+30 cannot be"),
        ("cases.0.given", None, "cases[0].given: this is needed"),
        ("cases.0.given", [], "cases[0].given: here stands an object"),
        ("cases.0.id", 7, "cases[0].id: here stands a text"),
        ("cases.1.id", "bdp-kisti-pnu", "cases[1].id: cases[0] has the same"),
        ("cases.0", "text", "cases[0]: here stands an object"),
        ("cases", {}, "cases: here stands a list"),
        ("cases", None, "cases: this is no file of published figures"),
        ("cases.4.given.measured.1.window_bytes", 1.5, "cases[4].given.measured[1].window_bytes: here stands"),
        ("cases.4.given.measured.0.bit_per_s", None, "cases[4].given.measured[0].bit_per_s: this is needed"),
        ("cases.9.given.trend_with_clients", "sinks", "cases[9].given.trend_with_clients: a trend is one of"),
        ("cases.19.given.loss_at_bit_per_s", {"fast": 0.1}, "cases[19].given.loss_at_bit_per_s.fast: the name is"),
        ("cases.19.given.loss_at_bit_per_s.450e6", 30, "cases[19].given.loss_at_bit_per_s.450e6: 30 cannot be"),
        ("testbeds.0.site", "Atlantis", "testbeds[0].site: there is no site of this name"),
        ("clusters.1.nodes", ["KGFS01..09"], "clusters[1].nodes: KGFS05 is no node of the file"),
        ("clusters.1.nodes", ["KGFS04..01"], "clusters[1].nodes[0]: the last number lies before the first"),
        ("links.1.a", "Atlantis (each node)", "links[1].a: there is no testbed of this name"),
        ("sites.0", {}, "sites[0].name: this is needed"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_the_place(path: str, value: Any, problem: str) -> None:
    assert [text for text in messages_of(changed(path, value)) if text.startswith(problem)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "the file: Line 1, column 2: this is not JSON"),
        ('{"cases": [NaN]}', "this is not JSON"),
        ("[]", "the file: here stands an object"),
        ("[" * 100 + "]" * 100, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"cases": [], "cases": []}', "stands twice in one object"),
    ],
    ids=range(6),
)
def test_what_is_no_file_of_figures_is_refused(text: str, problem: str) -> None:
    assert problem in messages_of(text)[0]


def test_all_problems_are_told_at_once() -> None:
    document = copy.deepcopy(published.DOCUMENT)
    for case in document["cases"]:
        case["given"] = 1
    found = messages_of(json.dumps(document))
    assert len(found) == 21
    assert found[-1] == "… and 1 more."


def leaves(value: Any, path: str = "") -> list[str]:
    """Return the paths of all values of a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    own = [path] if path else []
    return own + [leaf for name, item in members for leaf in leaves(item, f"{path}.{name}".lstrip("."))]


JUNK = ("x", -1, [], {}, None, True, [[1]], {"a": 1}, 10**30)


@pytest.mark.parametrize("name", published.CASES)
def test_no_value_whatever_stands_in_a_case_breaks_the_reader(name: str) -> None:
    for path in leaves(published.CASES[name]):
        for junk in JUNK:
            messages_of(json.dumps({"cases": [replaced(published.CASES[name], path, junk)]}))


def test_no_value_whatever_stands_in_the_inventory_breaks_the_reader() -> None:
    document = {**published.DOCUMENT, "cases": []}
    for number, path in enumerate(leaves(document)):
        messages_of(json.dumps(replaced(document, path, JUNK[number % len(JUNK)])))


def test_nothing_is_stored_of_a_file_with_one_wrong_figure(cast: SimpleNamespace) -> None:
    with pytest.raises(ValidationError):
        published.load(cast.team, published.CASES["bdp-10ms"], published.case("bdp-kisti-pnu", rtt_s="x"))
    assert not Campaign.objects.exists()
    assert not Link.objects.exists()


def test_what_the_inventory_or_the_tool_refuses_is_a_problem_of_the_file(cast: SimpleNamespace) -> None:
    with pytest.raises(ValidationError, match="KGFS 01"):
        document = json.loads(changed("testbeds.1.nodes", ["KGFS 01"]))
        document["clusters"] = document["links"] = []
        figures.import_published(team=cast.team, text=json.dumps(document), now=timezone.now())
    with pytest.raises(ValidationError, match=r"cases\[0\]\.given\.PGFS"):
        published.load(cast.team, published.case("kigfs-server", block_bytes=1))


def test_a_dry_run_keeps_nothing(cast: SimpleNamespace) -> None:
    assert len(published.load(cast.team, dry_run=True).created) == 21
    assert not Campaign.objects.exists()


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


FILE = str(published.FOLDER / "published.json")


def test_the_command_imports_and_says_what_it_did(cast: SimpleNamespace) -> None:
    command = ("import_published", FILE, "--team", "grid", "--facts", str(published.FOLDER / "seed_facts.json"))
    out = run(*command)
    assert "cases created 21" in out
    assert "tcp_rmem" in out
    assert "the same 21" in run(*command)


def test_without_a_team_the_only_one_takes_them_else_a_team_of_their_own(cast: SimpleNamespace) -> None:
    with pytest.raises(CommandError, match="no team “nobody”; there are: grid, strangers"):
        run("import_published", FILE, "--team", "nobody")
    assert "published: cases created 21" in run("import_published", FILE)


@pytest.mark.django_db
def test_the_command_takes_the_only_team() -> None:
    factories.team("solo")
    assert "solo: cases created 21" in run("import_published", FILE)


def test_the_command_names_what_is_wrong(cast: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        run("import_published", str(tmp_path / "none.json"), "--team", "grid")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(changed("cases.0.given.rtt_s", "x"))
    with pytest.raises(CommandError, match=r"cases\[0\]\.given\.rtt_s"):
        run("import_published", str(wrong), "--team", "grid")
    wrong.write_bytes(b"\xff{}")
    with pytest.raises(CommandError, match="UTF-8"):
        run("import_published", str(wrong), "--team", "grid")
    wrong.write_bytes(b" " * (figures.MOST_BYTES + 1))
    with pytest.raises(CommandError, match="too large"):
        run("import_published", str(wrong), "--team", "grid")


def test_measured_campaigns_are_not_published(cast: SimpleNamespace) -> None:
    draft = make.campaign(cast)
    assert (draft.is_published, draft.publication) == (False, {})

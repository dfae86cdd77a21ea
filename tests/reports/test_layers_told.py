"""What limits each file system stands in a campaign's report, decided or not, as on the page of its layers."""

from types import SimpleNamespace

from apps.bench.rules import layers
from apps.campaigns.models import Campaign
from apps.reports import campaign as reports
from apps.testbeds import inventory
from apps.tuning import evidence
from apps.tuning.models import Finding
from tests.reports.texts import section_of
from tests.tuning import published

CASES = ("pdaisy-server-polarised", "wan-gpfs-full")


def test_every_verdict_on_the_layers_is_printed_with_its_way(cast: SimpleNamespace) -> None:
    inventory.load_example(team=cast.team)
    done = published.load(cast.team, *(published.CASES[name] for name in CASES), facts=published.FACTS)
    assert Finding.objects.filter(rule="undecided-layer").exists()
    for campaign in Campaign.objects.filter(pk__in=[item.pk for item in done.created]):
        verdict_tables = [table for table in layers.table(evidence.of_campaign(campaign)) if table.verdict]
        document = reports.build([campaign], user=cast.bob, language="en")
        titles = [part.title for part in section_of(document, "problems").sections]
        verdicts = [str(table.verdict) for table in verdict_tables if "cache was measured" not in str(table.verdict)]
        assert verdicts and {*verdicts} <= {*titles}, campaign.name

"""A team that has one of everything that the REST interface shows, and where each stands in addresses and bodies."""

import hashlib
import uuid
import zlib
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from apps.accounts.models import ApiToken, Invitation, Membership
from apps.agents.models import Agent, AgentInstance, Job, JobFile
from apps.archive.campaigns.writer import archive_of
from apps.archive.imports.models import ColumnMapping
from apps.archive.incoming import services as incoming
from apps.archive.models import IncomingArchive
from apps.archive.search.models import SavedSearch
from apps.bench.rules.runner import Failure
from apps.campaigns.models import Campaign, Lane, Run
from apps.campaigns.services.notes import add_note
from apps.comparison.models import SavedView
from apps.core.models import SetAside
from apps.reports import services as reports
from apps.reports.files.services import request_rendering
from apps.reports.overview.selection import Selection
from apps.reports.schedules.services import deliver_now
from apps.results.validity import mark_invalid
from apps.testbeds.models import Link, Site, Testbed
from apps.testbeds.services import grant_setting
from apps.toolbox.services import create_tool
from apps.tuning import services as tuning
from apps.tuning.analysis import services as analysis
from tests import factories as people
from tests.agents import factories as agents
from tests.archive.imports import sending
from tests.bench.custom import definitions
from tests.campaigns import factories as make
from tests.comparison.history.conftest import LEVELS, START, WEEK, again
from tests.comparison.history.conftest import measured as measure_level
from tests.reports import documents
from tests.reports.schedules.conftest import schedule
from tests.results.factories import measure_all
from tests.results.measuring import carry_out_all
from tests.testbeds import factories as inventory
from tests.tuning.carrying import draft as finding_draft
from tests.tuning.carrying import store as store_finding
from tests.tuning.conftest import EXPRESSION, figures_of
from tests.workers.factories import enrol

TABLE = b"window,rate\n64 KiB,105\n"


def build(cast: people.Cast, folder: Path) -> SimpleNamespace:
    """Return the team's things by name; files of the service are in `folder`."""
    world = SimpleNamespace(cast=cast, folder=folder)
    _describe(world)
    _measure(world)
    _report(world)
    _bring(world)
    return world


def _describe(world: Any) -> None:
    team = world.cast.team
    [a] = make.nodes(team, "kisti01")
    [b] = make.nodes(team, "pnu01", site="Busan")
    world.link = make.link(a, b, "WAN")
    world.a, world.b = a, b
    enrol(a, b)
    [world.spare] = make.nodes(team, "spare01")
    world.unlinked = inventory.switch(team, "lonely", site=a.testbed.site)
    world.cluster = inventory.cluster(team, "pair", a, b)
    world.file_system = inventory.file_system(team, "gpfs1", world.cluster)
    world.site_pair = inventory.site_pair(a.testbed.site, b.testbed.site, 0.0048)
    world.instance = AgentInstance.objects.create(agent=a.agent, key=uuid.uuid4(), host="kisti01-copy")
    world.retired, _token = agents.agent(world.spare, retired_at=timezone.now())
    [world.bare] = make.nodes(team, "bare01")
    world.empty_cluster = inventory.cluster(team, "none")
    world.empty_site = inventory.site(team, "Nowhere")
    world.empty_testbed = inventory.testbed(team, "Empty", site=world.empty_site.__class__.objects.get(name="Busan"))
    world.grant = grant_setting(node=a, user=world.cast.alice, pattern="net.core.*")
    world.tool = create_tool(
        team=team, user=world.cast.alice, slug="site-digest", definition=definitions.data("site-digest")
    )


def _measure(world: Any) -> None:
    cast, pair = world.cast, [world.a, world.b]
    measured = make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"}, name="Measured")
    carry_out_all()
    measured.refresh_from_db()
    tuning.refresh_findings(campaign=measured)
    world.measured, world.windows = measured, measured.experiments.get()
    job = Job.objects.filter(role="client").first()
    JobFile.objects.create(job=job, name="out.json", content_z=zlib.compress(b"{}"), size=2)
    # Of two streams: no figures of the history.
    apart, factors = {"streams": "2"}, [{"name": "window", "expression": EXPRESSION}]
    swept = make.launched(cast, *pair, name="Swept", fixed=apart, factors=factors, repetitions=3)
    measure_all((trial, figures_of(trial)) for trial in swept.trials.select_related("experiment"))
    swept.trials.update(state="succeeded")
    Campaign.objects.filter(pk=swept.pk).update(state="finished")
    world.swept = swept.experiments.get()
    first = measure_level(cast, pair, LEVELS[0], START, name="Week 0")
    later = [
        again(first, rate, START + place * WEEK, f"Week {place}", "3.17") for place, rate in enumerate(LEVELS[1:], 1)
    ]
    world.weekly = [first, *later]
    world.proven = store_finding(first, pair, finding_draft())
    world.failed = make.launched(cast, *pair, name="Failed")
    world.failed.trials.update(state="failed")
    world.unanalysed = make.launched(cast, *pair, name="Not analysed")
    world.unanalysed.trials.update(state="succeeded")
    Campaign.objects.filter(pk=world.unanalysed.pk).update(state="finished", finished_at=timezone.now())
    failure = analysis.Failed(Failure("a_rule", 1, "It broke."), subject="kisti01 → pnu01")
    analysis.end_analysis(campaign=world.unanalysed, now=timezone.now(), failed=[failure])
    world.running = make.launched(cast, *pair, name="Running")
    world.paused = make.services.pause_campaign(campaign=make.launched(cast, *pair, name="Paused"), user=cast.oscar)
    world.draft = make.campaign(cast, name="Draft")
    world.drafted = make.experiment(world.draft, *pair)
    later = make.NOW.replace(year=2099)
    scheduled = make.campaign(cast, name="Later", start_at=later)
    make.experiment(scheduled, *pair)
    world.scheduled = make.services.launch_campaign(campaign=scheduled, user=cast.oscar, now=timezone.now())
    world.trial, world.marked = world.windows.trials.all()[:2]
    mark_invalid(trial=world.marked, user=cast.oscar, reason="A cable.", now=timezone.now())
    # Only now: a trial set aside asks for another analysis, and until then no edition is frozen.
    Campaign.objects.filter(pk=measured.pk).update(analysed_at=timezone.now())
    world.lane = Lane.objects.get(experiment=world.weekly[-1].experiments.get())
    times = dict.fromkeys(("first_at", "last_at", "retry_at"), timezone.now())
    world.aside = SetAside.objects.create(work="index_archive", row_id=1, reason="Why", **times)
    world.note = add_note(campaign=measured, user=cast.alice, text="Quiet night.")


def _report(world: Any) -> None:
    cast, now = world.cast, timezone.now()
    world.report = reports.begin_report(campaign=world.measured, user=cast.oscar, language="en")
    world.unfrozen = reports.begin_report(campaign=world.weekly[0], user=cast.oscar, language="en")
    world.edition = reports.keep_edition(report=world.report, document=documents.document(), user=cast.oscar, now=now)
    world.rendering = request_rendering(
        report=world.report, edition=world.edition, name="json", user=cast.oscar, now=now
    )
    world.management = reports.begin_management_report(
        team=cast.team, user=cast.oscar, language="en", title="Quarter", selection=Selection().as_json()
    )
    world.schedule = schedule(SimpleNamespace(cast=cast, report=world.management))
    world.delivery = deliver_now(schedule=world.schedule, user=cast.oscar, now=now + timedelta(hours=1))
    world.idle = schedule(SimpleNamespace(cast=cast, report=world.management), name="Idle")
    world.rendered = request_rendering(
        report=world.report, edition=world.edition, name="pdf", user=cast.oscar, now=now
    )
    world.rendered.path.parent.mkdir(parents=True, exist_ok=True)
    world.rendered.path.write_bytes(content := b"%PDF-1.7")
    made = {"size": len(content), "checksum": hashlib.sha256(content).hexdigest()}
    world.rendered.__class__.objects.filter(pk=world.rendered.pk).update(state="done", **made)
    query = f"set=campaign:{world.measured.pk}"
    kept = {"team": cast.team, "created_by": cast.oscar}
    world.view = SavedView.objects.create(name="Before", query=query, **kept)
    world.search = SavedSearch.objects.create(name="Iperf", query="q=iperf3", **kept)


def _bring(world: Any) -> None:
    cast = world.cast
    output = sending.recording("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json")
    world.read = sending.send(cast, {"a.json": output})
    world.table = sending.send(cast, {"t.csv": TABLE}, kind="table")
    world.mapping = ColumnMapping.objects.create(
        team=cast.team, name="Rates", tool="iperf3-tcp", columns={"rate": {"as": "metric", "name": "goodput"}},
        created_by=cast.oscar,
    )  # fmt: skip
    world.archive = b"".join(archive_of(world.measured, now=timezone.now()))
    file = ContentFile(world.archive, name="a.zip")
    world.incoming = incoming.take(team=cast.team, user=cast.oscar, file=file)
    world.ready = incoming.take(team=cast.team, user=cast.oscar, file=ContentFile(world.archive, name="b.zip"))
    about = {
        "campaign": "0000-0000-0000",
        "name": "x",
        "counts": {},
        "nodes": ["kisti01"],
        "new": [],
        "differing": [],
    }
    preview = {**about, "people": [{"username": "oscar", "name": ""}]}
    IncomingArchive.objects.filter(pk=world.ready.pk).update(state=IncomingArchive.State.READY, preview=preview)
    # Whom they are told to is known: the team sees them, not only who sent them.
    IncomingArchive.objects.update(of_campaign=about["campaign"])
    world.invited = Invitation.objects.create(team=cast.team, username="dana", invited_by=cast.alice)
    world.invitation = Invitation.objects.create(team=cast.other_team, username="alice", invited_by=cast.charlie)
    other = make.campaign(SimpleNamespace(team=cast.other_team, oscar=cast.charlie), name="Theirs")
    world.offer = make.share(other, cast.team, "offered")
    world.token = ApiToken.objects.create(user=cast.alice, name="old", prefix="fth_old", digest="x" * 64)


def header(world: Any, path: str) -> dict[str, str]:
    """Return the header of who may ask an operation: the manager, or an administrator of the service."""
    if not path.startswith("/api/v1/set-aside/"):
        return people.bearer(world.cast.alice)
    world.root = getattr(world, "root", None) or people.user("root", is_superuser=True)
    return people.bearer(world.root)


def addresses(world: Any) -> dict[str, list[Any]]:
    """Return {"first part of the path.parameter": values}, and {"parameter": values} of those that are alike."""
    job = JobFile.objects.get().job
    run = Run.objects.get(pk=job.run_ref)
    campaigns = [world.draft, world.measured, world.running, world.scheduled, world.paused, world.failed]
    return {
        "analyses.campaign": [world.unanalysed.pk, world.measured.pk, world.running.pk],
        "agents.id": list(Agent.objects.values_list("pk", flat=True)),
        "campaign-archives.id": [world.incoming.pk, world.ready.pk],
        "campaign-offers.id": [world.offer.pk],
        "campaign-templates.slug": ["window-sweep", "rfc6349"],
        "campaigns.id": [item.pk for item in campaigns],
        "clusters.id": [world.cluster.pk],
        "column-mappings.id": [world.mapping.pk],
        "editions.permanent_id": [world.edition.permanent_id],
        "experiments.id": [world.windows.pk, world.drafted.pk, world.weekly[0].experiments.get().pk],
        "exports.tool": ["iperf3-tcp"],
        "file-systems.id": [world.file_system.pk],
        "findings.id": [world.proven.pk, *world.measured.findings.values_list("pk", flat=True)],
        "histories.id": [world.lane.pk],
        "invitations.id": [world.invitation.pk],
        "imports.id": [world.read.pk, world.table.pk],
        "jobs.id": [str(job.pk)],
        "jobs.name": ["out.json"],
        "jobs.stream": ["stdout", "stderr"],
        "links.id": list(Link.objects.values_list("pk", flat=True)),
        "management-reports.id": [world.management.pk],
        "memberships.id": list(Membership.objects.filter(team=world.cast.team).values_list("pk", flat=True)),
        "nodes.id": [world.a.pk, world.b.pk, world.spare.pk],
        "notes.id": [world.note.pk],
        "permanent-ids.permanent_id": [world.measured.permanent_id],
        "renderings.id": [world.rendering.pk, world.rendered.pk],
        "report-schedules.id": [world.schedule.pk],
        "reports.id": [world.report.pk, world.unfrozen.pk],
        "results.id": list(world.windows.results.values_list("pk", flat=True)),
        "runs.id": [run.pk],
        "set-aside.id": [world.aside.pk],
        "saved-searches.id": [world.search.pk],
        "saved-views.id": [world.view.pk],
        "setting-grants.id": [world.grant.pk],
        "site-layers.a": [world.a.testbed.site_id],
        "site-layers.b": [world.b.testbed.site_id],
        "site-pairs.id": [world.site_pair.pk],
        "sites.id": list(Site.objects.values_list("pk", flat=True)),
        "switches.id": [world.unlinked.pk],
        "team-tools.slug": ["site-digest"],
        "teams.id": [world.invited.pk],
        "teams.slug": [world.cast.team.slug],
        "testbeds.id": list(Testbed.objects.values_list("pk", flat=True)),
        "tokens.id": list(ApiToken.objects.filter(user=world.cast.alice).values_list("pk", flat=True)),
        "tools.slug": ["iperf3-tcp", "ping", "site-digest.v1"],
        "trials.id": list(world.windows.trials.values_list("pk", flat=True)),
    }


def names(world: Any) -> dict[str, list[Any]]:
    """Return what parameters and fields of a name may stand for, numbers and texts."""
    cast, windows = world.cast, world.windows
    nodes, sites = [world.a.pk, world.b.pk], [world.a.testbed.site_id, world.b.testbed.site_id]
    weekly = [item.pk for item in world.weekly]
    return {
        # Any other is refused, and nothing more is seen of the operation.
        "If-Match": ["*"],
        "team": [cast.team.slug],
        "site": sites, "site_a": sites, "site_b": sites, "sites": sites,
        "testbed": [world.a.testbed_id], "node": nodes, "nodes": nodes,
        "a_node": nodes, "b_node": nodes, "a_switch": [world.unlinked.pk], "b_switch": [world.unlinked.pk],
        "instance": [str(world.instance.key), str(uuid.UUID(int=7))],
        "switch": [world.unlinked.pk], "cluster": [world.cluster.pk], "server_cluster": [world.cluster.pk],
        "file_system": [world.file_system.pk], "mounted_by": [world.cluster.pk],
        "campaign": [world.draft.pk, world.measured.pk, *weekly, world.measured.permanent_id],
        "experiment": [windows.pk], "after": [world.drafted.pk],
        "run": list(Run.objects.filter(experiment=windows).values_list("pk", flat=True)),
        "trial": list(windows.trials.values_list("pk", flat=True)),
        "report": [world.management.pk, world.report.pk], "edition": [world.edition.permanent_id],
        "baseline": [world.weekly[0].permanent_id], "also": [world.weekly[1].permanent_id],
        "series": [world.scheduled.pk],
        "tool": ["iperf3-tcp", "ping"], "metric": ["goodput", "retransmits", "nosuch"],
        "set": [f"campaign:{world.measured.pk}", f"campaign:{weekly[0]};window=1MiB", "tool:iperf3-tcp"],
        "search": ["q=iperf3", "kisti"], "from": [f"node:{nodes[0]}"], "to": [f"node:{nodes[1]}"],
        "x": ["window", "set"], "window": ["192 KiB"], "username": ["bob", "charlie", "nobody"],
        "cron": ["", "0 2 * * 1"], "cron_timezone": ["Asia/Seoul", "UTC"], "timezone": ["Asia/Seoul", "UTC"],
        "shared_with": [cast.other_team.slug],
        "fit": [0], "table": [0],
    }  # fmt: skip

"""A request for every operation whose success a drawn request meets by chance only: what a person would send."""

from typing import Any

from apps.bench.custom import read_definition
from apps.campaigns.runnable import as_yaml, recipe_of
from apps.toolbox import files
from tests.bench.custom import definitions

Json = dict[str, Any]


def examples(world: Any) -> dict[str, Json]:
    """Return {"METHOD path": {"path", "query", "body", "media"}}, each of which a manager may ask for."""
    return _accounts(world) | _inventory(world) | _campaigns(world) | _results(world) | _reports(world)


def _with(identity: Any, **more: Any) -> Json:
    return {"path": {"id": identity}, **more}


def _accounts(world: Any) -> dict[str, Json]:
    member = world.cast.team.memberships.get(user=world.cast.bob)
    tool = {"slug": "site-digest"}
    definition = definitions.data("site-digest")
    team = {"slug": world.cast.team.slug}
    rules = [{"kind": "output", "days": 90, "action": "pack"}]
    return {
        "PATCH /me/": {"body": {"theme": "dark"}},
        "POST /teams/": {"body": {"name": "New"}},
        "PATCH /teams/{slug}/": {"path": team, "body": {"name": "Grid"}},
        "PUT /teams/{slug}/retention/": {"path": team, "body": rules},
        "POST /teams/{slug}/retention/preview/": {"path": team, "body": rules},
        "POST /teams/{slug}/invitations/": {"path": team, "body": {"username": "charlie", "role": "viewer"}},
        "DELETE /teams/{slug}/invitations/{id}/": {"path": {**team, "id": world.invited.pk}},
        "POST /invitations/{id}/accept/": _with(world.invitation.pk),
        "POST /invitations/{id}/decline/": _with(world.invitation.pk),
        "PATCH /memberships/{id}/": _with(member.pk, body={"role": "operator"}),
        "DELETE /memberships/{id}/": _with(member.pk),
        "POST /tokens/": {"body": {"name": "ci", "scope": "read"}},
        "POST /team-tools/": {"body": {"slug": "other", "definition": definition}},
        "POST /team-tools/{slug}/versions/": {"path": tool, "body": {"definition": definition | {"name": "B"}}},
        "POST /team-tools/{slug}/versions/{number}/take-over/": {"path": tool | {"number": 1}},
        "GET /team-tools/{slug}/file/": {"path": tool, "query": {"version": 1}},
        "POST /team-tools/import/": {"body": {"file": _tool_file(definition)}},
        "POST /team-tools/try/": {"body": {"definition": definition, "output": "nothing"}},
    }


def _tool_file(definition: Json) -> str:
    return files.export_tool("third-tool", read_definition(definition))


def _inventory(world: Any) -> dict[str, Json]:
    site, testbed = world.a.testbed.site_id, world.a.testbed_id
    file = "version: 1\nsites: [{name: Seoul}]\n"
    link = {"name": "second", "a_node": world.a.pk, "b_node": world.b.pk, "capacity_bps": "1 Gbit/s", "mtu": 9000}
    mounts = [{"cluster": world.cluster.pk}]
    bodies = {
        "sites": {"name": "Seoul"},
        "testbeds": {"name": "new", "site": site, "ram_bytes": "16 GiB"},
        "nodes": {"name": "new01", "testbed": testbed, "addresses": [{"address": "10.9.9.9"}]},
        "clusters": {"name": "new", "nodes": [world.a.pk]},
        "switches": {"name": "new", "site": site},
        "links": link,
        "file-systems": {"name": "new", "kind": "gpfs", "mount_path": "/new", "mounts": mounts},
        "site-pairs": {"site_a": site, "site_b": site, "rtt_s": "1 ms"},
    }
    items = {
        "sites": site, "testbeds": testbed, "nodes": world.spare.pk, "clusters": world.cluster.pk,
        "switches": world.unlinked.pk, "links": world.link.pk, "file-systems": world.file_system.pk,
        "site-pairs": world.site_pair.pk,
    }  # fmt: skip
    found: dict[str, Json] = {}
    for kind, identity in items.items():
        found[f"POST /{kind}/"] = {"body": bodies[kind]}
        found[f"PUT /{kind}/{{id}}/"] = _with(identity, body=bodies[kind])
        found[f"PATCH /{kind}/{{id}}/"] = _with(identity, body={"notes": "Moved."})
        found[f"POST /{kind}/{{id}}/clone/"] = _with(identity, body={"name": "copy"})
    found.pop("POST /site-pairs/{id}/clone/")
    seoul = world.empty_site.pk
    return found | {
        "POST /site-pairs/": {"body": {"site_a": site, "site_b": seoul, "rtt_s": 0.001}},
        "PUT /site-pairs/{id}/": _with(world.site_pair.pk, body={"site_a": site, "site_b": seoul, "rtt_s": 0.001}),
        "DELETE /sites/{id}/": _with(seoul),
        "DELETE /testbeds/{id}/": _with(world.empty_testbed.pk),
        "DELETE /nodes/{id}/": _with(world.bare.pk),
        "DELETE /clusters/{id}/": _with(world.empty_cluster.pk),
        "POST /testbeds/{id}/add-nodes/": _with(testbed, body={"names": "kg[01-02]", "addresses": "10.8.0.[1-2]"}),
        "POST /setting-grants/": {"body": {"node": world.a.pk, "pattern": "net.ipv4.*", "values": []}},
        "GET /paths/": {"query": {"from": f"node:{world.a.pk}", "to": f"node:{world.b.pk}", "clients": 2}},
        "GET /inventory/": {},
        "POST /inventory/": {"body": {"inventory": file, "dry_run": True}, "media": "application/json"},
        "POST /inventory/example/": {"body": {}},
        "POST /enrolment-tokens/": {"body": {"node": world.bare.pk}},
        "DELETE /agents/{id}/": _with(world.retired.pk),
        "POST /agents/{id}/choose/": _with(world.instance.agent_id, body={"instance": str(world.instance.key)}),
    }


def _campaigns(world: Any) -> dict[str, Json]:
    roles = [{"role": "client", "node": world.a.pk}, {"role": "server", "node": world.b.pk}]
    experiment = {
        "campaign": world.draft.pk, "name": "more", "tool": "iperf3-tcp", "roles": roles,
        "fixed": {"duration": "1 s"}, "factors": [{"name": "window", "expression": "64KiB, 1MiB"}],
    }  # fmt: skip
    draft, done = world.draft.pk, world.measured.pk
    recipe = as_yaml(recipe_of(world.measured))
    players = {"players": roles}
    return {
        "POST /campaigns/": {"body": {"name": "New", "cron": "0 2 * * 1"}},
        "PUT /campaigns/{id}/": _with(draft, body={"name": "New"}),
        "PATCH /campaigns/{id}/": _with(draft, body={"goal": "See it."}),
        "DELETE /campaigns/{id}/": _with(draft, query={"reason": "done"}),
        "GET /campaigns/{id}/archive/": _with(done),
        "POST /campaigns/{id}/cancel/": _with(world.running.pk),
        "POST /campaigns/{id}/launch/": _with(draft),
        "POST /campaigns/{id}/pause/": _with(world.running.pk),
        "POST /campaigns/{id}/resume/": _with(world.paused.pk),
        "POST /campaigns/{id}/withdraw/": _with(world.scheduled.pk),
        "POST /campaigns/{id}/rerun-failed/": _with(world.failed.pk),
        "POST /campaigns/{id}/clone/": _with(done, body={}),
        "PUT /campaigns/{id}/sharing/": _with(done, body={"visibility": "team"}),
        "POST /campaign-offers/{id}/accept/": _with(world.offer.pk),
        "POST /campaign-offers/{id}/decline/": _with(world.offer.pk),
        "PUT /campaigns/{id}/tags/": _with(done, body={"tags": ["wan"]}),
        "POST /campaigns/run/": {"body": {"recipe": recipe, "team": world.cast.team.slug, "launch": False}},
        "POST /campaign-templates/{slug}/draft/": {"path": {"slug": "window-sweep"}, "body": players},
        "POST /experiments/": {"body": experiment},
        "POST /experiments/preview/": {"body": experiment},
        "PUT /experiments/{id}/": _with(world.drafted.pk, body=experiment),
        "PATCH /experiments/{id}/": _with(world.drafted.pk, body={"repetitions": 3}),
        "DELETE /experiments/{id}/": _with(world.drafted.pk),
        "POST /notes/": {"body": {"campaign": done, "text": "Quiet."}},
        "PUT /notes/{id}/": _with(world.note.pk, body={"campaign": done, "text": "Quiet."}),
        "PUT /trials/{id}/validity/": _with(world.trial.pk, body={"reason": "A cable."}),
        "DELETE /trials/{id}/validity/": _with(world.marked.pk),
    }


def _results(world: Any) -> dict[str, Json]:
    windows, picked = world.windows.pk, f"campaign:{world.measured.pk}"
    nodes = {"client": [world.a.pk], "server": [world.b.pk]}
    group = {"key": world.read.groups[0]["key"], "roles": nodes}
    meanings = {
        "window": {"as": "parameter", "name": "window"},
        "rate": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    }
    change = {"campaign": world.weekly[4].pk, "state": "confirmed", "explanation": "An update."}
    kept = {"name": "Kept", "query": f"set={picked}"}
    sites = {"a": world.a.testbed.site_id, "b": world.b.testbed.site_id}
    pattern = {"pattern": "write", "file_size": "1 GiB"}
    return {
        "GET /archive/": {"query": {"q": "iperf3"}},
        "GET /comparison/": {"query": {"set": [picked]}},
        "GET /exports/": {"query": {"set": [picked]}},
        "GET /exports/package/": {"query": {"set": [picked]}},
        "GET /exports/tables/{tool}/": {"path": {"tool": "iperf3-tcp"}, "query": {"set": [picked]}},
        "GET /experiments/{id}/prediction/": _with(world.swept.pk, query={"window": "192 KiB"}),
        "GET /experiments/{id}/results/": _with(windows, query={"x": "window", "invalid": "yes"}),
        "POST /analyses/{campaign}/retry/": {"path": {"campaign": world.unanalysed.pk}},
        "GET /permanent-ids/{permanent_id}/": {"query": {"as": "stranger"}},
        "POST /histories/{id}/decide/": _with(world.lane.pk, body=change),
        "GET /site-layers/{a}/{b}/": {"path": sites},
        "POST /site-layers/{a}/{b}/draft/": {"path": sites, "body": {"table": 0}},
        "GET /workload/": {"query": pattern},
        "POST /workload/draft/": {"body": pattern | {"fit": 0}},
        "POST /saved-views/": {"body": kept},
        "PUT /saved-views/{id}/": _with(world.view.pk, body=kept),
        "PATCH /saved-views/{id}/": _with(world.view.pk, body={"name": "Other"}),
        "POST /saved-searches/": {"body": {"name": "Kept", "query": "q=iperf3"}},
        "PUT /saved-searches/{id}/": _with(world.search.pk, body={"name": "Kept", "query": "q=iperf3"}),
        "PATCH /saved-searches/{id}/": _with(world.search.pk, body={"name": "Other"}),
        "POST /imports/": {"body": {"sent": [b"window,rate"]}},
        "POST /imports/{id}/columns/": _with(world.table.pk, body={"tool": "iperf3-tcp", "columns": meanings}),
        "POST /imports/{id}/store/": _with(world.read.pk, body={"groups": [group]}),
        "POST /findings/{id}/decide/": _with(world.proven.pk, body={"state": "accepted"}),
        "POST /findings/{id}/verify/": _with(world.proven.pk),
        "POST /findings/{id}/draft/": _with(world.proven.pk, body={}),
    }


def _reports(world: Any) -> dict[str, Json]:
    dates = {"cron": "0 7 * * *", "cron_timezone": "Asia/Seoul"}
    schedule = {"name": "Weekly", "report": world.management.pk, "formats": ["json"], **dates}
    return {
        "POST /reports/": {"body": {"campaign": world.measured.permanent_id, "language": "ko"}},
        "PATCH /reports/{id}/": _with(world.report.pk, body={"baseline": world.weekly[0].permanent_id}),
        "DELETE /reports/{id}/": _with(world.unfrozen.pk),
        "POST /reports/{id}/freeze/": _with(world.report.pk, body={"note": "First."}),
        "POST /management-reports/": {"body": {"title": "Year", "language": "en", "period": "3-months"}},
        "PATCH /management-reports/{id}/": _with(world.management.pk, body={"title": "Half a year"}),
        "POST /report-schedules/": {"body": schedule},
        "PUT /report-schedules/{id}/": _with(world.schedule.pk, body=schedule),
        "PATCH /report-schedules/{id}/": _with(world.schedule.pk, body={"is_active": False}),
        "POST /report-schedules/{id}/deliver/": _with(world.idle.pk),
        "POST /report-schedules/{id}/ask/": _with(world.idle.pk),
        "POST /renderings/": {"body": {"edition": world.edition.permanent_id, "format": "xlsx"}},
        "GET /renderings/{id}/content/": _with(world.rendered.pk),
        "POST /campaign-archives/": {"body": {"archive": world.archive}},
        "POST /campaign-archives/{id}/agree/": _with(world.ready.pk, body={}, media="application/json"),
    }

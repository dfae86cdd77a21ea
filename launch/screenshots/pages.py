"""Every page of the URL conf: how to get there, and what is no page of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import django
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Page

Key = int | str
Act = Callable[[Page], None]

ITEMS = ("site", "testbed", "node", "cluster", "switch", "link", "sitepair", "filesystem")
# Answers to a form, parts that pages load, and files: nothing to look at.
NO_PAGES = {
    *(f"campaigns:{name}" for name in (
        "campaign_status", "campaign_events", "launch", "pause", "resume", "withdraw", "rerun_failed",
        "experiment_preview", "dates", "deletions", "campaign_drawing", "notes", "tags",
        "note_add", "note_change", "note_delete", "offer_accept",
    )),
    *(
        f"results:{name}"
        for name in (
            "experiment_panel", "experiment_loss", "experiment_data", "csv", "json", "run_series", "job_telemetry",
            "trial_validity",
        )
    ),
    *(f"{part}:{ending}" for part in ("comparison", "history", "matrix") for ending in ("csv", "json")),
    "figures:draw", "history:decide", "archive:already", "landing:recipe", "landing:samples",
    *(
        f"tuning:{name}"
        for name in (
            "decide", "campaign_panel", "verifications", "verify", "draft", "site_draft", "workload_draft", "analyse",
        )
    ),
    *(f"reports:{name}" for name in ("begin", "freeze", "words", "remark", "drop", "move", "own")),
    "reports:edition_document", "reference", "schedules:dates", "schedules:deliveries", "schedules:deliver",
    "schedules:ask",
    *(f"renderings:{name}" for name in ("edition", "draft", "file")),
    *(f"exports:{name}" for name in ("package", "table", "archive", "incoming", "give_up")),
    *(f"imports:{name}" for name in ("status", "map_columns", "complete", "discard", "forget_mapping")),
    *(f"toolbox:tool_{name}" for name in ("preview", "export", "restore", "take_over")),
    *(f"agents:{name}" for name in ("program", "unit", "job_output", "job_file")),
    *(f"accounts:{name}" for name in ("logout", "language", "theme", "invite", "member_role")),
    "accounts:invitation_withdraw", "accounts:invitation_accept",
    *(f"testbeds:{name}" for name in ("export", "example", "grant_revoke", "node_confirm")),
    "start:changes", "start:lookup", "matrix:panel", "alive", "health", "set_language",
}  # fmt: skip


@dataclass(frozen=True)
class Shot:
    """One picture: of a named page with the key of a thing, or of a path; `act` does something there first."""

    name: str
    view: str = ""
    key: str = ""
    path: str = ""
    query: str = ""
    act: Act | None = None
    status: int = 200
    signed_in: bool = True


def _press(words: str) -> Act:
    return lambda page: page.get_by_role("button", name=words, exact=True).click()


def _open_menu(page: Page) -> None:
    # Opened at the phone's width, it is the side bar of any other.
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_load_state()
    page.locator(".topbar [data-bs-target='#side']").click()


def _ask_to_stop(page: Page) -> None:
    page.locator("[data-stop]").click()


def _import_example(page: Page) -> None:
    page.locator("main textarea").fill("version: 1\nsites:\n  - name: A new site\n    place: Busan, KR\n")
    page.locator("main form button.btn-primary").click()


def _campaigns() -> Iterator[Shot]:
    yield Shot("home", "home")
    yield Shot("campaign-list", "campaigns:campaign_list")
    yield Shot("campaign-list-nothing-found", "campaigns:campaign_list", query="q=nothing+like+it")
    yield Shot("menu", "campaigns:campaign_list", act=_open_menu)
    yield Shot("campaign-new", "campaigns:campaign_create")
    yield Shot("campaign-refused", "campaigns:campaign_create", act=_press("Create"), status=422)
    yield Shot("campaign-template", "campaigns:recipe", path="/campaigns/templates/rfc6349/")
    for name in ("campaign", "failing", "draft", "nightly", "stages", "running"):
        yield Shot(f"campaign-{name}", "campaigns:campaign_detail", name)
    yield Shot("campaign-edit", "campaigns:campaign_update", "draft")
    yield Shot("campaign-clone", "campaigns:campaign_clone", "campaign")
    yield Shot("campaign-delete", "campaigns:campaign_delete", "campaign")
    yield Shot("campaign-launch", "campaigns:confirm_launch", "draft")
    yield Shot("campaign-cancel", "campaigns:cancel", "running")
    yield Shot("campaign-stop", "campaigns:campaign_detail", "running", act=_ask_to_stop)
    yield Shot("campaign-sharing", "campaigns:sharing", "campaign")
    yield Shot("offer-list", "campaigns:offers")
    yield Shot("offer-decline", "campaigns:offer_decline", "offer")
    yield Shot("permanent-id", "landing:campaign", "permanent_id")
    yield Shot("measure-again", "landing:run", "permanent_id")
    yield Shot("trial-list", "results:trial_list", "campaign")
    yield Shot("experiment-new", "campaigns:experiment_create", "draft", query="tool=iperf3-tcp")
    yield Shot("experiment-tools", "campaigns:experiment_create", "draft")
    yield Shot("experiment-edit", "campaigns:experiment_update", "draft_experiment")
    yield Shot("experiment-delete", "campaigns:experiment_delete", "draft_experiment")
    yield Shot("experiment-results", "results:experiment", "experiment")
    yield Shot("trial", "results:trial", "trial")
    yield Shot("trial-failed", "results:trial", "failed_trial")


def _conclusions() -> Iterator[Shot]:
    yield Shot("finding-list", "tuning:list")
    yield Shot("finding", "tuning:detail", "finding")
    yield Shot("finding-published", "tuning:detail", "published_finding")
    yield Shot("site-pair-list", "tuning:sites")
    yield Shot("site-pair-layers", "tuning:site_layers", "site_a site_b")
    yield Shot("workload", "tuning:workload")
    yield Shot("prediction", "tuning:predict", "experiment")
    yield Shot("published-import", "published:import")
    yield Shot("campaign-published", "campaigns:campaign_detail", "published")
    yield Shot("compare-empty", "comparison:compare")
    sweep = "set=campaign:{campaign}&metric=goodput&x=window&by=streams"
    for chart in ("line", "box", "heat", "parallel"):
        yield Shot(f"compare-{chart}", "comparison:compare", query=f"{sweep}&chart={chart}")
    yield Shot("compare-sets", "comparison:compare", query="set=campaign:{campaign}&set=campaign:{day}")
    yield Shot("compare-add", "comparison:add_set", query="query=set%3Dcampaign:{campaign}")
    yield Shot("view-list", "comparison:view_list")
    yield Shot("view-new", "comparison:view_create", query="query=set%3Dcampaign:{campaign}")
    yield Shot("view-edit", "comparison:view_update", "view")
    yield Shot("view-delete", "comparison:view_delete", "view")
    yield Shot("archive", "archive:search")
    yield Shot("archive-narrowed", "archive:search", query="q=window&metric=goodput:1M..")
    for action in ("list", "create", "update", "delete"):
        key = "search" if action in ("update", "delete") else ""
        yield Shot(f"search-{action}", f"archive:saved_{action}", key, query="query=q%3Dwindow")
    for name in ("import_list", "import_create", "mapping_list", "detail"):
        yield Shot(f"imports-{name}", f"imports:{name}", "import" if name == "detail" else "")
    yield Shot("export", "exports:export", query="set=campaign:{campaign}")
    yield Shot("archives-of-campaigns", "exports:receive")
    yield Shot("history-list", "history:list")
    yield Shot("history", "history:detail", "lane")
    yield Shot("matrix", "matrix:matrix")
    yield Shot("report-list", "reports:list")
    yield Shot("report", "reports:detail", "report")
    yield Shot("report-edit", "reports:detail", "report", query="edit=1")
    yield Shot("report-contents", "reports:scope", "report")
    yield Shot("report-delete", "reports:delete", "draft_report")
    yield Shot("edition", "reports:edition", "edition")
    yield Shot("management-new", "management:create")
    yield Shot("management-edit", "management:update", "management")
    yield Shot("management", "reports:detail", "management")
    for action in ("list", "create", "detail", "update", "delete"):
        key = "schedule" if action in ("detail", "update", "delete") else ""
        yield Shot(f"schedule-{action}", f"schedules:schedule_{action}", key)


def _inventory() -> Iterator[Shot]:
    yield Shot("inventory", "testbeds:home")
    for item in ITEMS:
        yield Shot(f"{item}-list", f"testbeds:{item}_list")
        yield Shot(f"{item}-new", f"testbeds:{item}_create")
        for verb, page in (("", "detail"), ("-edit", "update"), ("-clone", "clone"), ("-delete", "delete")):
            if item != "sitepair" or page != "clone":
                yield Shot(f"{item}{verb}", f"testbeds:{item}_{page}", item)
    yield Shot("node-settings", "testbeds:node_grants", "node")
    yield Shot("add-nodes", "testbeds:add_nodes", "testbed")
    yield Shot("path", "testbeds:path")
    yield Shot("path-found", "testbeds:path", query="from=node:{node_from}&to=node:{node_to}&clients=4")
    yield Shot("import", "testbeds:import", query="example=1")
    yield Shot("import-preview", "testbeds:import", act=_import_example)


def _try_tool(page: Page) -> None:
    page.locator("#id_output").fill("version: 3.0.19\nsha256         1586643.36k\n")
    page.locator("#tool-preview table").wait_for()


def _tools() -> Iterator[Shot]:
    yield Shot("tool-list", "toolbox:tool_list")
    yield Shot("tool-new", "toolbox:tool_create")
    yield Shot("tool-refused", "toolbox:tool_create", act=_press("Define"), status=422)
    yield Shot("tool-import", "toolbox:tool_import")
    yield Shot("tool", "toolbox:tool_detail", "tool")
    yield Shot("tool-version", "toolbox:tool_version", "tool tool_number")
    yield Shot("tool-edit", "toolbox:tool_update", "tool", act=_try_tool)
    yield Shot("tool-archive", "toolbox:tool_archive", "tool")


def _agents() -> Iterator[Shot]:
    yield Shot("agent-list", "agents:list")
    yield Shot("agent", "agents:detail", "agent")
    yield Shot("agent-none", "agents:detail", "node")
    yield Shot("agent-unseen", "agents:detail", "unseen")
    yield Shot("agent-retired", "agents:detail", "retired")
    yield Shot("agent-choose", "agents:choose", "copied copy")
    yield Shot("agent-clear", "agents:clear", "agent")
    yield Shot("agent-removed", "agents:removed", "agent")
    yield Shot("agent-enrol", "agents:enrol", "node")
    yield Shot("agent-enrol-command", "agents:enrol", "node", act=_press("Make the command"))
    yield Shot("agent-retire", "agents:retire", "agent")
    yield Shot("agent-forget", "agents:forget", "retired")
    yield Shot("facts", "agents:facts", "facts")


def _people() -> Iterator[Shot]:
    yield Shot("profile", "accounts:profile")
    yield Shot("password", "accounts:password")
    yield Shot("password-refused", "accounts:password", act=lambda page: page.locator("main form button").click())
    yield Shot("team-list", "accounts:teams")
    yield Shot("team-new", "accounts:team_create")
    yield Shot("team", "accounts:team", "team")
    yield Shot("team-edit", "accounts:team_update", "team")
    yield Shot("retention", "retention:rules", "team", act=_press("Show what would go…"))
    yield Shot("member-remove", "accounts:member_remove", "team member")
    yield Shot("invitation-list", "accounts:invitations")
    yield Shot("invitation-decline", "accounts:invitation_decline", "invitation")
    yield Shot("token-list", "accounts:tokens")
    yield Shot("token-new", "accounts:token_create")
    yield Shot("token-revoke", "accounts:token_revoke", "token")
    yield Shot("rest-docs", "api-docs")
    yield Shot("login", "accounts:login", signed_in=False)
    yield Shot("login-refused", "accounts:login", act=_press("Sign in"), signed_in=False)
    for page in ("mail_confirm", "mail_stop"):
        yield Shot(page.replace("_", "-"), f"accounts:{page}", query=f"token={{{page}}}", signed_in=False)
    yield Shot("error-404", path="/nothing/here/", status=404)
    yield Shot("error-400", path="/campaigns/", query="&".join(f"a{n}=" for n in range(1100)), status=400)


def all_shots() -> list[Shot]:
    """Return the pictures to take, in order."""
    return [*_campaigns(), *_conclusions(), *_inventory(), *_tools(), *_agents(), *_people()]


def forgotten(shots: list[Shot]) -> list[str]:
    """Return the names in the URL conf that are neither shown nor known as no page."""
    django.setup()
    return sorted(set(_names(get_resolver(), "")) - {shot.view for shot in shots} - NO_PAGES)


def _names(resolver: URLResolver, namespace: str) -> Iterator[str]:
    """Yield the names of a resolver, less the REST interface (but its page) and Django's own administration."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            if pattern.name:
                yield namespace + pattern.name
        elif str(pattern.pattern) == "api/v1/":
            yield "api-docs"
        elif pattern.namespace != "admin":
            yield from _names(pattern, f"{pattern.namespace}:" if pattern.namespace else namespace)

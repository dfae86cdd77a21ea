"""What findings propose to measure next, as drafts of campaigns that a person looks at and launches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench.text import _
from apps.bench.toolkit import Tool
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.campaigns.turns import sweep_turn
from apps.core import messages
from apps.testbeds import queries as testbeds
from apps.testbeds.models import FileSystem, Node
from apps.tuning import drafts
from apps.tuning.models import Finding

# All of a finding's own proposals in one campaign.
ALL = "all"
# Leaves room in a campaign's name for the words around a finding's title.
LONGEST_TITLE = 150
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Offer:
    """An experiment that would decide: the `key` that asks for it, why (a stored message or None), and what it is."""

    key: str
    reason: Json | None
    proposal: Json

    @property
    def tool(self) -> str:
        """Return the tool's slug."""
        return str(self.proposal["tool"])

    @property
    def factors(self) -> Json:
        """Return {name: text} of what it sweeps."""
        factors: Json = self.proposal.get("factors") or {}
        return factors


def offers_of(finding: Finding) -> list[Offer]:
    """Return what a finding proposes: for what is still unmeasured, then what would tell its alternatives apart."""
    details = finding.details
    own, missing = details.get("proposals") or [], details.get("missing") or []
    # One for each thing that is missing, or for all of them together.
    reasons = missing if len(missing) == len(own) else [None] * len(own)
    offers = [Offer(f"p{place}", reasons[place], item) for place, item in enumerate(own)]
    for place, item in enumerate(details.get("alternatives") or []):
        if item.get("proposal"):
            offers.append(Offer(f"a{place}", item["test"], item["proposal"]))
    return offers


def create_draft(*, finding: Finding, user: User, key: str, now: datetime) -> Campaign:
    """Make a draft of one offer, or of ALL proposals; errors.Refused says what is not known or not possible."""
    rights.require(user, finding.team, Role.OPERATOR)
    offers = offers_of(finding)
    chosen_offers = [offer for offer in offers if offer.key == key or (key == ALL and offer.key.startswith("p"))]
    if not chosen_offers:
        keys = ", ".join([ALL, *(offer.key for offer in offers)]) if offers else "–"
        text = _("The finding does not propose “%(key)s” any more; it proposes: %(known)s.")
        raise drafts.refuse(text, key=key, known=keys)
    title = messages.render(finding.title)
    return draft_proposals(
        team=finding.team,
        user=user,
        name=gettext("Decide: %(title)s") % {"title": title[:LONGEST_TITLE]},
        goal=" ".join(messages.render(offer.reason) for offer in chosen_offers if offer.reason),
        proposals=[offer.proposal for offer in chosen_offers],
        about=finding,
        now=now,
    )


def draft_proposals(
    *,
    team: Team,
    user: User,
    name: str,
    goal: str,
    proposals: Sequence[Json],
    now: datetime,
    about: Finding | None = None,
) -> Campaign:
    """Make a draft of proposals; errors.Refused says what is not known or not possible.

    Files and nodes that a proposal leaves open are those of the finding it is `about`, if it is about one.
    """
    rights.require(user, team, Role.OPERATOR)
    origin = about.campaign if about else None
    composition = campaigns.Composition(team)
    names: set[str] = set()
    with sweep_turn(user):
        for proposal in proposals:
            tool = drafts.tool_of(str(proposal["tool"]), team)
            _add(composition, team, about, tool, proposal, _unused(messages.render(tool.name), names))
    with transaction.atomic():
        campaign = campaigns.create_campaign(team=team, user=user, now=now, name=name, goal=goal, made_from=origin)
        composition.save(campaign)
    return campaign


def _add(
    composition: campaigns.Composition,
    team: Team,
    finding: Finding | None,
    tool: Tool,
    proposal: Json,
    name: str,
) -> None:
    fixed = {key: value for key, value in (proposal.get("fixed") or {}).items() if value is not None}
    factors = proposal.get("factors") or {}
    way, back = tool.backwards_at
    if finding and way not in {*fixed, *factors} and _is_of_way_back(finding, tool):
        # What is asked of the way back is measured that way.
        fixed[way] = back
    parameters = drafts.known_of(tool, fixed)
    file_system = drafts.file_system_of(str(proposal.get("file_system") or ""), team)
    if file_system is None and finding:
        file_system = _files_of(finding, tool)
    measured = _measured(finding) if finding else {}
    players = _players(team, tool, proposal.get("roles") or {}, measured, file_system)
    composition.add(
        name,
        roles=[campaigns.Player(role, node) for role, nodes in players.items() for node in nodes],
        name=name,
        tool=tool.slug,
        file_system=file_system,
        fixed={
            key: value if isinstance(value, str) or key not in parameters else drafts.text_of(parameters[key], value)
            for key, value in fixed.items()
        },
        factors=[{"name": key, "expression": str(text)} for key, text in factors.items()],
    )


def _is_of_way_back(finding: Finding, tool: Tool) -> bool:
    """Return whether a finding speaks of data that the tool's second role sends, which the tool can be asked for."""
    senders = [role for role, _node in finding.ends[:1]]
    can_ask = any(parameter.name == tool.backwards_at[0] for parameter in tool.parameters)
    return can_ask and len(tool.roles) > 1 and senders == [tool.roles[1].name]


def _players(
    team: Team,
    tool: Tool,
    names_by_role: Mapping[str, Sequence[str]],
    measured: Mapping[str, Sequence[Node]],
    file_system: FileSystem | None,
) -> dict[str, Sequence[Node]]:
    """Return who plays each role: the nodes that the rule names, else those measured, else one that has the files."""
    players: dict[str, Sequence[Node]] = {}
    for role in tool.roles:
        if names_by_role.get(role.name):
            players[role.name] = drafts.nodes_named(names_by_role[role.name], team)
        elif role.name in measured:
            players[role.name] = measured[role.name]
        elif file_system is not None:
            mounting = Node.objects.filter(team=team, pk__in=testbeds.mounting(file_system))
            players[role.name] = list(mounting.order_by("name")[:1])
    return players


def _files_of(finding: Finding, tool: Tool) -> FileSystem | None:
    """Return the file system on which the tool measured the finding's evidence, if it did on one."""
    trials = finding.trials.filter(experiment__tool=tool.slug, experiment__file_system__isnull=False)
    trial = trials.select_related("experiment__file_system").order_by("-pk").first()
    return trial.experiment.file_system if trial else None


def _measured(finding: Finding) -> dict[str, list[Node]]:
    """Return the nodes by the roles that they played in the finding's evidence, or of the ends that it speaks of."""
    roles: dict[str, list[int]] = {}
    for lane in finding.trials.order_by("-pk").values_list("lane__roles", flat=True)[:1]:
        roles = dict(lane)
    roles = roles or {role: [node] for role, node in finding.ends}
    nodes = Node.objects.filter(team=finding.team_id).in_bulk([pk for members in roles.values() for pk in members])
    return {role: [nodes[pk] for pk in members if pk in nodes] for role, members in roles.items()}


def _unused(name: str, names: set[str]) -> str:
    """Return a name that no other experiment of the draft has."""
    number, candidate = 1, name
    while candidate in names:
        number += 1
        candidate = f"{name} {number}"
    names.add(candidate)
    return candidate

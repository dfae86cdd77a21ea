"""Drafts made by recipe: a campaign with the experiments of a procedure, for chosen nodes."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Value
from apps.campaigns import errors
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.recipes import RECIPES, Recipe, RecipeChoice
from apps.campaigns.services.campaigns import create_campaign
from apps.campaigns.services.compositions import Composition
from apps.campaigns.services.experiments import Player
from apps.campaigns.turns import sweep_turn
from apps.core import messages
from apps.testbeds import queries
from apps.testbeds.models import FileSystem, Node


def create_from_recipe(
    *,
    team: Team,
    user: User,
    now: datetime,
    recipe: str,
    players: Iterable[Player],
    values: Mapping[str, Value],
    name: str = "",
    file_system: FileSystem | None = None,
) -> Campaign:
    """Make a draft of a recipe; `players` play its parts (each player's `role`), `values` are its parameters.

    errors.Refused names each field that is wrong: `recipe`, `parts.<name>`, `values.<name>`, `file_system`, or what
    an experiment would refuse, with that experiment's name before it.
    """
    rights.require(user, team, Role.OPERATOR)
    procedure = _recipe_of(recipe)
    chosen = list(players)
    members = _members(procedure, chosen)
    choice = RecipeChoice(
        _clean(procedure, values), {part: len(nodes) for part, nodes in members.items()}, _capacity(members)
    )
    if procedure.needs_file_system and file_system is None:
        text = _("This procedure writes to a file system: choose one that the nodes mount.")
        raise errors.Refused({"file_system": Message(text)})
    composition = Composition(team)
    experiments: dict[str, Experiment] = {}
    with sweep_turn(user):
        for step in procedure.steps(choice):
            experiments[step.name] = composition.add(
                step.name,
                roles=[
                    Player(role, part.node, part.cluster)
                    for role, part_role in step.roles.items()
                    for part in chosen
                    if part.role == part_role
                ],
                name=step.name,
                tool=step.tool,
                fixed=dict(step.fixed),
                factors=[{"name": name, "expression": text} for name, text in step.factors.items()],
                repetitions=step.repetitions,
                after=experiments[step.after] if step.after else None,
                file_system=file_system if procedure.needs_file_system else None,
            )
    with transaction.atomic():
        campaign = create_campaign(
            team=team,
            user=user,
            now=now,
            name=name or messages.render(procedure.name),
            goal=messages.render(procedure.summary),
        )
        composition.save(campaign)
    return campaign


def _recipe_of(slug: str) -> Recipe:
    if slug not in RECIPES:
        text = _("There is no template “%(slug)s”; choose one of: %(known)s.")
        raise errors.Refused({"recipe": Message(text, {"slug": slug, "known": ", ".join(RECIPES)})})
    return RECIPES[slug]


def _members(recipe: Recipe, players: Iterable[Player]) -> dict[str, list[Node]]:
    """Return the nodes of each part; errors.Refused for parts that nobody plays, or that are none of the recipe."""
    members: dict[str, dict[int, Node]] = {part.name: {} for part in recipe.parts}
    wrong: dict[str, Message] = {}
    for player in players:
        if player.role not in members:
            text = _("This template has no part “%(part)s”; its parts are: %(known)s.")
            wrong[f"parts.{player.role}"] = Message(text, {"part": player.role, "known": ", ".join(members)})
            continue
        nodes = [player.node] if player.node else player.cluster.nodes.all() if player.cluster else []
        members[player.role] |= {node.pk: node for node in nodes}
    for part, part_nodes in members.items():
        if not part_nodes:
            text = _("Choose a node, or a cluster that has nodes.")
            wrong.setdefault(f"parts.{part}", Message(text))
    if wrong:
        raise errors.Refused(wrong)
    return {part: list(part_nodes.values()) for part, part_nodes in members.items()}


def _clean(recipe: Recipe, values: Mapping[str, Value]) -> dict[str, Any]:
    parameters = {parameter.name: parameter for parameter in recipe.parameters}
    wrong: dict[str, Message] = {}
    for name in (name for name in values if name not in parameters):
        text = _("This template asks for no “%(name)s”; it asks for %(known)s.")
        wrong[f"values.{name}"] = Message(text, {"name": name, "known": ", ".join(parameters)})
    cleaned = {}
    for name, parameter in parameters.items():
        try:
            cleaned[name] = parameter.clean(values.get(name))
        except units.UnitError as error:
            wrong[f"values.{name}"] = error.message
    if wrong:
        raise errors.Refused(wrong)
    return cleaned


def _capacity(members: Mapping[str, list[Node]]) -> float | None:
    """Return the capacity (bit/s) of the narrowest link known between the first nodes of the first two parts."""
    ends = [nodes[0] for nodes in members.values()][:2]
    path = queries.path_between(*ends) if len(ends) == 2 else None
    link = path.narrowest_known if path else None
    return link.capacity_bps if link else None

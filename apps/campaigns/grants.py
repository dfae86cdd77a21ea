"""Kernel settings as factors: refused where the node's owner has not allowed that setting to the campaign's team."""

from collections.abc import Iterable, Mapping

from apps.bench import settings
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.campaigns.expansion import Expansion
from apps.testbeds import queries
from apps.testbeds.models import Node
from apps.testbeds.queries import Wish


def check_settings(expansion: Expansion, team_id: int) -> None:
    """Raise errors.Refused naming, for each setting, a node whose owner does not allow it."""
    wrong: dict[str, Message] = {}
    roles = [role.name for role in expansion.tool.roles]
    wishes: dict[Wish, str] = {}
    nodes: dict[int, Node] = {}
    for name in expansion.parameters:
        if not setting_names.is_setting(name):
            continue
        role, key = setting_names.role_and_key(name)
        if role not in roles or not key:
            text = _("“%(role)s” is no role of %(tool)s: write one of %(known)s and then the key.")
            values = {"role": role, "tool": expansion.tool.name, "known": ", ".join(roles)}
            wrong[_field(expansion, name)] = Message(text, values)
            continue
        members = {node.pk: node for cast in expansion.casts for node in cast.roles[role]}
        nodes |= members
        for value in dict.fromkeys(settings.normalise(point[name]) for point in expansion.points if name in point):
            if refused := settings.check_key(key) or settings.check_value(key, value):
                wrong.setdefault(_field(expansion, name), refused)
            wishes |= {Wish(pk, key, value): name for pk in members}
    for wish in queries.not_allowed(team_id, wishes):
        wrong.setdefault(_field(expansion, wishes[wish]), refusal_of(nodes[wish.node].name, wish))
    if wrong:
        raise errors.Refused(wrong)


def wishes_of(chosen: Mapping[str, Mapping[str, str]], roles: Mapping[str, Iterable[int]]) -> list[Wish]:
    """Return what a trial with these settings {role: {key: value}} sets on the nodes {role: ids}."""
    return [
        Wish(node, key, value)
        for role, values in chosen.items()
        for key, value in values.items()
        for node in roles.get(role, ())
    ]


def refusal_of(node: str, wish: Wish) -> Message:
    """Return what is said of a setting that is not allowed."""
    text = _(
        "The team is not allowed to set %(key)s to “%(value)s” on %(node)s: ask a manager of the node's team to "
        "allow it on the node's page."
    )
    return Message(text, {"key": wish.key, "value": wish.value, "node": node})


def _field(expansion: Expansion, name: str) -> str:
    return f"factors.{name}" if name in expansion.spec.factors else f"fixed.{name}"

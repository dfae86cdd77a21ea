"""Writes: one thing that an author changes of a report, whatever others change of it meanwhile."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.campaigns.models import Campaign
from apps.reports import author_edits, services
from apps.reports.models import Report

Json = dict[str, Any]


@transaction.atomic
def set_scope(
    *,
    report: Report,
    user: User,
    title: str,
    baseline: Campaign | None,
    also: Sequence[Campaign],
    views: Sequence[int],
) -> None:
    """Set a report's title ("": the generated one), its baseline, and what else it tells of, in their order."""

    def change(edits: Json) -> None:
        edits["title"] = title.strip()
        edits["views"] = list(dict.fromkeys(views))

    services.change_edits(report=report, user=user, change=change)
    services.set_scope(report=report, user=user, baseline=baseline, also=also)


def set_words(*, report: Report, user: User, key: str, text: str) -> None:
    """Replace the words of a paragraph; "" brings those back that are generated."""
    _set(report, user, "words", key, text)


def set_remark(*, report: Report, user: User, key: str, text: str) -> None:
    """Set the remark at the end of a section; "" takes it away."""
    _set(report, user, "remarks", key, text)


def leave_out(*, report: Report, user: User, key: str) -> None:
    """Leave a section, figure or table out."""

    def change(edits: Json) -> None:
        edits["dropped"] = list(dict.fromkeys([*edits.get("dropped", ()), key]))

    services.change_edits(report=report, user=user, change=change)


def bring_back(*, report: Report, user: User, key: str) -> None:
    """Bring back what was left out."""

    def change(edits: Json) -> None:
        edits["dropped"] = [other for other in edits.get("dropped", ()) if other != key]

    services.change_edits(report=report, user=user, change=change)


def move(*, report: Report, user: User, keys: Sequence[str], key: str, by: int) -> None:
    """Move one of the sections, which stand in the order of `keys` now, up (-1) or down (1)."""
    rights.require(user, report.team, Role.OPERATOR)
    order = list(keys)
    if key not in order:
        raise ValidationError({"order": [_("There is no such section in the report.")]})
    place = order.index(key)
    order.insert(min(max(place + by, 0), len(order) - 1), order.pop(place))

    def change(edits: Json) -> None:
        edits["order"] = order

    services.change_edits(report=report, user=user, change=change)


def write_own(*, report: Report, user: User, key: str, title: str, text: str) -> None:
    """Set a section of the author's own; without a `key` a new one, without a title it is taken away."""

    def change(edits: Json) -> None:
        own: list[Json] = edits.setdefault("own", [])
        sections = {item["key"]: item for item in own}
        if key and key not in sections:
            raise ValidationError({"key": [_("There is no such section in the report.")]})
        if key and not title.strip():
            own.remove(sections[key])
            return
        last = max((int(name.partition("-")[2]) for name in sections), default=0)
        section = {"key": key or f"own-{last + 1}", "title": title.strip(), "text": text}
        if not section["title"]:
            raise ValidationError({"title": [_("A section needs a title.")]})
        if key:
            sections[key].update(section)
        else:
            own.append(section)

    services.change_edits(report=report, user=user, change=change)


def _set(report: Report, user: User, name: str, key: str, text: str) -> None:
    if len(text) > author_edits.LONGEST_TEXT:
        raise ValidationError(
            {"text": [_("This text is too long: %(most)s characters at most.") % {"most": "20,000"}]}
        )

    def change(edits: Json) -> None:
        texts: dict[str, str] = edits.setdefault(name, {})
        texts.pop(key, None)
        if text.strip():
            texts[key] = text.strip()

    services.change_edits(report=report, user=user, change=change)

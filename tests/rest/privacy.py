"""What Oscar keeps to himself in a team that has one of everything, and where an answer tells of it."""

import io
import re
import zipfile
from types import SimpleNamespace
from typing import Any

from django.utils import timezone

from apps.archive.models import Import
from apps.archive.search.entries import index_due
from apps.bench.text import Message
from apps.campaigns.models import Campaign
from apps.campaigns.services.notes import add_note, set_tags
from apps.reports import services as reports
from apps.tuning.models import Finding
from tests.campaigns import factories as make
from tests.results.factories import measure

WORD = "zqprivate"


def keep(team: Any) -> SimpleNamespace:
    """Return a draft and a measured campaign that only Oscar sees, and the words that nobody else may read."""
    cast, pair, now = team.cast, (team.a, team.b), timezone.now()
    called = {"name": f"{WORD} study", "goal": f"{WORD}-goal"}
    draft = make.campaign(cast, **called)
    make.experiment(draft, *pair, name=f"{WORD}-planned")
    measured = make.campaign(cast, **called)
    make.experiment(measured, *pair, name=f"{WORD}-done", factors=[{"name": "window", "expression": "77KiB"}])
    make.services.launch_campaign(campaign=measured, user=cast.oscar, now=make.NOW)
    for trial in measured.trials.all():
        measure(trial, goodput=7.7e8)
    measured.trials.update(state="succeeded")
    for campaign in (draft, measured):
        set_tags(campaign=campaign, user=cast.oscar, tags=[f"{WORD}-tag"])
        add_note(campaign=campaign, user=cast.oscar, text=f"{WORD}-note")
    title = Message("Ask for a window of %(window)s", {"window": WORD}).as_json()
    finding = Finding.objects.create(
        team=cast.team,
        campaign=measured,
        rule="tcp-window-knee",
        title=title,
        confidence=0.9,
        details={"evidence": []},
    )
    ended = {"state": "finished", "launched_at": now, "finished_at": now, "analysed_at": now}
    Campaign.objects.filter(pk=measured.pk).update(**ended)
    kept = Campaign.objects.filter(pk__in=[draft.pk, measured.pk])
    kept.update(visibility=Campaign.Visibility.PRIVATE)
    measured.refresh_from_db()
    report = reports.begin_report(campaign=measured, user=cast.oscar, language="en")
    Import.objects.create(
        team=cast.team, name=f"{WORD}.json", kind="outputs", state="done", campaign=measured, created_by=cast.oscar
    )
    index_due(now=now)
    words = [WORD, *kept.values_list("permanent_id", flat=True)]
    return SimpleNamespace(draft=draft, measured=measured, finding=finding, report=report, words=words)


def told(content: bytes, words: list[str], asked: str) -> str:
    """Return the surroundings of the first word that stands in an answer, "" of none; what was asked is no word."""
    texts = [content]
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            texts = [name.encode() + b"\n" + archive.read(name) for name in archive.namelist()]
    sought = [word for word in words if word.lower() not in asked.lower()]
    for text in texts if sought else ():
        if found := re.search("|".join(map(re.escape, sought)).encode(), text, re.IGNORECASE):
            return text[max(0, found.start() - 80) : found.end() + 40].decode(errors="replace")
    return ""

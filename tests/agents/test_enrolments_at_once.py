"""Enrolments at the same moment: a team has no more agents by them than one after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent
from tests import limits
from tests.agents import factories

pytestmark = pytest.mark.django_db(transaction=True)
ASKERS, MOST = 8, 3


def test_enrolments_at_once_do_not_pass_what_a_team_may_have(settings: Any) -> None:
    limits.bound(settings, MOST, "AGENTS_PER_TEAM")
    now = timezone.now()
    first = factories.node()
    nodes = [first, *(factories.node(first.team, f"n{number}") for number in range(ASKERS - 1))]
    texts = [
        services.issue_enrolment_token(node=node, user=factories.administrator(), now=now).text for node in nodes
    ]
    together = threading.Barrier(ASKERS)

    def enrol(text: str) -> str:
        try:
            connection.ensure_connection()
            together.wait(30)
            services.enrol_agent(token_text=text, version="1", now=now)
        except services.EnrolmentRefused as refusal:
            return refusal.code
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(ASKERS) as askers:
        codes = list(askers.map(enrol, texts))
    assert sorted(codes) == [""] * MOST + ["too-many-agents"] * (ASKERS - MOST)
    assert Agent.objects.filter(node__team=first.team, retired_at=None).count() == MOST

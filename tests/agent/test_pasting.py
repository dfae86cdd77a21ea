"""The command that the page shows, pasted into a shell."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import commands, services
from apps.agents.models import Agent
from apps.testbeds.models import Node
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("variant", ["curl", "python"])
def test_one_command_makes_an_agent_of_a_node(server: LiveServer, node: Node, home: Path, variant: str) -> None:
    issued = services.issue_enrolment_token(node=node, user=factories.administrator(), now=timezone.now())
    command = getattr(commands.of(server.url, issued.text, node), variant)
    place = home / "with blank"
    place.mkdir()
    shell = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=place,
        env={**os.environ, "FATHOM_AGENT_DIR": str(place / "agent")},
        start_new_session=True,
    )
    try:
        wait_for(Agent.objects.filter(node=node, last_seen_at__isnull=False, facts__isnull=False).first, 30)
        job = factories.job(node, "ping", "-c1", "127.0.0.1")
        wait_for(lambda: type(job).objects.get(pk=job.pk).exit_code == 0)
    finally:
        os.killpg(shell.pid, signal.SIGTERM)
        shell.wait(60)

"""What may be asked of the service for one node at one instant: one wins, and the others hear why."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, EnrolmentToken
from apps.testbeds.models import Node
from tests import rewriting
from tests.agents import factories
from tests.competing import WORKERS, at_once

pytestmark = pytest.mark.django_db(transaction=True)


def tokens(node: Node) -> Iterator[str]:
    """Return enrolment tokens of a node, as several people make them at once."""
    now = timezone.now()
    return iter(
        [
            services.issue_enrolment_token(node=node, user=factories.administrator(), now=now).text
            for _number in range(WORKERS)
        ]
    )


def test_tokens_of_one_node_that_are_spent_at_one_instant_make_one_agent() -> None:
    for _round in range(5):
        node = factories.node()
        texts = tokens(node)
        given = at_once(
            lambda texts=texts: services.enrol_agent(token_text=next(texts), version="1.2", now=timezone.now())
        )
        # Each is good, for the agent that the one before enrolled has not come to life; the last token holds.
        assert [type(one) for one in given] == [tuple] * WORKERS, given
        assert Agent.objects.filter(node=node).count() == 1
        assert EnrolmentToken.objects.filter(node=node, used_at=None).count() == 0


def test_a_token_is_spent_once() -> None:
    text = next(tokens(factories.node()))
    given = at_once(lambda: services.enrol_agent(token_text=text, version="1.2", now=timezone.now()))
    assert sum(isinstance(one, tuple) for one in given) == 1
    codes = {one.code for one in given if isinstance(one, services.EnrolmentRefused)}
    assert codes == {"used-token"}


def test_a_token_whose_node_goes_at_this_moment_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    node = factories.node()
    text = next(tokens(node))
    real = services.enrolment.secrets.matches

    def matches(*words: str) -> bool:
        rewriting.delete(Node.objects.filter(pk=node.pk))
        return real(*words)

    monkeypatch.setattr(services.enrolment.secrets, "matches", matches)
    with pytest.raises(services.EnrolmentRefused, match="was deleted"):
        services.enrol_agent(token_text=text, version="1.2", now=timezone.now())

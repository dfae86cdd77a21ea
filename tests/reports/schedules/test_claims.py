"""An address that a person writes into their own profile concerns their own account, and nobody else's."""

from types import SimpleNamespace

import pytest
from django.contrib import admin
from django.http import HttpRequest
from django.test import Client

from apps.accounts import consent
from apps.accounts.admin import PersonAdmin
from apps.accounts.consent import Consent
from apps.accounts.models import MailAddress
from tests import factories
from tests.factories import signed_in
from tests.reports.schedules.test_agreeing import public, standing  # noqa: F401  (public is a fixture)


@pytest.mark.parametrize("door", ["page", "rest"])
def test_a_claim_changes_nothing_for_another_whose_address_it_is(world: SimpleNamespace, door: str) -> None:
    bob, mallory = world.cast.bob, world.cast.charlie
    bob.email = "bob@corp.example"
    bob.save()
    for given in ("BOB@corp.example", "x@corp.example", ""):
        if door == "page":
            fields = {"email": given, "timezone": "UTC", "theme": "auto", "language": ""}
            assert signed_in(mallory).post("/accounts/profile/", fields).status_code == 302
        else:
            write = factories.bearer(mallory)
            assert Client().patch("/api/v1/me/", {"email": given}, "application/json", **write).status_code == 200
        assert standing(world, "bob@corp.example") == Consent.MEMBER
    # No row is left of what anybody may write as often as they like; and one's own, written otherwise, is no claim.
    assert not MailAddress.objects.exists()
    answer = Client().patch("/api/v1/me/", {"email": "Bob@Corp.example"}, "application/json", **factories.bearer(bob))
    assert answer.status_code == 200
    assert standing(world, "bob@corp.example") == Consent.MEMBER


def test_an_address_that_the_administrator_gives_counts_again(world: SimpleNamespace) -> None:
    bob = world.cast.bob
    bob.email = "own@corp.example"
    consent.claim(bob, before="")
    bob.save()
    assert standing(world, "own@corp.example") == Consent.UNASKED
    person = PersonAdmin(type(bob), admin.site)
    person.save_model(HttpRequest(), bob, SimpleNamespace(changed_data=["first_name"]), change=True)
    assert standing(world, "own@corp.example") == Consent.UNASKED
    person.save_model(HttpRequest(), bob, SimpleNamespace(changed_data=["email"]), change=True)
    assert standing(world, "own@corp.example") == Consent.MEMBER

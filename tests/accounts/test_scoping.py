"""Who may see and change what."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import RequestFactory
from pytest_django import DjangoAssertNumQueries

from apps.accounts import rights
from apps.accounts.models import Membership, Role
from apps.testbeds import models as testbeds
from tests import factories
from tests.factories import Cast


def test_a_member_sees_what_the_team_owns_and_a_stranger_does_not(cast: Cast) -> None:
    site = testbeds.Site.objects.create(team=cast.team, name="KISTI")
    for person in (cast.alice, cast.oscar, cast.bob):
        assert list(rights.visible(testbeds.Site.objects.all(), person)) == [site]
    assert not rights.visible(testbeds.Site.objects.all(), cast.charlie).exists()
    assert not rights.visible(testbeds.Site.objects.all(), AnonymousUser()).exists()


def test_a_superuser_sees_everything(cast: Cast) -> None:
    testbeds.Site.objects.create(team=cast.team, name="KISTI")
    root = factories.user("root", is_superuser=True)
    assert rights.visible(testbeds.Site.objects.all(), root).count() == 1
    assert rights.role_in(root, cast.team) == Role.MANAGER
    assert rights.teams_for(root, Role.MANAGER).count() == 2


def test_a_path_leads_to_the_team_through_other_rows(cast: Cast) -> None:
    site = testbeds.Site.objects.create(team=cast.team, name="KISTI")
    testbeds.Testbed.objects.create(team=cast.team, site=site, name="a")
    assert rights.visible(testbeds.Testbed.objects.all(), cast.bob, path="site__team").count() == 1
    assert rights.visible(testbeds.Testbed.objects.all(), cast.charlie, path="site__team").count() == 0


def test_a_row_is_seen_once_by_a_person_of_several_teams(cast: Cast) -> None:
    testbeds.Site.objects.create(team=cast.team, name="KISTI")
    Membership.objects.create(team=cast.other_team, user=cast.alice, role=Role.VIEWER)
    assert rights.visible(testbeds.Site.objects.all(), cast.alice).count() == 1


@pytest.mark.parametrize(
    ("name", "role", "allowed"),
    [
        ("bob", Role.VIEWER, True),
        ("bob", Role.OPERATOR, False),
        ("oscar", Role.OPERATOR, True),
        ("oscar", Role.MANAGER, False),
        ("alice", Role.MANAGER, True),
        ("alice", Role.VIEWER, True),
        ("charlie", Role.VIEWER, False),
    ],
)
def test_each_role_may_do_what_the_ones_below_it_may(cast: Cast, name: str, role: Role, allowed: bool) -> None:
    person = getattr(cast, name)
    assert rights.can(person, cast.team, role) is allowed
    assert (cast.team in rights.teams_for(person, role)) is allowed


def test_a_stranger_learns_nothing_and_a_low_role_learns_what_is_missing(cast: Cast) -> None:
    with pytest.raises(Http404):
        rights.require(cast.charlie, cast.team, Role.VIEWER)
    with pytest.raises(PermissionDenied, match="Your role in grid is viewer; this needs operator"):
        rights.require(cast.bob, cast.team, Role.OPERATOR)
    rights.require(cast.oscar, cast.team, Role.OPERATOR)


def test_who_is_not_signed_in_has_no_role_and_no_team(cast: Cast) -> None:
    assert rights.role_in(AnonymousUser(), cast.team) is None
    assert not rights.teams_for(AnonymousUser(), Role.VIEWER).exists()


def test_the_person_of_a_request_is_a_person(cast: Cast) -> None:
    request = RequestFactory().get("/")
    request.user = cast.alice
    assert rights.user_of(request) == cast.alice
    request.user = AnonymousUser()
    with pytest.raises(AssertionError):
        rights.user_of(request)


def test_asking_for_a_role_costs_one_query(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert rights.can(cast.alice, cast.team, Role.MANAGER)
    with django_assert_num_queries(1):
        assert list(rights.teams_for(cast.alice, Role.VIEWER)) == [cast.team]

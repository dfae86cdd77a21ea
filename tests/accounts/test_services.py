"""What changes people, teams and tokens."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.http import Http404
from django.utils import timezone

from apps.accounts import services
from apps.accounts.models import ApiToken, Membership, Role, Team, User
from tests import competing, factories
from tests.factories import Cast


def membership(cast: Cast, name: str) -> Membership:
    return Membership.objects.get(team=cast.team, user__username=name)


def test_who_makes_a_team_is_its_manager(cast: Cast) -> None:
    team = services.create_team(user=cast.charlie, name=" Pusan National University ")
    assert (team.name, team.slug) == ("Pusan National University", "pusan-national-university")
    assert Membership.objects.get(team=team).user == cast.charlie
    assert Membership.objects.get(team=team).role == Role.MANAGER


@pytest.mark.parametrize(
    ("name", "slug"), [("Grid!", "grid-2"), ("부산대학교", "team"), ("New", "new-2"), ("x" * 90, "x" * 40)]
)
def test_a_short_name_is_drawn_from_the_name_and_free(cast: Cast, name: str, slug: str) -> None:
    assert services.create_team(user=cast.charlie, name=name).slug == slug


def test_a_second_team_without_latin_letters_gets_a_number(cast: Cast) -> None:
    services.create_team(user=cast.charlie, name="부산대학교")
    assert services.create_team(user=cast.charlie, name="서울대학교").slug == "team-2"


@pytest.mark.parametrize(
    ("name", "slug", "field"),
    [("grid", "", "name"), ("", "", "name"), ("B", "grid", "slug"), ("B", "a b", "slug"), ("B", "new", "slug")],
)
def test_a_team_needs_a_name_and_a_short_name_of_its_own(cast: Cast, name: str, slug: str, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        services.create_team(user=cast.charlie, name=name, slug=slug)
    assert field in caught.value.message_dict
    assert Team.objects.count() == 2


def test_only_a_manager_renames_a_team(cast: Cast) -> None:
    with pytest.raises(PermissionDenied):
        services.update_team(team=cast.team, user=cast.oscar, name="KISTI")
    with pytest.raises(Http404):
        services.update_team(team=cast.team, user=cast.charlie, name="KISTI")
    services.update_team(team=cast.team, user=cast.alice, name="KISTI")
    cast.team.refresh_from_db()
    assert (cast.team.name, cast.team.slug) == ("KISTI", "grid")
    with pytest.raises(ValidationError):
        services.update_team(team=cast.team, user=cast.alice, name="strangers")


def test_others_than_managers_change_no_members(cast: Cast) -> None:
    for person, refusal in ((cast.oscar, PermissionDenied), (cast.bob, PermissionDenied), (cast.charlie, Http404)):
        with pytest.raises(refusal):
            services.change_role(membership=membership(cast, "alice"), user=person, role=Role.VIEWER)
        with pytest.raises(refusal):
            services.remove_member(membership=membership(cast, "alice"), user=person)


def test_the_last_manager_stays(cast: Cast) -> None:
    with pytest.raises(services.LastManager, match="without a manager"):
        services.remove_member(membership=membership(cast, "alice"), user=cast.alice)
    for role in (Role.VIEWER, Role.OPERATOR):
        with pytest.raises(services.LastManager):
            services.change_role(membership=membership(cast, "alice"), user=cast.alice, role=role)
    assert membership(cast, "alice").role == Role.MANAGER


def test_a_manager_goes_when_another_is_there(cast: Cast) -> None:
    services.change_role(membership=membership(cast, "oscar"), user=cast.alice, role=Role.MANAGER)
    services.remove_member(membership=membership(cast, "alice"), user=cast.alice)
    assert not Membership.objects.filter(team=cast.team, user=cast.alice).exists()


def test_everyone_may_leave(cast: Cast) -> None:
    services.remove_member(membership=membership(cast, "bob"), user=cast.bob)
    assert not Membership.objects.filter(team=cast.team, user=cast.bob).exists()


@pytest.mark.django_db(transaction=True)
def test_two_managers_who_leave_at_one_moment_do_not_both_go() -> None:
    cast = factories.cast()
    services.change_role(membership=membership(cast, "oscar"), user=cast.alice, role=Role.MANAGER)
    barrier = threading.Barrier(2)
    refused: list[str] = []

    def leave(person: User) -> None:
        own = membership(cast, person.username)
        barrier.wait()
        try:
            services.remove_member(membership=own, user=person)
        except services.LastManager:
            refused.append(person.username)
        finally:
            connection.close()

    threads = [threading.Thread(target=leave, args=[person]) for person in (cast.alice, cast.oscar)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert Membership.objects.filter(team=cast.team, role=Role.MANAGER).count() == 1


def test_a_token_is_kept_as_a_digest_only(cast: Cast) -> None:
    token, text = services.issue_token(user=cast.alice, name=" ci ", now=timezone.now())
    token.refresh_from_db()
    assert token.name == "ci"
    assert text.startswith(f"fth_api_{token.prefix}_")
    stored = ApiToken.objects.filter(pk=token.pk).values_list().get()
    assert text.rsplit("_", 1)[-1] not in str(stored)


def test_a_token_needs_a_name_and_a_future(cast: Cast) -> None:
    now = timezone.now()
    with pytest.raises(ValidationError) as caught:
        services.issue_token(user=cast.alice, name="  ", now=now)
    assert "name" in caught.value.message_dict
    with pytest.raises(ValidationError) as caught:
        services.issue_token(user=cast.alice, name="ci", expires_at=now - timedelta(seconds=1), now=now)
    assert "expires_at" in caught.value.message_dict


def test_a_token_is_revoked_once(cast: Cast) -> None:
    now = timezone.now()
    token, _text = services.issue_token(user=cast.alice, name="ci", now=now)
    services.revoke_token(token=token, now=now)
    services.revoke_token(token=token, now=now + timedelta(days=1))
    token.refresh_from_db()
    assert token.revoked_at == now


def revoked(user: User, parent: ApiToken) -> None:
    services.revoke_token(token=parent, now=timezone.now())


def all_revoked(user: User, _parent: ApiToken) -> None:
    services.revoke_tokens(user=user, now=timezone.now())


def another_password(user: User, _parent: ApiToken) -> None:
    user.set_password("another-one-7")
    user.save()
    services.revoke_tokens(user=user, now=timezone.now())


def closed(user: User, _parent: ApiToken) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("end", "with_token"),
    [(revoked, True), (all_revoked, True), (closed, True), (another_password, False), (closed, False)],
)
def test_no_token_is_made_with_what_ends_at_that_moment(
    end: Callable[[User, ApiToken], None], with_token: bool
) -> None:
    alice = factories.cast().alice
    parent, _text = services.issue_token(user=alice, name="parent", now=timezone.now())

    def mint() -> object:
        # As the request has read them before.
        person, key = User.objects.get(pk=alice.pk), ApiToken.objects.get(pk=parent.pk)
        return lambda: services.issue_token(
            user=person, name="child", now=timezone.now(), minted_by=key if with_token else None
        )

    given = competing.after(lambda: end(User.objects.get(pk=alice.pk), parent), mint)
    assert isinstance(given, PermissionDenied), given
    assert not ApiToken.objects.filter(name="child").exists()

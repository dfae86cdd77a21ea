"""Reports are mailed to who agreed: members, the administrator's domains, and addresses whose owners confirmed it."""

import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from apps.accounts import consent, post
from apps.accounts.consent import Consent, ConsentLink
from apps.accounts.mail_quotas import Sender
from apps.accounts.models import MailConsent, MailUsage, Membership, Team
from apps.config.settings.limits import MailRate
from apps.core import messages
from apps.reports.models import Delivery
from apps.reports.schedules import deliveries, report_mail, services
from tests import factories
from tests.factories import signed_in
from tests.reports.schedules.conftest import NOW, occurrence, schedule

STRANGER = "Stranger@elsewhere.example"
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.PUBLIC_URL = "https://fathom.example.org"


def delivered(world: SimpleNamespace, weekly: Any, now: Any = NOW) -> Delivery:
    """Return a delivery out of turn, as far as it came."""
    delivery = services.deliver_now(schedule=weekly, user=world.cast.oscar, now=now)
    for _step in range(2):
        deliveries.carry_on(delivery_id=delivery.pk, now=now)
    return Delivery.objects.get(pk=delivery.pk)


def standing(world: SimpleNamespace, address: str) -> Consent:
    [recipient] = consent.recipients_of(world.cast.team, [address])
    return recipient.standing


def link(team: Team) -> ConsentLink:
    return ConsentLink(STRANGER.lower(), team, team.pk)


def links(text: str) -> list[str]:
    return re.findall(r"https://fathom\.example\.org(/\S+)", text)


def test_a_stranger_gets_one_question_and_no_report_until_they_agree(world: SimpleNamespace) -> None:
    weekly = schedule(world, formats=[], recipients=["lead@example.org", STRANGER])
    delivery = delivered(world, weekly)
    assert (delivery.state, delivery.mailed) == ("done", ["lead@example.org"])
    assert STRANGER in messages.render(delivery.note)
    report, question = mail.outbox
    assert (report.to, question.to) == (["lead@example.org"], [STRANGER])
    assert "oscar of the team “grid”" in question.body and "“Daily”" in question.body
    assert "Quarter" not in question.subject + question.body and not question.attachments
    # Not again within a week, whatever is delivered by whomever.
    delivered(world, weekly, NOW + timedelta(hours=1))
    delivered(world, schedule(world, name="Second", formats=[], recipients=[STRANGER.lower()]), NOW)
    assert [message.to for message in mail.outbox[2:]] == [["lead@example.org"]]
    page = signed_in(world.cast.bob).get(weekly.get_absolute_url()).content.decode()
    assert "waits for their confirmation" in page and "Ask them" not in page
    confirm = links(question.body)[0]
    # Only looked at: programs that scan mails follow each link.
    assert Client().get(confirm).status_code == 200 and standing(world, STRANGER) == Consent.ASKED
    assert Client().post(confirm).status_code == 200 and standing(world, STRANGER) == Consent.CONFIRMED
    delivery = delivered(world, weekly, NOW + timedelta(hours=2))
    assert delivery.mailed == ["lead@example.org", STRANGER]


def test_nobody_agreed_is_a_state_of_its_own_and_a_series_is_mailed_once_somebody_has(world: SimpleNamespace) -> None:
    occurrence(world, NOW)
    weekly = schedule(world, report=None, series=world.series, formats=[], recipients=[STRANGER])
    later = NOW + timedelta(hours=3)
    assert delivered(world, weekly, later).state == "unmailed"
    consent.confirm(link(world.cast.team), later)
    assert delivered(world, weekly, later + timedelta(hours=1)).mailed == [STRANGER]
    assert delivered(world, weekly, later + timedelta(hours=2)).state == "skipped"


def test_a_week_later_they_may_be_asked_again_and_never_once_they_stopped_it(world: SimpleNamespace) -> None:
    weekly = schedule(world, recipients=[STRANGER])
    sender = Sender(world.cast.team, world.cast.oscar)
    times = [NOW, NOW + WEEK - timedelta(minutes=1), NOW + WEEK, NOW + WEEK]
    assert [report_mail.ask(STRANGER, weekly, at) for at in times] == [True, False, True, False]
    with pytest.raises(services.Refused, match="asked again after a week"):
        services.ask_again(schedule=weekly, user=world.cast.oscar, now=NOW + WEEK + timedelta(hours=1))
    consent.stop(link(world.cast.team), NOW, of_all=True)
    assert not report_mail.ask(STRANGER, weekly, NOW + 10 * WEEK)
    with pytest.raises(AssertionError):
        post.post(post.Mail("x", STRANGER, "x", "x"), sender=sender, now=NOW)
    assert len(mail.outbox) == 2


def test_questions_are_counted_and_limited_by_person(world: SimpleNamespace, settings: Any) -> None:
    settings.MAIL_LIMITS = {"asking": MailRate(2, 2)}
    weekly = schedule(world, recipients=[f"a{number}@elsewhere.example" for number in range(5)])
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW)
    assert len(mail.outbox) == 2
    assert MailUsage.objects.get(account="service").recipients == 2
    # Whoever was not asked, for it was too much, is asked on the next day.
    assert MailConsent.objects.filter(asked_at=NOW, asking_since=None).count() == 2
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW + timedelta(days=1))
    assert len(mail.outbox) == 4


def test_a_question_that_could_not_be_sent_was_not_asked(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    weekly = schedule(world, recipients=[STRANGER])
    monkeypatch.setattr(post.EmailMessage, "send", lambda _self: (_ for _ in ()).throw(ConnectionRefusedError()))
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW)
    assert standing(world, STRANGER) == Consent.UNASKED
    # Nothing was taken, nothing is counted, and it is tried again at once.
    assert not MailUsage.objects.filter(recipients__gt=0).exists()
    monkeypatch.undo()
    assert report_mail.ask(STRANGER, weekly, NOW)


def test_a_question_at_which_a_worker_died_is_asked_again_soon(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    weekly = schedule(world, recipients=[STRANGER])
    # As kill -9 leaves it: begun, and nothing after.
    consent.begin_asking(STRANGER, world.cast.team, NOW)
    assert standing(world, STRANGER) == Consent.UNASKED
    assert not report_mail.ask(STRANGER, weekly, NOW + timedelta(minutes=9))
    assert report_mail.ask(STRANGER, weekly, NOW + timedelta(minutes=10))
    assert not report_mail.ask(STRANGER, weekly, NOW + timedelta(minutes=30))
    assert len(mail.outbox) == 1

    def interrupted(_self: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(post.EmailMessage, "send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report_mail.ask("second@elsewhere.example", weekly, NOW)
    monkeypatch.undo()
    assert report_mail.ask("second@elsewhere.example", weekly, NOW)


def test_each_team_asks_for_itself_and_all_together_three_times_a_week(world: SimpleNamespace) -> None:
    cast = world.cast
    teams = [cast.team, *(factories.team(f"team{number}", manager=cast.oscar) for number in range(3))]

    def asked(team: Team, now: Any) -> bool:
        return post.ask(post.Mail("x", STRANGER, "x", "x"), sender=Sender(team, cast.oscar), now=now)

    assert [asked(team, NOW) for team in teams] == [True, True, True, False]
    consent.confirm(link(teams[0]), NOW)
    [first, second, _third, fourth] = [consent.recipients_of(team, [STRANGER])[0] for team in teams]
    assert (first.is_mailed, second.standing, fourth.standing) == (True, Consent.ASKED, Consent.UNASKED)
    # No end of a team makes room.
    Team.objects.filter(pk=teams[1].pk).delete()
    assert not asked(teams[3], NOW + WEEK - timedelta(minutes=1))
    assert asked(teams[3], NOW + WEEK)


def test_whoever_may_not_write_any_more_has_nobody_asked(world: SimpleNamespace) -> None:
    weekly = schedule(world, recipients=[STRANGER])
    Membership.objects.filter(user=world.cast.oscar).update(role="viewer")
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW)
    assert not mail.outbox


def test_an_address_is_one_however_it_is_spelt(world: SimpleNamespace, settings: Any) -> None:
    weekly = schedule(world, recipients=["Kim@bücher.example", "kim@XN--BCHER-KVA.example", "kim@Bücher.example"])
    assert weekly.recipients == ["Kim@bücher.example"]
    # One that was saved before.
    weekly.recipients = ["kim@bücher.example", "kim@xn--bcher-kva.example"]
    weekly.save()
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW)
    assert len(mail.outbox) == 1
    settings.MAIL_DOMAINS = ("bücher.example",)
    weekly.formats = []
    weekly.save()
    assert delivered(world, weekly).mailed == ["kim@bücher.example"]
    assert len(mail.outbox) == 2


@pytest.mark.parametrize("name", ["evil.com/prize", "evil。com", "https://evil.com", "www.evil.com", "x@evil.com"])
def test_no_name_is_an_address_of_a_page_in_a_mail(world: SimpleNamespace, name: str) -> None:
    team = world.cast.team
    team.name = name
    team.save()
    delivered(world, schedule(world, name=name, formats=[], recipients=["lead@example.org", STRANGER]))
    report, question = mail.outbox
    for text in (report.body, question.body, question.subject):
        assert "evil" in text
        assert not re.search(r"evil[.。]\S|[/@.]evil", text)


def test_saving_a_schedule_has_its_strangers_asked_and_its_page_asks_them_again(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(services.queue, "send", lambda task, *given: sent.append((task, *given)))
    weekly = schedule(world, recipients=[STRANGER])
    assert sent == [(services.queue.ASK_RECIPIENTS, weekly.pk)]
    address, client = f"/reports/schedules/{weekly.pk}/ask/", signed_in(world.cast.oscar)
    assert "Ask them" in client.get(weekly.get_absolute_url()).content.decode()
    assert (
        "not confirmed: asked with the next mail"
        in client.get(f"/reports/schedules/{weekly.pk}/edit/").content.decode()
    )
    assert "being asked" in client.post(address, follow=True).content.decode()
    assert [signed_in(person).post(address).status_code for person in (world.cast.bob, world.cast.charlie)] == [
        403,
        404,
    ]
    rest, write = f"/api/v1/report-schedules/{weekly.pk}/", factories.bearer(world.cast.oscar)
    assert Client().post(f"{rest}ask/", **write).status_code == 202
    assert len(sent) == 3
    [told] = Client().get(f"{rest}recipients/", **factories.bearer(world.cast.bob)).json()
    assert (told["address"], told["standing"], told["is_mailed"]) == (STRANGER, "unasked", False)
    assert Client().post(f"{rest}ask/", **factories.bearer(world.cast.bob)).status_code == 403
    for name in ("ask", "recipients"):
        method = Client().post if name == "ask" else Client().get
        assert method(f"{rest}{name}/", **factories.bearer(world.cast.charlie)).status_code == 404
    report_mail.ask_recipients(schedule_id=weekly.pk, now=NOW)
    assert "There is nobody to ask now" not in client.post(address, follow=True).content.decode()


def test_members_and_allowed_domains_are_not_asked(world: SimpleNamespace, settings: Any) -> None:
    bob = world.cast.bob
    bob.email = "Bob@lab.example"
    bob.save()
    assert standing(world, "bob@LAB.example") == Consent.MEMBER
    assert standing(world, "a@sub.example.org") == Consent.UNASKED
    settings.MAIL_DOMAINS = ("lab.example",)
    assert standing(world, "other@lab.example") == Consent.DOMAIN
    settings.MAIL_DOMAINS = ()
    bob.is_active = False
    bob.save()
    assert standing(world, "bob@lab.example") == Consent.UNASKED
    bob.is_active = True
    bob.save()
    Membership.objects.filter(user=bob).delete()
    assert standing(world, "bob@lab.example") == Consent.UNASKED
    settings.PUBLIC_URL = ""
    assert standing(world, "bob@lab.example") == Consent.UNASKABLE
    assert not report_mail.ask("bob@lab.example", schedule(world, recipients=[]), NOW)


@pytest.mark.parametrize("door", ["page", "rest"])
def test_an_address_that_a_person_gives_themselves_is_asked_like_any_other(world: SimpleNamespace, door: str) -> None:
    oscar = world.cast.oscar
    if door == "page":
        fields = {"email": STRANGER, "timezone": "UTC", "theme": "auto", "language": ""}
        assert signed_in(oscar).post("/accounts/profile/", fields).status_code == 302
    else:
        answer = Client().patch("/api/v1/me/", {"email": STRANGER}, "application/json", **factories.bearer(oscar))
        assert answer.status_code == 200
    oscar.refresh_from_db()
    assert oscar.email == STRANGER
    assert standing(world, STRANGER) == Consent.UNASKED
    consent.confirm(link(world.cast.team), NOW)
    assert standing(world, STRANGER) == Consent.CONFIRMED


def test_each_report_names_team_and_schedule_and_has_a_link_that_stops_it(world: SimpleNamespace) -> None:
    delivered(world, schedule(world, formats=[], recipients=["lead@example.org"]))
    [report] = mail.outbox
    assert "Sent by the schedule “Daily” of grid." in report.body
    [*_others, stop] = links(report.body)
    assert report.extra_headers["List-Unsubscribe"] == f"<https://fathom.example.org{stop}>"
    assert report.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    # As a program of mail does: no cookie, no page before it.
    answer = Client(enforce_csrf_checks=True).post(stop, {"List-Unsubscribe": "One-Click"})
    assert answer.status_code == 200
    assert standing(world, "lead@example.org") == Consent.STOPPED
    assert consent.recipients_of(world.cast.other_team, ["lead@example.org"])[0].is_mailed


def test_no_name_becomes_a_header_or_a_page_that_a_stranger_is_shown(world: SimpleNamespace) -> None:
    evil = "x\r\nBcc: victim@example.org\n\nhttps://evil.example www.evil.example " + "y" * 100
    weekly = schedule(world, formats=[], recipients=["lead@example.org", STRANGER])
    weekly.name = evil
    weekly.save()
    team = world.cast.team
    team.name = evil[:100]
    team.save()
    world.report.title = evil
    world.report.save()
    weekly.refresh_from_db()
    assert delivered(world, weekly).mailed == ["lead@example.org"]
    for message in mail.outbox:
        raw = message.message().as_string()
        head, _blank, _body = raw.partition("\n\n")
        assert "\nBcc:" not in head and "\nbcc:" not in head
        assert message.recipients() == message.to
    question = mail.outbox[1]
    assert "://evil" not in question.body + question.subject and "www.evil" not in question.body
    assert all(len(line) < 400 for line in question.body.splitlines() if "token=" not in line)

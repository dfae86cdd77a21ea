"""Bodies that are held open: nobody keeps memory or the disk for little, and all of it comes back."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from apps.core import bodies, intake, room, scratch, space, web
from apps.core.limits import crowds
from tests.core.test_bodies import Answered, scope_of

MIB = room.MIB
KIB = 1024
# Of each kind of address; what is sent there is read by nobody, for it never comes to its end.
PATHS = ("/api/v1/inventory/", "/api/v1/imports/", "/imports/new/", "/accounts/login/", "/campaigns/new/")


@pytest.fixture(autouse=True)
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[None]:
    """Have rooms of 3 MiB for a sender, and 8 MiB for all; nothing is left in them."""
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path)
    monkeypatch.setattr(intake, "MEMORY_OF_SENDER", 3 * MIB)
    monkeypatch.setattr(intake, "memory", room.Room(8 * MIB, "all", intake.Crowded))
    monkeypatch.setattr(intake, "disk", room.Room(2**60, "all", intake.Crowded))
    monkeypatch.setattr(bodies, "LINGER_S", 0.05)
    yield
    for each in (intake.memory, intake.disk):
        assert (each.size, each._shares, dict(each._taken)) == (0, set(), {})


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have senders signed in as the person whom their head names."""
    monkeypatch.setattr(web, "_sender_of", lambda head: head.get(b"x-person", b"").decode())


def begin(path: str, size: int, *, person: str = "", address: str = "10.0.0.1", is_whole: bool = False) -> Any:
    """Send so much of a body, and never the rest, if there is one; return (task, answered)."""
    pieces = iter([{"type": "http.request", "body": b"x" * size, "more_body": not is_whole}])
    answered = Answered()

    async def receive() -> Any:
        for piece in pieces:
            return piece
        answered.is_awaited = True
        return await asyncio.Event().wait()

    scope = scope_of("POST", path, (b"content-length", b"100000000" if "import" in path else b"8000000"))
    scope["headers"] += [(b"x-person", person.encode())]
    scope["client"] = (address, 1)
    if not person:
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        scope["headers"] += [(b"transfer-encoding", b"chunked")]
    return asyncio.create_task(web.PageHandler().handle(scope, receive, answered)), answered


async def settle(*begun: Any) -> None:
    """Wait until each of them has come as far as it will, or was answered, and then what others made of that."""
    for _turn in range(1000):
        if all(answered.is_awaited or answered.is_ended for _task, answered in begun):
            break
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    for _task, answered in begun:
        for _turn in range(500):
            if bool(answered.status) == answered.is_ended:
                break
            await asyncio.sleep(0.02)


async def end(*begun: Any) -> None:
    for task, _answered in begun:
        task.cancel()
    await asyncio.gather(*(task for task, _answered in begun), return_exceptions=True)


@pytest.mark.parametrize("path", PATHS)
async def test_of_one_sender_so_much_is_held(path: str, people: None) -> None:
    person = "" if "login" in path else "person 7"
    size = 7 * KIB if not person else 900 * KIB
    most = 3 * MIB // max(size, room.LEAST)
    begun = [begin(path, size, person=person) for _number in range(most + 3)]
    await settle(*begun)
    refused = [answered for _task, answered in begun if answered.status]
    assert [answered.status for answered in refused] == [429] * 3
    assert all(answered.is_ended for answered in refused)
    # Others are not kept out by it.
    other = begin(path, size, person=person and "person 8", address="10.0.0.2")
    await settle(other)
    assert other[1].status == 0
    await end(*begun, other)


async def test_a_person_has_one_share_at_all_addresses_and_an_address_gives_way(
    people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = [begin(PATHS[0], 900 * KIB, person="person 7", address=f"10.0.0.{n}") for n in range(4)]
    await settle(*begun)
    assert sorted(answered.status for _task, answered in begun) == [0, 0, 0, 429]
    monkeypatch.setattr(room, "GRACE_S", 0.0)
    later = begin(PATHS[0], 900 * KIB, person="person 7")
    await settle(later)
    assert sorted(answered.status for _task, answered in begun) == [0, 0, 429, 503]
    assert later[1].status == 0
    await end(*begun, later)


async def test_where_it_is_full_the_slowest_of_all_gives_way(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = [begin(PATHS[0], 1900 * KIB - 100 * KIB * n, person=f"person {n}") for n in range(4)]
    await settle(*begun)
    refused = begin(PATHS[0], 2400 * KIB, person="person 9")
    await settle(refused)
    assert refused[1].status == 503 and refused[1].headers[b"Retry-After"]
    monkeypatch.setattr(room, "GRACE_S", 0.0)
    taken = begin(PATHS[0], 2400 * KIB, person="person 10")
    await settle(taken)
    assert [answered.status for _task, answered in begun] == [0, 0, 0, 503]
    assert taken[1].status == 0
    await end(*begun, taken, refused)


async def test_what_lies_on_the_disk_takes_no_memory_and_counts_together(
    people: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "UPLOAD_MOST_BYTES", 101_000_000)
    big = 5 * MIB
    monkeypatch.setattr(space, "free_bytes", lambda: space.RESERVE_BYTES + space.COPIES * 100_000_000 + 2 * big)
    begun = [begin(PATHS[1], big, person="person 7") for _number in range(2)]
    await settle(*begun)
    assert [answered.status for _task, answered in begun] == [0, 0]
    assert (intake.disk.size, intake.memory.size) == (2 * big, 2 * room.LEAST)
    # There would be room for this one alone, and is for those that lie there.
    monkeypatch.setattr(space, "free_bytes", lambda: space.RESERVE_BYTES + space.COPIES * 100_000_000 + big)
    third = begin(PATHS[1], big, person="person 7")
    await settle(third)
    assert intake.disk.size == 2 * big
    await end(*begun, third)


async def test_of_one_person_so_much_lies_on_the_disk(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LARGEST_OF_SENDER", 1)
    monkeypatch.setattr(settings, "UPLOAD_MOST_BYTES", 100_000_001)
    first = begin(PATHS[1], 60 * MIB, person="person 7")
    await settle(first)
    second = begin(PATHS[2], 60 * MIB, person="person 7")
    other = begin(PATHS[2], 60 * MIB, person="person 8")
    await settle(second, other)
    assert (first[1].status, second[1].status, other[1].status) == (0, 429, 0)
    assert list(scratch.folder().glob("[!l]*")) == []
    await end(first, second, other)


@pytest.mark.parametrize("is_whole", [False, True], ids=["while they come", "while they wait for their turns"])
async def test_a_few_who_fill_it_make_room_for_one_more(is_whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def person(sender: web._Sender) -> str:
        return sender.head[b"x-person"].decode()

    waited = set()

    async def wait_once(turn: crowds.Turn) -> None:
        if is_whole and turn not in waited:
            waited.add(turn)
            await asyncio.Event().wait()

    monkeypatch.setattr(web._Sender, "_look_up", person)
    monkeypatch.setattr(crowds.Turn, "take", wait_once)
    people = [f"person {number}" for number in range(3) for _body in range(3)]
    begun = [begin(PATHS[0], 900 * KIB, person=each, is_whole=is_whole) for each in people]
    await asyncio.sleep(0.2)
    assert [answered.status for _task, answered in begun] == [0] * 9
    for number in (3, 4):
        begun.append(begin(PATHS[0], 900 * KIB, person=f"person {number}", is_whole=is_whole))
        await asyncio.sleep(0.2)
    assert sorted(answered.status for _task, answered in begun) == [0] * 9 + [503] * 2
    # Nobody lost two, and who came with less lost nothing.
    ended = {each for each, (_task, answered) in zip(people, begun, strict=False) if answered.status}
    assert len(ended) == 2
    # Who has as much as the others gains nothing by sending more.
    begun += [begin(PATHS[0], 900 * KIB, person="person 3", is_whole=is_whole) for _body in range(2)]
    await asyncio.sleep(0.2)
    if not is_whole:
        assert begun[-1][1].status == 503
    await end(*begun)


@pytest.mark.parametrize("path", PATHS)
async def test_what_comes_in_drops_is_given_up(path: str, people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PACES", dict.fromkeys(bodies.BodyKind, bodies.BodyPace(0.1, 256 * KIB)))
    sent = 0

    async def receive() -> Any:
        nonlocal sent
        sent += 1
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    scope = scope_of("POST", path, (b"transfer-encoding", b"chunked"), (b"x-person", b"person 7"))
    answered = Answered()
    await asyncio.wait_for(web.PageHandler().handle(scope, receive, answered), 20)
    assert answered.status == 408
    assert sent < 200


@pytest.mark.parametrize("kind", bodies.BodyKind)
async def test_no_body_comes_for_ever(kind: bodies.BodyKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "BODY_MOST_S", 0.05)
    sent = 0

    async def receive() -> Any:
        nonlocal sent
        sent += 1
        await asyncio.sleep(0.005)
        return {"type": "http.request", "body": b"x", "more_body": sent < 400}

    allowance = bodies.Allowance(kind)
    with pytest.raises(bodies.BodyStalled, match="BODY_MOST_S"):
        async for _piece in bodies.pieces(receive, 0, allowance):
            pass
    assert sent < 400
    # Whoever sent much has the time of each part of it.
    monkeypatch.setattr(bodies, "PER_BYTES", 1)
    sent = 390
    assert len([piece async for piece in bodies.pieces(receive, 0, allowance)]) == 10


async def test_what_comes_on_is_taken(people: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PACES", dict.fromkeys(bodies.BodyKind, bodies.BodyPace(0.05, 10)))
    left = 30

    async def receive() -> Any:
        nonlocal left
        left -= 1
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x" * 100, "more_body": left > 0}

    scope = scope_of("POST", PATHS[0], (b"transfer-encoding", b"chunked"), (b"x-person", b"person 7"))
    sender = web._Sender(scope, receive)
    try:
        kept = await web.PageHandler().read_body(sender)
        assert (kept.refusal, len(kept.read())) == (None, 3000)
    finally:
        sender.intake.close()

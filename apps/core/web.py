"""What surrounds the pages and the WebSockets of a web process, and how it takes what is sent."""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import IO, Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

from apps.core import bodies, endings, intake, outage, request_threads, scratch, space, views
from apps.core.connections import give_back, give_back_connection, on_wait
from apps.core.limits import crowds
from apps.core.limits.askers import ALIVE, address_in

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

# "Try again later" (RFC 6455's registry of close codes).
_TRY_AGAIN_LATER = 1013
# What a request has, if its body was not taken.
_REFUSAL = "body_refusal"
# After so many bytes of a body the free room on the disk is looked at again.
_LOOK_EVERY_BYTES = 4 * 1024 * 1024


class _Sender:
    """Whoever sends a request, and what its head says of the body."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self.address = address_in(str((scope.get("client") or ("",))[0]))
        self.intake = intake.Intake(self.address)
        self.scope, self.head = scope, dict(scope.get("headers", ()))
        self.length = bodies.announced_bytes(self.head)
        self.kind = self.head.get(b"content-type", b"").decode("latin-1")
        self.has_body = self.length > 0 or b"transfer-encoding" in self.head
        # By which it may say who it is.
        self.credentials = self.head.get(b"authorization", b""), self.head.get(b"cookie", b"")
        # Its place among those of its address that are in hand.
        self.turn = self.new_turn()
        # Its body was not read to the end.
        self.is_cut = False

    async def __call__(self) -> Any:
        """Return the next message; none, if what comes is the rest of a body that nobody wants."""
        if self.is_cut:
            await asyncio.Event().wait()
        return await self._receive()

    def body(self) -> AsyncIterator[bytes]:
        """Yield the body's pieces, within the limit of its address and sender."""
        return bodies.pieces(
            self._receive, self.length, bodies.Allowance(bodies.BodyKind.NOTHING, self._kind_of_body)
        )

    async def _kind_of_body(self) -> bodies.BodyKind:
        method, path = self.scope["method"], self.scope["path"]
        # Nobody is looked up for an address that takes nothing.
        kind = bodies.kind_of(method, path, is_known=False)
        if kind is not bodies.BodyKind.NOTHING and (sender := await self._look_up()):
            kind = bodies.kind_of(method, path, is_known=True)
            self.intake.belong_to(sender)
        return kind

    def new_turn(self) -> crowds.Turn:
        """Return a place among those of its address, or of whoever it shows that sends it."""
        return crowds.of_process.turn_of(self.address, self.scope["path"], *self.credentials)

    async def _look_up(self) -> str:
        """Return who sends it, once few of its address are looked up; CrowdedError if that takes too long."""
        turn = self.new_turn()
        try:
            await turn.take()
            return await sync_to_async(_sender_of)(self.head)
        except crowds.CrowdedError:
            self.is_cut = True
            raise
        finally:
            turn.give_back()


def _sender_of(head: Mapping[bytes, bytes]) -> str:
    """Return who sends a request, "" if nobody who is known here; Unanswerable while that cannot be told."""
    try:
        outage.watch.refuse()
        sender: str = import_string(settings.SENDER_CHECK)(head)
    except Exception as error:
        if not outage.is_unavailability(error):
            raise
        outage.watch.note(error)
        raise bodies.Unanswerable from error
    finally:
        # The rest of the body may take long, or never come.
        give_back()
    return sender


class PageHandler(ASGIHandler):
    """Django's handler, which takes a body into our own folder, or to its end without storing it if there is no room.

    Whoever sends it would read no answer before. More than may come (core.bodies) is not read to its end. All that is
    asked on the way to the answer is asked in one thread: each change of it costs as much as a query.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Load what is asked before a view, to be called as views are."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer, which the thread of the request comes to."""
        try:
            return await sync_to_async(self._answer_of)(request)
        finally:
            request_threads.leave()

    def _answer_of(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            # Its reader may take it as slowly as they like, and Django would keep the connection until they have it.
            give_back_connection()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        sender = _Sender(scope, receive)
        closing = bodies.Closing(receive, send)
        if scope["path"] == ALIVE:
            # No thread is waited for, and no turn; of a body nothing is read.
            request = self.request_class(dict(scope), io.BytesIO())
            await self.send_response(views.alive(request), closing if sender.has_body else send)
            return
        turn = sender.turn
        loop = asyncio.get_running_loop()
        on_wait.set(lambda: loop.call_soon_threadsafe(turn.give_back))
        crowds.step_turn.set(lambda: sender.new_turn().of_step())

        async def answer(message: Any) -> None:
            # Whoever reads it slowly keeps nobody waiting.
            turn.give_back()
            if message.get("status") == HTTPStatus.UNAUTHORIZED:
                crowds.of_process.forget(*sender.credentials)
            await (closing if sender.is_cut else send)(message)

        with contextlib.closing(sender.intake), contextlib.ExitStack() as ends:
            ends.callback(turn.give_back)
            try:
                if not sender.has_body:
                    await turn.take()
                await super().handle(dict(scope), sender, answer)
            except crowds.CrowdedError as error:
                await self.send_response(crowds.refusal(scope["path"], error), answer)

    async def read_body(self, receive: Any) -> IO[bytes]:
        """Return the body; one that was not taken is empty, and has the reason as `refusal`."""
        spool = _Spool(receive.length, receive.kind, receive.intake)
        try:
            with receive.intake.while_it_comes() if receive.has_body else contextlib.nullcontext():
                async for piece in receive.body():
                    spool.write(piece)
                # Whose bodies fill the room while they wait for their turns lets others in, too.
                receive.intake.note_end()
                await receive.turn.take()
        except bodies.HungUp:
            spool.file.close()
            raise RequestAborted from None
        except bodies.RefusedBody as refusal:
            receive.is_cut = True
            spool.give_up(refusal)
        except BaseException:
            spool.file.close()
            raise
        body = spool.end()
        try:
            # It may come for long: what has one is in hand from here on only, before the first thread is asked for.
            await receive.turn.take()
        except crowds.CrowdedError:
            body.close()
            raise
        return body

    def create_request(self, scope: Scope, body_file: Any) -> Any:
        """Return the request, which knows whether its body was taken, and the answer to one that is none.

        Of a body that came in pieces the length is known now: without one nobody would read it.
        """
        headers = list(scope["headers"])
        if body_file.bytes_taken and not bodies.announced_bytes(dict(headers)):
            headers.append((b"content-length", b"%d" % body_file.bytes_taken))
        request, answer = super().create_request({**scope, "headers": headers}, body_file)
        if request is not None:
            setattr(request, _REFUSAL, body_file.refusal)
        return request, answer


class _Spool:
    """A body on its way to a file without a name, as long as there is room."""

    def __init__(self, length: int, kind: str, taken: intake.Intake) -> None:
        self._intake = taken
        self.file = scratch.new_spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)
        self._length, self._kind = length, kind
        self._size, self._next_look = 0, _LOOK_EVERY_BYTES
        self._refusal: Exception | None = space.refusal(length, kind, taken.others)

    def write(self, piece: bytes) -> None:
        """Take a piece, or drop it if there is no room."""
        if self._refusal is not None:
            return
        self._size += len(piece)
        self._intake.grow(self._size)
        try:
            if self._size >= self._next_look:
                self._next_look = self._size + _LOOK_EVERY_BYTES
                space.check_rest(self._size, self._kind, self._intake.others)
            self.file.write(piece)
        except (OSError, space.NoSpaceError) as failure:
            if not space.is_missing(failure):
                raise
            self.give_up(space.NoSpaceError(space.COPIES * self._length))

    def give_up(self, refusal: Exception) -> None:
        """Drop what came, and whatever comes."""
        self._refusal = refusal
        self._intake.drop()
        # It would write the rest now.
        with contextlib.suppress(OSError):
            self.file.close()
        self.file = scratch.new_spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)

    def end(self) -> IO[bytes]:
        """Return the file, to be read from its beginning; its `refusal` says why it is empty, if it is."""
        try:
            self.file.seek(0)
        except OSError as failure:
            if not space.is_missing(failure):
                raise
            self.give_up(space.NoSpaceError(space.COPIES * self._length))
        self.file.refusal = self._refusal
        self.file.bytes_taken = 0 if self._refusal is not None else self._size
        file: IO[bytes] = self.file
        return file


def refusal_of(request: HttpRequest) -> Exception | None:
    """Return why what a request brings cannot be taken, None if it can."""
    if hasattr(request, _REFUSAL):
        error: Exception | None = getattr(request, _REFUSAL)
        return error
    length = str(request.META.get("CONTENT_LENGTH") or "")
    return space.refusal(int(length) if length.isdigit() else 0, request.content_type or "")


class ReturningConnections:
    """Has each request give back what it holds, whichever way it ends: its database connection, what it sends from.

    Django does so when it closes the response, which it never comes to if there is none, or it cannot be sent.
    """

    def __init__(self, pages: Application) -> None:
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with contextlib.closing(request_threads.RequestThread()) as thread:
            request_threads.of_request.set(thread)
            # Django's handler joins this context: its one thread is the request's.
            async with ThreadSensitiveContext(executor=thread):
                try:
                    with endings.called():
                        await self._pages(scope, receive, send)
                except BaseException:
                    await sync_to_async(give_back)()
                    raise


class RefusingWhileAway:
    """Closes a WebSocket that cannot be opened while the database or the broker is away; its page asks again."""

    def __init__(self, sockets: Application) -> None:
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        try:
            outage.watch.refuse()
            await self._sockets(scope, receive, send)
        except Exception as error:
            if not outage.is_unavailability(error):
                raise
            outage.watch.note(error)
            await send({"type": "websocket.close", "code": _TRY_AGAIN_LATER})

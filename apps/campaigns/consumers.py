"""The WebSocket of a campaign's page: it says what changed, and the page fetches that with its own rights."""

import asyncio
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.db import DatabaseError
from django.http import HttpRequest

from apps.accounts.owners import owners_of
from apps.bench import strict_json
from apps.campaigns import live, queries
from apps.core.limits.fair_places import Owners
from apps.core.limits.open_sockets import TOO_MANY
from apps.core.looks import Looks

# Changes are gathered for so long, so that a page is told of them at most twice a second.
GATHER_S = 0.5
# A viewer who is told nothing is looked at this often: may they still see the campaign?
LOOK_S = 15.0
# Why a socket is closed, as static/js/campaign.js reads it: who opened it is signed out, or may not see it any more.
SIGNED_OUT = 4401
NOT_SHARED = 4403
# The database is away: the page comes again.
AWAY = 1013


@dataclass(frozen=True)
class Viewer:
    """Why whoever has a session may not see a campaign, 0 if they may, and who it is."""

    refusal: int
    owners: Owners


def _look(key: tuple[str, int]) -> Viewer:
    """Return who has a session, which is read anew, and whether they may see a campaign."""
    session_key, campaign = key
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    if not user.is_authenticated:
        return Viewer(SIGNED_OUT, Owners(""))
    may_see = queries.campaigns_for(user).filter(pk=campaign).exists()
    return Viewer(0 if may_see else NOT_SHARED, owners_of(user))


# One look for all sockets of a session on one campaign.
looks = Looks(_look)


class CampaignConsumer(AsyncWebsocketConsumer):
    """One viewer of one campaign, for as long as they are signed in and may see it.

    Sends ``{"kinds": ["trial", ...], "experiments": [ids]}``; what a viewer sends is ignored.
    """

    async def connect(self) -> None:
        """Let in who may see the campaign; anybody else is refused before the connection is accepted."""
        self.kinds: set[str] = set()
        self.experiments: set[int] = set()
        self.gathering: asyncio.Task[None] | None = None
        self.looking: asyncio.Task[None] | None = None
        self.group = ""
        self.campaign_id: int = self.scope["url_route"]["kwargs"]["pk"]
        viewer = await self._viewer()
        # Who comes to see the page may look for long.
        self.scope["turn"].give_back()
        if viewer.refusal:
            await self.close()
            return
        if not self.scope["held"].belong_to(viewer.owners):
            await self.accept()
            await self.close(code=TOO_MANY)
            return
        self.group = live.group_of(self.campaign_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        self.looking = asyncio.create_task(self._look_now_and_then())

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        for task in (self.gathering, self.looking):
            if task:
                task.cancel()
        await self._leave()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Ignore what a viewer sends: there is nothing to say."""

    async def campaign_changed(self, message: dict[str, Any]) -> None:
        """Keep what changed and, if nothing else is being gathered, send it soon."""
        if not self.group:
            return
        self.kinds.add(message["kind"])
        if "experiment" in message["ids"]:
            self.experiments.add(message["ids"]["experiment"])
        if self.gathering is None or self.gathering.done():
            self.gathering = asyncio.create_task(self._send_soon())

    async def _send_soon(self) -> None:
        while self.kinds:
            await asyncio.sleep(GATHER_S)
            if not await self._is_let_in():
                return
            kinds, experiments = sorted(self.kinds), sorted(self.experiments)
            self.kinds.clear()
            self.experiments.clear()
            await self.send(strict_json.dumps({"kinds": kinds, "experiments": experiments}))

    async def _look_now_and_then(self) -> None:
        is_let_in = True
        while is_let_in:
            await asyncio.sleep(LOOK_S)
            is_let_in = await self._is_let_in(within_s=LOOK_S / 2)

    async def _is_let_in(self, *, within_s: float = 0.0) -> bool:
        """Return whether the viewer may go on; the socket of one who may not is closed."""
        try:
            code = (await self._viewer(within_s)).refusal
        except DatabaseError:
            code = AWAY
        if code and self.group:
            await self._leave()
            await self.close(code=code)
        return not code

    async def _leave(self) -> None:
        group, self.group = self.group, ""
        if group:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def _viewer(self, within_s: float = 0.0) -> Viewer:
        return await looks.ask((self.scope["session_key"], self.campaign_id), within_s=within_s)

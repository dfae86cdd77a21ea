"""The WebSocket of a campaign's page: it says what changed, and the page fetches that with its own rights."""

import asyncio
from importlib import import_module
from typing import Any

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError

from apps.accounts.models import User
from apps.campaigns import live, queries

# Changes are gathered for so long, so that a page is told of them at most twice a second.
GATHER_S = 0.5
# A viewer who is told nothing is looked at this often: may they still see the campaign?
LOOK_S = 15.0
# Why a socket is closed, as static/js/campaign.js reads it: who opened it is signed out, or may not see it any more.
SIGNED_OUT = 4401
NOT_SHARED = 4403
# The database is away: the page comes again.
AWAY = 1013


class CampaignConsumer(AsyncJsonWebsocketConsumer):
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
        if await self._refusal():
            await self.close()
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
            await self.send_json({"kinds": kinds, "experiments": experiments})

    async def _look_now_and_then(self) -> None:
        is_let_in = True
        while is_let_in:
            await asyncio.sleep(LOOK_S)
            is_let_in = await self._is_let_in()

    async def _is_let_in(self) -> bool:
        """Return whether the viewer may go on; the socket of one who may not is closed."""
        try:
            code = await self._refusal()
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

    async def _refusal(self) -> int:
        """Return why the viewer may not see the campaign now, 0 if they may: the session is read anew."""
        session = import_module(settings.SESSION_ENGINE).SessionStore(self.scope["session"].session_key)
        user = await get_user({"session": session})
        if not user.is_authenticated:
            return SIGNED_OUT
        return 0 if await self._may_see(user) else NOT_SHARED

    @database_sync_to_async
    def _may_see(self, user: User) -> bool:
        return queries.campaigns_for(user).filter(pk=self.campaign_id).exists()

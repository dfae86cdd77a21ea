"""The WebSocket of a campaign's page: it says what changed, and the page fetches that with its own rights."""

import asyncio
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from apps.campaigns import live, queries

# Changes are gathered for so long, so that a page is told of them at most twice a second.
GATHER_S = 0.5


class CampaignConsumer(AsyncJsonWebsocketConsumer):
    """One viewer of one campaign.

    Sends ``{"kinds": ["trial", ...], "experiments": [ids]}``; what a viewer sends is ignored.
    """

    async def connect(self) -> None:
        """Let in who may see the campaign; anybody else is refused before the connection is accepted."""
        self.kinds: set[str] = set()
        self.experiments: set[int] = set()
        self.gathering: asyncio.Task[None] | None = None
        self.group = ""
        campaign_id = self.scope["url_route"]["kwargs"]["pk"]
        if not await self._may_see(campaign_id):
            await self.close()
            return
        self.group = live.group_of(campaign_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.gathering:
            self.gathering.cancel()
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Ignore what a viewer sends: there is nothing to say."""

    async def campaign_changed(self, message: dict[str, Any]) -> None:
        """Keep what changed and, if nothing else is being gathered, send it soon."""
        self.kinds.add(message["kind"])
        if "experiment" in message["ids"]:
            self.experiments.add(message["ids"]["experiment"])
        if self.gathering is None or self.gathering.done():
            self.gathering = asyncio.create_task(self._send_soon())

    async def _send_soon(self) -> None:
        while self.kinds:
            await asyncio.sleep(GATHER_S)
            kinds, experiments = sorted(self.kinds), sorted(self.experiments)
            self.kinds.clear()
            self.experiments.clear()
            await self.send_json({"kinds": kinds, "experiments": experiments})

    @database_sync_to_async
    def _may_see(self, campaign_id: int) -> bool:
        return queries.campaigns_for(self.scope["user"]).filter(pk=campaign_id).exists()

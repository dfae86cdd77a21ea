"""WebSocket addresses."""

from django.urls import path

from apps.campaigns import consumers

websocket_urlpatterns = [path("ws/campaigns/<int:pk>/", consumers.CampaignConsumer.as_asgi())]

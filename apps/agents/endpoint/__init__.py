"""The agents' HTTP endpoints, answered outside Django's handler: a poll that waits holds no thread."""

from apps.agents.endpoint.app import AgentEndpoint

__all__ = ["AgentEndpoint"]

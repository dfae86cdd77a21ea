"""A tool without code for the pictures: openssl speed, defined over REST, in two versions."""

from typing import Any

from launch.demo.rest import Rest

DEFINITION: dict[str, Any] = {
    "name": "OpenSSL speed",
    "summary": "How fast one core digests blocks of data.",
    "program": "openssl",
    "arguments": ["speed", "-seconds {duration}", "-bytes {block}", "-evp {digest}"],
    "parameters": [
        {"name": "digest", "kind": "choice", "label": "Digest", "choices": ["sha256", "sha512"], "default": "sha256"},
        {"name": "block", "kind": "size", "label": "Block", "default": "16 KiB", "minimum": "16 B"},
        {"name": "duration", "kind": "duration", "label": "Duration", "default": "1 s", "maximum": "60 s"},
    ],
    "time_limit_s": "20 s",
    "time_limit_adds": "duration",
    "takes_adds": "duration",
    "failure": "is an unknown cipher or digest",
    "version": r"^version: ([\d.]+)",
    "metrics": [{"name": "speed", "label": "Throughput", "unit": "kB/s", "where": r"^\w+ +(\d+\.\d+)k$"}],
}


def define(api: Rest) -> dict[str, int | str]:
    """Define the tool and change it once; return its id and the number of its first version."""
    tool = api.post("team-tools/", {"slug": "site-digest", "definition": DEFINITION})
    stricter = {**DEFINITION, "conditions": ["speed > 1 MB/s"]}
    api.post("team-tools/site-digest/versions/", {"definition": stricter, "note": "Refuse implausible rates"})
    return {"tool": tool["id"], "tool_number": 1}

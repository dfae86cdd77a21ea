"""Carries out a campaign that a file describes, on a running service, and prints what came of it: a client of REST.

The nodes, clusters and file systems that the file names are found in the service's inventory by their names.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from lab.machine import LabError

Json = dict[str, Any]
_POLL_S = 1.0
# What becomes of trials: how the service counts it, and in words.
_ENDS = {"measured": "measured", "failed": "failed", "not_measured": "not measured"}
_ENDED = ("finished", "cancelled")


class Service:
    """A running service at an address, called with a token."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address.rstrip("/")
        self._token = token

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        """Make one request below /api/v1/ and return the answer's JSON; LabError holds what was refused."""
        request = urllib.request.Request(  # noqa: S310
            f"{self.address}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                text = answer.read()
        except urllib.error.HTTPError as error:
            refusal = error.read().decode(errors="replace")[:2000]
            raise LabError(f"{method} {path}: {error.code} {refusal}") from error
        except (urllib.error.URLError, TimeoutError) as error:
            raise LabError(f"{method} {path}: {getattr(error, 'reason', error)}") from error
        return json.loads(text) if text else None

    def every(self, path: str) -> Iterator[Json]:
        """Yield the rows of all pages of a list."""
        page = 1
        while True:
            joint = "&" if "?" in path else "?"
            answer = self.call("GET", f"{path}{joint}page_size=500&page={page}")
            yield from answer["results"]
            if not answer["next"]:
                return
            page += 1

    def names(self, kind: str) -> dict[str, int]:
        """Return {name: id} of everything of a kind."""
        return {row["name"]: row["id"] for row in self.every(f"{kind}/")}


def find_service(var: Path) -> Service:
    """Return the service that runs on a var folder, with the token of its demo account; LabError if there is none."""
    try:
        address = json.loads((var / "run" / "state.json").read_text(encoding="utf-8"))["address"]
        token = json.loads((var / "demo.json").read_text(encoding="utf-8"))["token"]
    except (OSError, ValueError, KeyError) as error:
        raise LabError(
            f"No service with a demo account runs on {var}: start one (make serve LAB=lab/storage.yaml), or name "
            f"another by --url and --token."
        ) from error
    return Service(address, token)


def read_campaign(path: Path) -> Json:
    """Return the content of a campaign's file; LabError if it is none."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise LabError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("experiments"), list) or "name" not in content:
        raise LabError(f"{path}: write a name, a goal and a list of experiments.")
    return content


def run(service: Service, content: Json, say: Callable[[str], None]) -> bool:
    """Define the campaign, launch it, wait for its end and say what it measured; True if every trial succeeded."""
    inventory = {kind: service.names(kind) for kind in ("nodes", "clusters", "file-systems")}
    try:
        bodies = [_body(experiment, inventory) for experiment in content["experiments"]]
    except LabError as error:
        written_for = f" The campaign is written for lab/{content['lab']}.yaml." if "lab" in content else ""
        raise LabError(f"{error}{written_for}") from error
    campaign = service.call("POST", "campaigns/", {"name": content["name"], "goal": content.get("goal", "")})
    for body in bodies:
        service.call("POST", "experiments/", {"campaign": campaign["id"], **body})
    service.call("POST", f"campaigns/{campaign['id']}/launch/")
    say(f"{content['name']}: watch it at {service.address}/campaigns/{campaign['id']}/")
    earlier = ""
    while True:
        campaign = service.call("GET", f"campaigns/{campaign['id']}/")
        progress = campaign["progress"]
        line = ", ".join(f"{progress[key]} {words}" for key, words in _ENDS.items() if progress[key])
        if line != earlier:
            earlier = line
            say(f"  of {progress['total']} trials: {line}")
        if campaign["state"] in _ENDED:
            break
        time.sleep(_POLL_S)
    for experiment in service.every(f"experiments/?campaign={campaign['id']}"):
        for text in _result_lines(service, experiment):
            say(text)
    return bool(campaign["state"] == "finished" and progress["measured"] == progress["total"] > 0)


def _body(experiment: Json, inventory: dict[str, dict[str, int]]) -> Json:
    """Return an experiment as REST takes it: names become ids, values texts, factors a list."""
    body = dict(experiment)
    body["roles"] = [
        {"role": role, **_player(name, inventory)}
        for role, names in experiment["roles"].items()
        for name in (names if isinstance(names, list) else [names])
    ]
    if "file_system" in experiment:
        body["file_system"] = _id(experiment["file_system"], inventory["file-systems"], "file system")
    body["fixed"] = {name: str(value) for name, value in experiment.get("fixed", {}).items()}
    factors = experiment.get("factors", {})
    body["factors"] = [{"name": name, "expression": str(expression)} for name, expression in factors.items()]
    return body


def _player(name: str, inventory: dict[str, dict[str, int]]) -> Json:
    if name in inventory["nodes"]:
        return {"node": inventory["nodes"][name]}
    return {"cluster": _id(name, inventory["clusters"], "node or cluster")}


def _id(name: str, ids: dict[str, int], kind: str) -> int:
    if name not in ids:
        raise LabError(f"The service knows no {kind} called {name}; it knows {', '.join(ids) or 'none'}.")
    return ids[name]


def _result_lines(service: Service, experiment: Json) -> Iterator[str]:
    results = service.call("GET", f"experiments/{experiment['id']}/results/")
    what = f"{results['metric']} in {results['unit'] or '1'} by {results['x']}"
    yield f"  {experiment['name']} ({experiment['tool']}): {what}"
    for group in results["groups"]:
        mean = "none" if group["mean"] is None else f"{group['mean']:.6g}"
        others = "".join(f", {name} {value}" for name, value in group["others"].items())
        yield f"    {group['x']}{others}: {mean} (n = {group['n']})"
    if results["left_out"]:
        yield f"    {results['left_out']} invalid measurements are left out"
    failed = list(service.every(f"trials/?experiment={experiment['id']}&state=failed"))
    for trial in failed[:5]:
        yield f"    trial {trial['id']} failed: {(trial['reason'] or {}).get('message', 'see its page')}"

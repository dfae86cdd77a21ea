"""The demo from start to end, in the terminal."""

import contextlib
import http.client
import json

from apps.core.whole_files import write_whole
from launch import home, service, signals, supervisor
from launch.demo import agents, campaign, ground, inventory
from launch.demo.rest import Rest, RestError

USER = "demo"
TEAM = "Demo"
# For so long (s) a service that is away, or too busy, is asked again: its supervisor sees to it.
PATIENCE_S = 120.0


def run(*, port: int | None, once: bool) -> int:
    """Measure the sample campaign and show it; serve on unless `once`. 0 if every trial succeeded."""
    own = home.Home(home.default_folder())
    with contextlib.ExitStack() as ends:
        place = _ground(*ends.enter_context(ground.standing_lab(home.ROOT, own)))
        running = service.Service(own, port=port, binds=[place.server_host], with_agents=False)
        ends.enter_context(signals.stop_on_signals(running.supervisor))
        ends.enter_context(running)
        try:
            succeeded = _measure(running, rest_of(running, account(running), patience_s=PATIENCE_S), place)
        except RestError as error:
            if once:
                raise
            _say(f"the sample campaign could not be carried out: {error}; stop with Ctrl-C and run make demo again")
            succeeded = False
        if not once:
            supervisor.print_event("demo", f"serving on at {running.address} (Ctrl-C stops it)")
            running.wait()
    return 0 if succeeded else 1


def rest_of(running: service.Service, token: str, *, patience_s: float = 0.0) -> Rest:
    """Return a client of a service, which waits for it no longer than for its stop."""
    stopping = running.supervisor
    return Rest(running.address, token, patience_s=patience_s, report=_say, is_over=lambda: stopping.is_stopping)


def _say(words: str) -> None:
    supervisor.print_event("demo", words)


def _measure(running: service.Service, api: Rest, place: ground.Ground) -> bool:
    """Describe the sites, start their agents, carry the campaign out and print it; True if every trial succeeded."""
    if place.is_lab:
        running.supervisor.add(ground.lab_process(home.ROOT, running.home))
    nodes = inventory.describe(api, place)
    for agent in agents.prepare(api, place, nodes, running.home.agents):
        running.supervisor.add(agent.process())
    campaign.wait_for_agents(api, {nodes[item.name] for item in place.places})
    if left := campaign.cancel_left_over(api):
        supervisor.print_event("demo", f"cancelled the unfinished sample campaign of an earlier run ({left})")
    launched = campaign.define(api, nodes[place.client.name], nodes[place.server.name])
    supervisor.print_event("demo", f"measuring {place.words}: {place.client.name} to {place.server.name}")
    supervisor.print_event("demo", f"watch it at {running.address}/campaigns/{launched['id']}/")
    ended = campaign.watch(api, launched)
    print("\n" + campaign.report(api, ended) + "\n", flush=True)
    progress = ended["progress"]
    return bool(ended["state"] == "finished" and progress["measured"] == progress["total"] > 0)


def _ground(state: ground.Json | None, reason: str) -> ground.Ground:
    """Return the emulated sites if this machine can have them, else two of its own addresses; say which."""
    if state is None:
        supervisor.print_event("demo", f"no emulated link here ({reason}); measuring on the loopback interface")
        return ground.loopback()
    return ground.of_lab(state)


def account(running: service.Service) -> str:
    """Make the demo's account at the first start, print its sign-in, and return a REST token that works."""
    file = running.home.folder / "demo.json"
    ask = ("create_account", "--username", USER, "--team", TEAM)
    lines = running.first_account(username=USER, team=TEAM)
    for line in lines or running.manage(*ask, again=["--renew-unused"]).splitlines():
        supervisor.print_event("sign-in", line)
    running.home.note_account()
    if file.exists():
        token: str = json.loads(file.read_text(encoding="utf-8"))["token"]
        if _is_in_force(rest_of(running, token, patience_s=PATIENCE_S)):
            return token
    token = running.manage("create_token", "--username", USER, "--name", "make demo").strip()
    write_whole(file, json.dumps({"token": token}))
    return token


def _is_in_force(api: Rest) -> bool:
    """Say whether a token still works: somebody may have revoked it since, or it has expired."""
    try:
        api.get("me/")
    except RestError as error:
        if error.status != http.client.UNAUTHORIZED:
            raise
        return False
    return True

"""`make screenshots`: take every picture into var/screenshots, and fail if a page complained."""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from launch import commands, home, service, signals, supervisor
from launch.demo import agents, campaign, ground, rest
from launch.embedded import EmbeddedError
from launch.ports import PortError
from launch.process import ProcessError
from launch.screenshots import browser, camera, pages, stage

README_PICTURE = home.ROOT / "docs" / "images" / "campaign.png"
EXPECTED = (
    home.HomeError,
    PortError,
    EmbeddedError,
    ProcessError,
    commands.ManageError,
    agents.AgentError,
    campaign.DemoError,
    rest.RestError,
    browser.BrowserError,
)


def main(wanted: list[str]) -> int:
    """Take the pictures whose names hold one of the words (all without any); 1 if something was wrong.

    README=1 renews the picture of README.md too.
    """
    browser.executable()
    folder = home.default_folder() / "screenshots"
    shots = [shot for shot in pages.all_shots() if not wanted or any(word in shot.name for word in wanted)]
    with tempfile.TemporaryDirectory(prefix="fathom-screenshots-") as name:
        var = Path(name)
        # Jobs of agents run as another user, who has to pass through.
        var.chmod(0o711)
        own = home.Home(var)
        with contextlib.ExitStack() as ends:
            state, _reason = ends.enter_context(ground.standing_lab(home.ROOT, own))
            place = ground.loopback() if state is None else ground.of_lab(state)
            running = service.Service(own, binds=[place.server_host], with_agents=False)
            ends.enter_context(signals.stop_on_signals(running.supervisor))
            ends.enter_context(running)
            supervisor.print_event("pictures", f"measuring {place.words} first")
            ready = stage.prepare(running, place)
            os.environ.update(running.env)
            complaints = [f"{view}: a page without a picture" for view in pages.forgotten(pages.all_shots())]
            if not wanted:
                shutil.rmtree(folder, ignore_errors=True)
            complaints += camera.take(ready, shots, folder)
            if os.environ.get("README") == "1":
                camera.take_readme(ready, README_PICTURE)
    for text in complaints:
        print(f"fathom: {text}", file=sys.stderr)
    supervisor.print_event("pictures", f"{len(shots)} pages, {len(complaints)} complaints, in {folder}")
    return 1 if complaints else 0


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except (supervisor.Stopped, KeyboardInterrupt):
        status = 130
    except EXPECTED as error:
        print(f"fathom: {error}", file=sys.stderr)
        status = 1
    sys.exit(status)

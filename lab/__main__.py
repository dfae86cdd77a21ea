"""The lab's command line: python -m lab up FILE | down | status | exec NODE -- COMMAND | campaign FILE."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from lab import campaign, emulator, interrupts, life, machine, spec
from lab.fields import LabFileError
from lab.machine import LabError
from lab.quantities import format_quantity
from lab.state import Place, State

_DEFAULT_STATE = Path(__file__).resolve().parents[1] / "var" / "lab"


def main(arguments: list[str] | None = None) -> int:
    """Carry out one command and return the exit status: 0 done, 1 refused or not up, 2 misused."""
    options = _parser().parse_args(arguments)
    place = Place(options.state)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        match options.command:
            case "up":
                return _up(options, place)
            case "down":
                return _down(options, place)
            case "status":
                return _status(place)
            case "campaign":
                return _campaign(options)
            case _:
                return _exec(options, place)
    except (LabError, LabFileError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lab: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--state", type=Path, default=_DEFAULT_STATE, metavar="DIR", help="where a lab keeps its state"
    )
    parser = argparse.ArgumentParser(
        prog="python -m lab", description="Sites on one machine, joined by emulated lines."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", parents=[common], help="build a lab, or mend it if it is up")
    up.add_argument("file", type=Path, help="the lab's YAML file")
    up.add_argument("--emulator", choices=emulator.KINDS, default="auto", help="auto: C if there is a compiler")
    up.add_argument("--hold", action="store_true", help="stay, mend links that die, and take the lab down at the end")
    down = commands.add_parser("down", parents=[common], help="take the lab down, and what a killed one left")
    down.add_argument(
        "--orphaned", action="store_true", help="at the end of standard input; not if a line comes first"
    )
    commands.add_parser("status", parents=[common], help="say whether the lab is up and its links alive")
    measure = commands.add_parser("campaign", help="carry out a campaign file on a running service")
    measure.add_argument("file", type=Path, nargs="+", help="YAML files such as lab/campaigns/gridftp.yaml")
    measure.add_argument("--url", help="the service's address (else the one that runs on var/)")
    measure.add_argument("--token", default=os.environ.get("TOKEN", ""), help="a REST token (else TOKEN, or demo's)")
    measure.set_defaults(state=_DEFAULT_STATE)
    run = commands.add_parser("exec", parents=[common], help="run a command on a node")
    run.add_argument("node", help="the name of a node or switch")
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")
    return parser


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(line: str) -> None:
    print(line, flush=True)


def _need_rights() -> None:
    reason = machine.possible()
    if reason:
        raise LabError(reason)


def _up(options: argparse.Namespace, place: Place) -> int:
    lab = spec.read_lab(options.file)
    _need_rights()
    if not options.hold:
        life.bring_up(lab, place, kind=options.emulator, parent=0, say=_say)
        return 0
    try:
        state = life.bring_up(lab, place, kind=options.emulator, parent=os.getpid(), say=_say)
        _hold(lab, place, state)
    except KeyboardInterrupt:
        life.take_down(place, say=_say)
    except LabError:
        life.take_down(place, say=_say)
        raise
    return 0


def _hold(lab: spec.Lab, place: Place, state: State) -> None:
    """Mend the lab's links until a signal comes; return if another command has taken the lab down.

    LabError if a link cannot be mended.
    """
    while True:
        time.sleep(1)
        with place.locked(), interrupts.held():
            current = place.read_state()
            if current is None or current["built_at"] != state["built_at"]:
                _say("the lab was taken down or built anew by another command")
                return
            life.mend(lab, place, current, parent=os.getpid(), say=_say)


def _down(options: argparse.Namespace, place: Place) -> int:
    if options.orphaned and sys.stdin.readline():
        return 0
    _need_rights()
    life.take_down(place, say=_say)
    _say("no lab is up")
    return 0


def _status(place: Place) -> int:
    state = place.read_state()
    if state is None:
        _say("no lab is up")
        return 1
    carries = emulator.carries(place.interface_prefix)
    _say(f"lab {state['lab']} ({state['file']}); this machine is {state['management']['address']}")
    for node in state["nodes"]:
        _say(f"node {node['name']} ({node['site']}): {', '.join(node['data_addresses'])} in {node['netns']}")
    emulated = [link for link in state["links"] if link["kind"] == "emulated"]
    dead = [link for link in emulated if link["pid"] is not None and not carries(link["pid"])]
    for link in emulated:
        rate, rtt = format_quantity(link["capacity_bps"], "rate"), format_quantity(link["rtt_s"], "duration")
        how = "the kernel's netem" if link["pid"] is None else f"process {link['pid']}"
        condition = "DEAD; up mends it" if link in dead else how
        _say(f"link {' - '.join(link['between'])}: {rate}, RTT {rtt}, MTU {link['mtu']}: {condition}")
    for item in state["file_systems"]:
        _say(f"file system {item['name']} ({item['kind']}): {item['path']} on {', '.join(item['clients'])}")
    if state["slurm"]:
        _say(f"slurm: {', '.join(state['slurm']['nodes'])}; jobs are submitted on {state['slurm']['login']}")
    gone = life.dead_services(state)
    if gone:
        _say(f"DEAD: {', '.join(gone)}; up builds the lab anew")
    return 1 if dead or gone else 0


def _campaign(options: argparse.Namespace) -> int:
    contents = [campaign.read_campaign(file) for file in options.file]
    var = Path(os.environ.get("FATHOM_VAR", _DEFAULT_STATE.parent))
    service = campaign.Service(options.url, options.token) if options.url else campaign.find_service(var)
    succeeded = [campaign.run(service, content, _say) for content in contents]
    return 0 if all(succeeded) else 1


def _exec(options: argparse.Namespace, place: Place) -> int:
    argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
    state = place.read_state()
    if state is None:
        raise LabError(f"No lab is up in {place.folder}: python -m lab up FILE.")
    # It starts in the folder in which it was typed in.
    here = ["env", "-C", str(Path.cwd())]
    homes = {item["name"]: [*item["prefix"], *here] for item in state["nodes"]}
    homes |= {item["name"]: ["ip", "netns", "exec", item["netns"]] for item in state["switches"]}
    if options.node not in homes:
        raise LabError(f"The lab {state['lab']} has no node {options.node}; it has {', '.join(homes)}.")
    if not argv:
        raise LabError(f"Say what to run on {options.node}: python -m lab exec {options.node} -- ping -c 3 ADDRESS.")
    _need_rights()
    words = [*homes[options.node], *argv]
    os.execvp(words[0], words)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main())

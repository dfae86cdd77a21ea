"""A pytest plugin: `--workers N` collects once, forks N workers, and has them carry the tests out side by side.

To import and collect more than ten thousand tests takes half a minute of a processor, and half a gigabyte: here one
process does it for all. Tests of one `xdist_group` stay together, in one worker and in their order. Fixtures of
session scope are set up in each worker; `config.workerinput["workerid"]` names it, as pytest-django expects.
"""

from collections.abc import Generator

import pytest

from tests import rotation
from tests.running import hooks, summary
from tests.running.controller import Controller


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command say how many workers there are."""
    help_text = "carry the tests out in N processes, forked once all is collected"
    parser.getgroup("running").addoption("--workers", type=int, default=0, metavar="N", help=help_text)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let other plugins prepare each worker."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known; refuse what cannot be done in several processes."""
    config.addinivalue_line("markers", "xdist_group(name): tests of one group run in one worker, one after the other")
    if config.option.workers and config.option.usepdb:
        raise pytest.UsageError("--pdb talks to one process: leave --workers out.")
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("The tests have workers of their own: say --workers N instead of -n N.")


def pytest_report_header() -> str:
    """Say which part of the long walks is taken."""
    return rotation.words()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the dear files whose turn it is not, unless files were asked for by name."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    resting = [item for item in items if rotation.rests(item.nodeid.partition("::")[0])]
    if resting:
        config.hook.pytest_deselected(items=resting)
        left_out = set(resting)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Carry out what was collected, unless pytest's own loop is to do (or refuse) it."""
    option = session.config.option
    is_refused = session.testsfailed and not option.continue_on_collection_errors
    if not option.workers or option.collectonly or is_refused:
        return None
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        # Tests of many files end in turn: the name of each one's file would fill the screen.
        reporter.showfspath = False
    Controller(session, option.workers).run()
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show a failure once more where Python could not: 3.11 miscounts where another thread parses code, too.

    Without it the whole run ended there, and told nothing of the test (python/cpython#106905).
    """
    try:
        return (yield)
    except SystemError:
        return pytest.TestReport.from_item_and_call(item, call)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what each folder came to, where there are so many tests that several workers have shared them."""
    if config.option.workers:
        terminalreporter.section("folders")
        for line in summary.lines(terminalreporter.stats):
            terminalreporter.write_line(line)

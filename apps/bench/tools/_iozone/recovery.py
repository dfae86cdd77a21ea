"""The parameters that an IOzone report from an archive was made with."""

from apps.bench.outputs import reconstruction, texts
from apps.bench.toolkit import Output, Tool, Value
from apps.bench.tools._iozone import workbook
from apps.bench.tools._iozone.command import UnknownOption, apart, words_of
from apps.bench.tools._iozone.report import IozoneUnreadable, read_report

_COMMAND = "Command line used: "
# A parameter of ours, and the test whose figure says that it was run.
_TESTS = {"read": "read", "random": "random_read", "backward": "backward_read", "strided": "strided_read"}


def recover(tool: Tool, output: Output) -> dict[str, Value]:
    """Return the parameters as far as the argv and the report tell; the last point stands for a report of several."""
    text = texts.read_text(output)
    is_workbook = workbook.is_workbook(output.stdout)
    try:
        argv = workbook.command_of(output.stdout) if is_workbook else _argv_in(text) or list(output.argv)
        report = workbook.read_workbook(output.stdout) if is_workbook else read_report(text)
    except IozoneUnreadable:
        argv, report = list(output.argv), None
    try:
        argv = apart(argv)
    except UnknownOption:
        argv = []
    parameters: dict[str, Value] = {}
    if reconstruction.is_known(argv):
        options = reconstruction.read_options(
            argv,
            {"-s": "file_size", "-r": "record_size", "-t": "threads", "-j": "stride"},
            {"-I": "direct", "-o": "sync"},
        )
        parameters |= options
        # A bare number is in kB here.
        for name in ("file_size", "record_size"):
            if str(parameters.get(name, "")).isdecimal():
                parameters[name] = f"{parameters[name]}K"
        parameters["retest"] = "-+n" not in argv
    if report is None:
        return reconstruction.keep_valid(tool, parameters)
    parameters |= {"direct": report.direct} if report.has_banner else {}
    if report.points:
        last = report.points[-1]
        parameters |= {"threads": last.processes} if last.processes else {}
        parameters |= {"file_size": last.file_size, "record_size": last.record_size} if last.file_size else {}
        done = {metric for point in report.points for metric, value in point.figures.items() if value > 0}
        parameters |= {name: metric in done for name, metric in _TESTS.items()}
        parameters["retest"] = bool(done & {"rewrite", "reread"})
    return reconstruction.keep_valid(tool, parameters)


def _argv_in(text: str) -> list[str]:
    line = next((line for line in text.splitlines() if _COMMAND in line), "")
    return words_of(line.partition(_COMMAND)[2])

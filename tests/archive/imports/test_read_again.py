"""What was imported is read again like what was measured here, and stays what it is."""

from io import StringIO
from types import SimpleNamespace

from django.core.management import call_command

from apps.results.models import Result
from apps.testbeds.models import Node
from tests import rewriting
from tests.archive.imports import sending


def reread(*arguments: str) -> str:
    out = StringIO()
    call_command("reread", *arguments, stdout=out)
    return out.getvalue()


def test_outputs_that_were_imported_are_read_alike_and_keep_where_they_come_from(
    cast: SimpleNamespace, ends: list[Node]
) -> None:
    names = ("iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json", "iperf3-tcp/winsweep_pnu/w1M_cubic_r0.json", "ping/ok.txt")
    imported = sending.send(cast, {"a.zip": sending.zipped({name: sending.recording(name) for name in names})})
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]})
    sending.store(imported)
    told = reread()
    assert "read again: 3; without raw output: 0; changed: 0" in told, told
    result = Result.objects.filter(tool="iperf3-tcp").order_by("pk")[0]
    rewriting.update(Result.objects.filter(pk=result.pk), tool_version="0.9")
    reread("--apply", "--reason", "Mended")
    again = Result.objects.get(pk=result.pk)
    assert (again.edition, again.tool_version) == (2, result.tool_version)
    assert again.observed == result.observed
    assert "imported" in again.observed

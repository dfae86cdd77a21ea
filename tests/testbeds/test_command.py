"""The command that takes inventories in and out."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.testbeds import inventory, models
from tests import factories as people
from tests.testbeds import factories

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("inventory", *arguments, stdout=out)
    return out.getvalue()


def test_it_loads_the_example() -> None:
    people.team("grid")
    assert "88 created or changed, 0 the same." in run("example", "--team", "grid")
    assert models.Cluster.objects.filter(name="GPFS_PDAISY").exists()
    assert "0 created or changed, 88 the same." in run("example", "--team", "grid")


def test_it_says_what_it_would_do() -> None:
    people.team("grid")
    assert "created site: KISTI" in run("example", "--team", "grid", "--dry-run")
    assert not models.Site.objects.exists()


def test_it_exports_and_imports_a_file(tmp_path: Path) -> None:
    team, other = people.team("grid"), people.team("other")
    inventory.load_example(team=team)
    file = tmp_path / "inventory.yaml"
    run("export", str(file), "--team", "grid")
    run("import", str(file), "--team", "other")
    assert inventory.export_inventory(team=other) == file.read_text()
    assert run("export", "--team", "grid") == file.read_text()


def test_it_reads_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    people.team("grid")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"sites: [{name: KISTI}]")))
    assert "created site: KISTI" in run("import", "-", "--team", "grid")


def test_it_names_what_is_wrong_and_stores_nothing(tmp_path: Path) -> None:
    people.team("grid")
    file = tmp_path / "inventory.yaml"
    file.write_text("sites:\n- name: s\n- place: x\n")
    with pytest.raises(CommandError, match="Line 3, sites, name: this field is needed"):
        run("import", str(file), "--team", "grid")
    file.write_bytes(b"\xff")
    with pytest.raises(CommandError, match="not UTF-8 text"):
        run("import", str(file), "--team", "grid")
    assert not models.Site.objects.exists()


def test_it_names_an_unknown_team_and_the_ones_there_are() -> None:
    with pytest.raises(CommandError, match="no team “grid”; there are: –"):
        run("example", "--team", "grid")
    people.team("lab")
    with pytest.raises(CommandError, match="there are: lab"):
        run("export", "--team", "grid")


def test_it_names_a_file_that_can_not_be_read_or_written(tmp_path: Path) -> None:
    factories.site(people.team("grid"))
    with pytest.raises(CommandError, match="No such file"):
        run("import", str(tmp_path / "none.yaml"), "--team", "grid")
    with pytest.raises(CommandError, match="Is a directory"):
        run("export", str(tmp_path), "--team", "grid")

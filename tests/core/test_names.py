"""Names that look alike are taken for each other, and what nobody sees stands in none."""

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError

from apps.core import names

ALIKE = [
    ("KISTI", "kisti"),
    ("KISTI", "\uff2b\uff29\uff33\uff34\uff29"),
    ("KISTI lab", " KISTI\u00a0 \u3000lab"),
    ("stra\u00dfe", "STRASSE"),
    ("CAE", "\u0421\u0410\u0415"),
    ("PUSAN-Iab", "PUSAN-lab"),
    ("B1ue", "Blue"),
    ("ALICE", "aIice"),
    ("GR\u04c0D", "grid"),
    ("OSLO", "0sl0"),
    ("10\u00b5s", "10us"),
    ("\u2206T", "\u0394T"),
    ("\u2764\ufe0f lab", "\u2764 lab"),
    ("TAO", "\u03a4\u0391\u039f"),
    ("\ubd80\uc0b0", "\u1107\u116e\u1109\u1161\u11ab"),
    ("Alpha", "Alph\u0251"),
    ("Demo", "Dem\u1d0f"),
    ("Alpha", "A\u01c0pha"),
    ("KISTI-net", "KISTI\u2010net"),
    ("lab 0", "lab \u09e6"),
    ("lab 12", "lab \u0661\u0662"),
]
UNSEEN = {
    "a\u200bb": "U\\+200B ZERO WIDTH SPACE",
    "a\u202eb": "U\\+202E RIGHT-TO-LEFT OVERRIDE",
    "a\u00adb": "U\\+00AD SOFT HYPHEN",
    "a\u3164b": "U\\+3164 HANGUL FILLER",
    "a\u2800b": "U\\+2800 BRAILLE PATTERN BLANK",
    "Demo\u180b": "U\\+180B",
    "Beta\u180f": "U\\+180F",
    "a\ufe0fb": "U\\+FE0F VARIATION SELECTOR-16",
    "a\u200db": "U\\+200D ZERO WIDTH JOINER",
    "\U0001f469\u200d": "U\\+200D",
    "\u2764\ufe0f\ufe0f": "U\\+FE0F",
    "a\u200c\u062e": "U\\+200C",
    "\u062e\u200c": "U\\+200C",
    "a\u0007b": "U\\+0007",
    "a\u2028b": "U\\+2028 LINE SEPARATOR",
    "a\U000e0041b": "U\\+E0041 TAG LATIN CAPITAL LETTER A",
}
# Cherokee, Armenian, Coptic, Lisu, Georgian and Deseret beside Latin, more than one symbol, one that has a twin, and
# scripts other than Latin beside each other.
MIXED = [
    "gri\u13a0", "\u0585slo", "gr\u2c93d", "\ua4d0ab", "lab\u10ff", "\U00010404slo", "\u0394\u03bbT", "\u03bdm",
    "\u0430\u03bf", "Dem\u09e6", "Dem\u0be6", "doperat\u09e6r", "Dem\u0660",
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_looks_the_same_has_one_skeleton(one: str, other: str) -> None:
    assert names.skeleton(one, 100) == names.skeleton(other, 100)


def test_other_names_have_others_and_none_is_longer_than_asked() -> None:
    others = ["KISTI", "KISTI 2", "PNU", "\ubd80\uc0b0\ub300", "\u91dc\u5c71", "grid-a", "grid_a"]
    assert len({names.skeleton(name, 100) for name in others}) == len(others)
    assert len(names.skeleton("\ufdfa" * 100, 180)) == 180


@pytest.mark.parametrize("name", UNSEEN)
def test_what_nobody_sees_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(ValidationError, match=UNSEEN[name]):
        names.check(name)


@pytest.mark.parametrize("name", ["gr\u0456d", "\u0455ite", "K\u0399STI", "p4yp\u0430l", "\uff4bi\u0455ti", *MIXED])
def test_a_word_of_scripts_that_have_twins_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="mixes letters"):
        names.check(name)


@pytest.mark.parametrize(
    "name",
    ["KISTI\ubd80\uc0b0\ud300", "\u5317\u4eac lab 3", "\u0421\u0435\u0443\u043b-KISTI",
     "Caf\u00e9 M\u00fcnchen", "\u03b2 site", "R&D (2)",
     "10\u00b5s lab", "10\u03bcs lab", "\u0394T", "\u2206T", "k\u2126 lab", "k\u03a9",
     "\u03bbscan", "3\u03c3x", "O\u02bcahu",
     "\u6771\u4eacTokyo\u30e9\u30dc\u30fc\u308b", "\U0001f469\u200d\U0001f52c lab",
     "\U0001f469\U0001f3fd\u200d\U0001f52c",
     "\u2764\ufe0f\u200d\U0001f525", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u13a0\u13b5\u13aa"],
)  # fmt: skip
def test_what_people_write_every_day_is_taken(name: str) -> None:
    names.check(name)


# Written by the program, kept of what had it, or looked at where it is given: a name given before the rule stays.
NOT_TYPED = {
    "agents.JobFile.name",
    "archive.FormerName.name",
    "archive.IncomingArchive.name",
    "archive.SearchMetric.name",
    "archive.SearchValue.name",
    "campaigns.Tombstone.name",
    "reports.Rendering.name",
    "results.StageTiming.name",
}
BY_ITS_SERVICE = {"accounts.Team.name", "campaigns.Campaign.name"}


def _fields_called_name():
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if field.name == "name" and model.__module__.startswith("apps."):
                yield f"{model._meta.label}.name", field


NAMES = dict(_fields_called_name())


@pytest.mark.parametrize("name", sorted(NAMES.keys() - NOT_TYPED - BY_ITS_SERVICE))
def test_every_name_that_people_type_is_seen_whole(name):
    field = NAMES[name]
    with pytest.raises(ValidationError):
        field.run_validators("north\u202e")
    field.run_validators("north")


def test_each_name_that_is_left_out_is_there():
    assert NAMES.keys() >= NOT_TYPED | BY_ITS_SERVICE

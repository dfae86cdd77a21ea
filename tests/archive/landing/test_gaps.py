"""A blank stands for a name's dash where the words can be nothing else; so does what mail writes for one."""

from types import SimpleNamespace

import pytest

from apps.archive.landing.redaction import Hidden
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db


def test_a_name_is_hidden_with_blanks_for_its_dashes_where_it_can_be_nothing_else(cast: SimpleNamespace) -> None:
    make.nodes(cast.team, "zebrafisch-dtn07", "server-10", "file-system", "a-b2")
    hidden = Hidden(cast.team.pk)
    for text in (
        "zebrafisch dtn07",
        "Zebrafisch\nDTN07",
        "zebrafisch=2Ddtn07",
        "zebrafisch=2Ddtn07.log",
        "zebrafisch=2ddtn07",
        "zebrafisch_dtn07",
    ):
        assert "dtn07" not in hidden.text(text).lower(), text
    for text in ("server 10 of 12", "a file system", "a b2", "zebrafisch, dtn07", "x=2Dy"):
        assert hidden.text(text) == text


@pytest.mark.parametrize("sign", list("-_./:+[]{}()"))
def test_a_name_is_hidden_whatever_sign_stands_between_its_parts(cast: SimpleNamespace, sign: str) -> None:
    make.nodes(cast.team, "zebrafisch-dtn07", "rack/nilpferd:3", "kolibri dtn08")
    hidden = Hidden(cast.team.pk)
    between = sign if sign in "-_./:+" else "["
    for text in (f"kolibri{sign}dtn08", f"rack{sign}nilpferd{between}3"):
        shown = hidden.text(text)
        assert "kolibri" not in shown, text
        assert "nilpferd" not in shown, text
    assert "dtn07" not in hidden.text(f"at zebrafisch{sign}dtn07, once")

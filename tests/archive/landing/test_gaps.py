"""A blank stands for a name's dash where the words can be nothing else; so does what mail writes for one."""

from types import SimpleNamespace

import pytest

from apps.accounts.models import Membership, Role
from apps.archive.landing.redaction import Hidden
from tests import factories as people
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db


def member(cast: SimpleNamespace, given: str, family: str) -> None:
    """Have somebody of this name in the team."""
    person = people.user(first_name=given, last_name=family)
    Membership.objects.create(team=cast.team, user=person, role=Role.VIEWER)


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


@pytest.mark.parametrize("sign", list("-_./:+[]{}()·ㆍ•‧∙⋅・･"))
def test_a_name_is_hidden_whatever_sign_stands_between_its_parts(cast: SimpleNamespace, sign: str) -> None:
    make.nodes(cast.team, "zebrafisch-dtn07", "rack/nilpferd:3", "kolibri dtn08")
    hidden = Hidden(cast.team.pk)
    between = "[" if sign in "[]{}()" else sign
    for text in (f"kolibri{sign}dtn08", f"rack{sign}nilpferd{between}3"):
        hidden_text = hidden.text(text)
        assert "kolibri" not in hidden_text, text
        assert "nilpferd" not in hidden_text, text
    assert "dtn07" not in hidden.text(f"at zebrafisch{sign}dtn07, once")


# By given and family name: the first syllables, or the last ones, are words of reports as well.
NEARLY_WORDS = (("상호", "이"), ("하나", "이"), ("수진", "김"), ("상수", "이"), ("길동", "홍"))
SPACED = (
    "홍 길 동", "홍길 동", "홍 길동", "홍  길  동", "홍\u3000길\u3000동", "홍\n길 동", "홍·길·동", "홍·길동",
    "홍ㆍ길ㆍ동", "홍길-동", "홍_길_동",
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "family"), [("길동", "홍"), ("홍길동", ""), ("", "홍길동"), ("홍", "길동"), ("길 동", "홍")]
)
def test_a_korean_name_is_hidden_with_gaps_between_its_syllables(
    cast: SimpleNamespace, given: str, family: str
) -> None:
    member(cast, given, family)
    hidden = Hidden(cast.team.pk)
    for name in SPACED:
        for text in (
            "{}",
            "담당: {}",
            "({})",
            "{}에게서 받음",
            "{} 님께",
            "{}님께서",
            "{}박사는",
            "a {}, b",
            "{}\u200b",
        ):
            hidden_text = hidden.text(text.format(name))
            assert not {"홍", "길", "동"} & set(hidden_text), (text.format(name), hidden_text)


def test_a_korean_name_of_four_syllables_is_hidden_with_gaps(cast: SimpleNamespace) -> None:
    member(cast, "민수", "남궁")
    hidden = Hidden(cast.team.pk)
    for name in ("남 궁 민 수", "남궁 민 수", "남 궁민수", "남궁·민·수"):
        assert not set("남궁민수") & set(hidden.text(f"담당 {name}의 잰 값")), name


def test_words_of_every_day_stay_though_they_have_the_syllables_of_a_name(cast: SimpleNamespace) -> None:
    for given, family in NEARLY_WORDS:
        member(cast, given, family)
    make.nodes(cast.team, "노드-둘")
    hidden = Hidden(cast.team.pk)
    for text in (
        "3개 이상 호스트에서", "이상 호환되지 않음", "100 이하 나머지", "이하 나는 값", "김수 진행", "배김 수 진행률",
        "이상 수는 12",
        "홍 길 동쪽으로", "분홍 길 동", "홍길 동작", "이 상 호환", "노드 둘", "속도·지연·손실", "1·2·4·8 streams",
        "잰 값 · 단위",
    ):  # fmt: skip
        assert hidden.text(text) == text


def test_a_hangul_name_is_hidden_with_blanks_for_its_dashes_from_four_syllables_on(cast: SimpleNamespace) -> None:
    make.nodes(cast.team, "저장서버-가온", "전송노드-나래2", "시험-1", "서-버")
    hidden = Hidden(cast.team.pk)
    for text in ("저장서버 가온", "저장서버 가온에서", "저장서버·가온", "전송노드 나래2의"):
        assert not any(part in hidden.text(text) for part in ("가온", "나래", "서버", "노드나래")), text
    for text in ("시험 1", "서 버", "저장 장치", "가온"):
        assert hidden.text(text) == text

"""Tokens: what is shown once, and what is kept."""

import hashlib

from apps.core import secrets


def test_a_token_carries_its_kind_and_its_prefix() -> None:
    issued = secrets.issue("api")
    assert issued.text.startswith(f"fth_api_{issued.prefix}_")
    assert secrets.prefix_of(issued.text) == issued.prefix


def test_only_the_digest_proves_a_token() -> None:
    issued = secrets.issue("agent")
    assert issued.digest == hashlib.sha256(issued.text.encode()).hexdigest()
    assert secrets.matches(issued.text, issued.digest)
    assert not secrets.matches(issued.text + "x", issued.digest)
    assert not secrets.matches(secrets.issue("agent").text, issued.digest)


def test_two_tokens_share_nothing() -> None:
    tokens = [secrets.issue("api") for _ in range(100)]
    assert len({token.prefix for token in tokens}) == 100
    # The secret itself may hold underscores: cut by count, not at the last one.
    assert len({token.text.split("_", 3)[3] for token in tokens}) == 100


def test_the_secret_holds_256_random_bits() -> None:
    text = secrets.issue("api").text.removeprefix("fth_api_")
    # 43 characters of base64 are 32 bytes.
    assert len(text.split("_", 1)[1]) == 43


def test_what_is_no_token_has_no_prefix() -> None:
    for text in ("", "fth_api_", "fth_api_0123456789ab_short", "Bearer x", "fth_API_0123456789ab_" + "x" * 43, "\0"):
        assert secrets.prefix_of(text) is None

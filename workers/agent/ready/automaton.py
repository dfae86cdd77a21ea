"""The search for a pattern in a stream of bytes: each byte once, whatever the pattern and the bytes are."""

from __future__ import annotations

# What may be true between two bytes stands beside the 256 bytes as a symbol of its own.
BEGINNING, END, BOUNDARY, WITHIN = range(256, 260)
ALL = (1 << 256) - 1
# A step costs at most so many bits' worth of work.
MOST_POSITIONS = 500
_NEWLINE = 10
# Sets of positions whose followers are remembered; more are worked out again.
_MOST_REMEMBERED = 10_000
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class Automaton:
    """Positions that each match a set of symbols, and which may follow which; sets of positions are bits of a number.

    `symbols` and `follow` are by position; `first` and `last` are where a match begins and ends; `empty` says that
    nothing at all is a match.
    """

    def __init__(self, symbols: tuple[int, ...], follow: tuple[int, ...], first: int, last: int, empty: bool) -> None:
        self.first, self.last, self.empty = first, last, empty
        self._follow = follow
        # By symbol: the positions that match it.
        self.matching = [
            sum(1 << position for position, these in enumerate(symbols) if these >> symbol & 1)
            for symbol in range(WITHIN + 1)
        ]
        self.looks_between = any(self.matching[256:])
        self._remembered: dict[int, int] = {}
        self._octets: dict[tuple[int, int], int] = {}

    def after(self, positions: int) -> int:
        """Return the positions that may follow those of a set, or begin a match."""
        followers = self._remembered.get(positions)
        if followers is None:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            followers = self._remembered[positions] = self.first | self._followers(positions)
        return followers

    def _followers(self, positions: int) -> int:
        followers = index = 0
        while positions:
            octet = positions & 255
            if octet:
                followers |= self._followers_of(index, octet)
            positions >>= 8
            index += 1
        return followers

    def _followers_of(self, index: int, octet: int) -> int:
        followers = self._octets.get((index, octet))
        if followers is None:
            followers = 0
            for bit in range(8):
                if octet >> bit & 1:
                    followers |= self._follow[8 * index + bit]
            self._octets[index, octet] = followers
        return followers


class Search:
    """One stream looked through for a pattern: `take` its chunks in their order."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._positions = 0
        self._before: int | None = None

    def take(self, chunk: bytes) -> bool:
        """Say whether the pattern has been matched by the end of a chunk, the end of a line so far being one."""
        automaton = self._automaton
        if automaton.empty:
            return bool(chunk)
        if automaton.looks_between:
            return self._take_looking(chunk)
        positions, matching, after, last = self._positions, automaton.matching, automaton.after, automaton.last
        for byte in chunk:
            positions = after(positions) & matching[byte]
            if positions & last:
                return True
        self._positions = positions
        return False

    def _take_looking(self, chunk: bytes) -> bool:
        """Do the same for a pattern that tells what stands before or after a place."""
        automaton = self._automaton
        for byte in chunk:
            between = self._between(byte)
            if between & automaton.last:
                return True
            self._positions = automaton.after(between) & automaton.matching[byte]
            if self._positions & automaton.last:
                return True
            self._before = byte
        return bool(self._between(None) & automaton.last)

    def _between(self, byte: int | None) -> int:
        """Return the positions at the place before a byte, or at the end of what there is."""
        matching, before = self._automaton.matching, self._before
        here = matching[BOUNDARY if (before in _WORD_BYTES) != (byte in _WORD_BYTES) else WITHIN]
        if before is None or before == _NEWLINE:
            here |= matching[BEGINNING]
        if byte is None or byte == _NEWLINE:
            here |= matching[END]
        positions = self._positions
        while here:
            more = positions | (self._automaton.after(positions) & here)
            if more == positions:
                break
            positions = more
        return positions

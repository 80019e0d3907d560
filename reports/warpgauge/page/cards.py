"""The cards of the first screen and the digest: what got worse or better, by what is to blame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpgauge.history import SeriesKey
from warpgauge.page.groups import Group
from warpgauge.page.rows import Finding, Move, Row

FEW = 3  # metrics that a card names beside its first one


@dataclass(frozen=True, slots=True)
class Card:
    """Values that one commit or cause is to blame for, the dearest first: of one kernel, where
    some are over budget (`findings`), and else of all. `group` is not known where what is over
    budget never changed."""

    findings: tuple[Finding, ...]
    moves: tuple[Move, ...]
    group: Group | None

    @property
    def first(self) -> Finding | Move:
        """What the card shows with its values."""
        return self.findings[0] if self.findings else self.moves[0]

    @property
    def row(self) -> Row:
        return self.first.rows[0]

    @property
    def places(self) -> list[Row]:
        """A row for each place in which the value of the first is worse or better."""
        key = self.first.key
        rows = [row for row in self._rows if (row.key.id, row.key.metric) == (key.id, key.metric)]
        return list({row.where: row for row in rows}.values())

    @property
    def more(self) -> list[tuple[int, str]]:
        """How many other sizes of the kernel, and how many other kernels, in words for count()."""
        keys = [row.key for row in self._rows]
        kernel = self.first.key.kernel
        sizes = {key.size for key in keys if key.kernel == kernel}
        kernels = {key.kernel for key in keys}
        found = ((len(sizes) - 1, "more size"), (len(kernels) - 1, "more kernel"))
        return [(number, words) for number, words in found if number]

    @property
    def others(self) -> list[Finding | Move]:
        """The first value of each other metric."""
        found: dict[str, Finding | Move] = {}
        for value in self._all:
            found.setdefault(value.key.metric, value)
        return list(found.values())[1:]

    @property
    def _all(self) -> list[Finding | Move]:
        return [*self.findings, *self.moves]

    @property
    def _rows(self) -> list[Row]:
        return [row for value in self._all for row in value.rows]


def cards(over: Iterable[tuple[Finding, Group | None]], found: Iterable[Group]) -> list[Card]:
    """A card for each kernel with findings of a cause, with what else the cause made worse in the
    kernel, in the order of the findings; then one for what is left of each of the groups."""
    kernels: dict[tuple, list[tuple[Finding, Group | None]]] = defaultdict(list)
    for finding, group in over:
        kernels[_blamed(finding.key, group)].append((finding, group))
    listed: dict[tuple, list[Move]] = {name: [] for name in kernels}
    left: list[Card] = []
    for group in found:
        rest: list[Move] = []
        for move in group.moves:
            listed.get(_blamed(move.key, group), rest).append(move)
        if rest:
            left.append(Card((), _dearest_first(rest), group))
    of_kernels = [
        Card(tuple(finding for finding, _ in of), _dearest_first(listed[name]), of[0][1])
        for name, of in kernels.items()
    ]
    return [*of_kernels, *left]


def _blamed(key: SeriesKey, group: Group | None) -> tuple:
    return key.kernel, group.key if group else None


def _dearest_first(moves: Sequence[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: move.gravity))

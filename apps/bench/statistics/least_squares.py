"""What terms of a model explain beyond all others, by least squares over cells of unequal size (type II)."""

from collections.abc import Mapping, Sequence
from itertools import combinations

# A column that all but this of is told by those before it is none of its own.
LEAST_PIVOT = 1e-9
# Each column costs time by the square of their number.
MOST_COLUMNS = 150

Column = list[float]
# The factors of a term: one, or a pair.
Term = tuple[str, ...]


def explained_beyond(
    settings: Mapping[str, Sequence[object]], sums: Sequence[tuple[int, float]]
) -> tuple[dict[Term, tuple[float, int]], float] | None:
    """Return {term: (sum of squares beyond the others, its degrees)}, and that of all together; None of too many.

    `settings` has each factor's setting of each cell, `sums` (number of values, their sum of distances from the mean)
    of each cell. Factors are taken beyond all other factors, pairs beyond all factors and other pairs (Yates, 1934:
    fitting constants); of a term with no degrees nothing tells it from the others. Pairs are left out where they have
    too many columns.
    """
    single: dict[Term, list[Column]] = {(name,): _indicators(column) for name, column in settings.items()}
    if sum(map(len, single.values())) > MOST_COLUMNS:
        return None
    pairs: dict[Term, list[Column]] = {
        (a, b): [[x * y for x, y in zip(one, other, strict=True)] for one in single[(a,)] for other in single[(b,)]]
        for a, b in combinations(settings, 2)
        if len(single[(a,)]) * len(single[(b,)]) <= MOST_COLUMNS
    }
    if sum(map(len, single.values())) + sum(map(len, pairs.values())) > MOST_COLUMNS:
        pairs = {}
    beyond = {term: _reduction(single, term, sums) for term in single}
    every = single | pairs
    beyond |= {term: _reduction(every, term, sums) for term in pairs}
    whole, _degrees = _reduction({("",): [column for own in every.values() for column in own]}, ("",), sums)
    return beyond, whole


def _indicators(column: Sequence[object]) -> list[Column]:
    """Return a column of ones and zeros for each setting of a factor but the first."""
    return [[float(value == setting) for value in column] for setting in list(dict.fromkeys(column))[1:]]


def _reduction(
    terms: Mapping[Term, list[Column]], last: Term, sums: Sequence[tuple[int, float]]
) -> tuple[float, int]:
    """Return by how much a term lessens the sum of squares that all other terms leave, and its degrees."""
    own = terms[last]
    columns = [[1.0] * len(sums), *(column for term, item in terms.items() if term != last for column in item), *own]
    first = len(columns) - len(own)
    matrix = _normal_equations(columns, sums)
    scale = [matrix[place][place] for place in range(len(columns))]
    squares, degrees = 0.0, 0
    for place in range(len(columns)):
        pivot_row = matrix[place]
        pivot = pivot_row[place]
        if pivot <= LEAST_PIVOT * scale[place]:
            continue
        if place >= first:
            squares += pivot_row[-1] ** 2 / pivot
            degrees += 1
        for row in range(place + 1, len(columns)):
            if factor := matrix[row][place] / pivot:
                matrix[row] = [value - factor * above for value, above in zip(matrix[row], pivot_row, strict=True)]
    return squares, degrees


def _normal_equations(columns: Sequence[Column], sums: Sequence[tuple[int, float]]) -> list[Column]:
    """Return the products of all columns with each other and with the figures, each cell as often as it has some."""
    matrix = [[0.0] * (len(columns) + 1) for _column in columns]
    for cell, (count, total) in enumerate(sums):
        set_columns = [place for place, column in enumerate(columns) if column[cell]]
        for row in set_columns:
            matrix[row][-1] += total
            for place in set_columns:
                matrix[row][place] += count
    return matrix

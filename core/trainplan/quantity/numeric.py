"""The few functions that a formula may use: the same words on plain numbers and on numpy columns.

numpy is touched only when a column comes, because importing it costs 80 ms and calling it on a scalar 1 us.
Both branches of `where` are evaluated, so denominators have to be safe on every row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_PLAIN = (float, int, bool)


def _column(*items: Any) -> bool:
    for item in items:  # noqa: SIM110 - half the time of any() on the way of every number
        if not isinstance(item, _PLAIN):
            return True
    return False


def where(condition: Any, then: Any, other: Any) -> Any:
    """`then` where the condition holds, else `other`."""
    plain = isinstance(condition, bool) and isinstance(then, float) and isinstance(other, float)
    if not plain and _column(condition, then, other):
        import numpy as np

        return np.where(condition, then, other)
    return then if condition else other


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    if not (isinstance(a, float) and isinstance(b, float)) and _column(a, b):
        import numpy as np

        return np.maximum(a, b)
    return a if a >= b else b


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    if not (isinstance(a, float) and isinstance(b, float)) and _column(a, b):
        import numpy as np

        return np.minimum(a, b)
    return a if a <= b else b


def ceil(a: Any) -> Any:
    """The least whole number not below."""
    if not isinstance(a, float) and _column(a):
        import numpy as np

        return np.ceil(a)
    return float(math.ceil(a))


def floor(a: Any) -> Any:
    """The largest whole number not above."""
    if not isinstance(a, float) and _column(a):
        import numpy as np

        return np.floor(a)
    return float(math.floor(a))


def sqrt(a: Any) -> Any:
    """The square root; exact to the last bit in both."""
    if not isinstance(a, float) and _column(a):
        import numpy as np

        return np.sqrt(a)
    return math.sqrt(a)


def exp(a: Any) -> Any:
    """The exponential. Columns go through `math` by unique value, so that they equal scalars to the last bit."""
    return _by_unique(math.exp, a)


def power(base: Any, exponent: Any) -> Any:
    """The base raised to the exponent, infinite past the largest number. Columns go element by element, to the last bit."""
    if (isinstance(base, float) and isinstance(exponent, float)) or not _column(base, exponent):
        return _power(float(base), float(exponent))
    import numpy as np

    bases, exponents = np.broadcast_arrays(base, exponent)
    pairs = zip(bases.ravel().tolist(), exponents.ravel().tolist(), strict=True)
    return np.array([_power(float(b), float(e)) for b, e in pairs]).reshape(bases.shape)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:  # zero to a negative power, or a root of a negative number
        return math.inf if base == 0.0 else math.nan


def log2(a: Any) -> Any:
    """The binary logarithm. Columns go through `math` by unique value, so that they equal scalars to the last bit."""
    return _by_unique(math.log2, a)


def _by_unique(function: Any, a: Any) -> Any:
    if isinstance(a, float) or not _column(a):
        return function(a)
    import numpy as np

    values, places = np.unique(a, return_inverse=True)
    return np.array([function(float(value)) for value in values])[places].reshape(np.shape(a))


def poisson_bound(mean: Any) -> Any:
    """The smallest count that Poisson events of that mean stay at or below 99 times in 100."""
    return _by_unique(_poisson_bound, mean)


def _poisson_bound(mean: float) -> float:
    """Summed term by term; past a mean of 500 by the Cornish-Fisher expansion, which is then within one."""
    if not mean <= 500.0:
        return float(math.ceil(mean + 2.3263478740408408 * math.sqrt(mean) + 0.7353157 - 0.5))
    term = covered = math.exp(-mean)
    count = 0
    while covered < 0.99:
        count += 1
        term *= mean / count
        covered += term
    return float(count)


def lookup(table: Mapping[Any, float], key: Any) -> Any:
    """The table's value for a key, or a column of them."""
    if _column(key) and not isinstance(key, str):
        import numpy as np

        values, places = np.unique(key, return_inverse=True)
        return np.array([table[value.item()] for value in values])[places].reshape(np.shape(key))
    return table[key]


def greatest_divisor(a: Any, b: Any) -> Any:
    """The greatest common divisor of whole numbers."""
    if _column(a, b):
        import numpy as np

        return np.gcd(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)).astype(float)
    return float(math.gcd(int(a), int(b)))

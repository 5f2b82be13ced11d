"""Cuts leave every row in one piece, cost less than what they cut, and put places of one kind side by side."""

from __future__ import annotations

import numpy as np

from trainplan.search.cutting import EACH, ROWS, best_cut, by_kind, lives_at


def test_a_dense_mask_that_is_small_is_one_piece() -> None:
    assert best_cut(np.ones((2, 3, 100), dtype=bool), 3) is None


def test_a_mask_of_two_blocks_is_cut_between_them() -> None:
    mask = np.zeros((1, 40, 4000), dtype=bool)
    mask[:, :10, :1500] = mask[:, 10:, 1500:] = True
    assert best_cut(mask, 1) in ((1, 10), (2, 1500))


def test_dead_rows_that_are_cheaper_than_a_piece_stay() -> None:
    mask = np.ones((1, 2, EACH // 4), dtype=bool)
    mask[:, 0, : EACH // 8] = False
    assert best_cut(mask, 1) is None


def test_a_mask_that_is_too_large_is_cut_in_the_middle() -> None:
    assert best_cut(np.ones((1, 2, ROWS), dtype=bool), 1) in ((1, 1), (2, ROWS // 2))


def test_places_that_live_in_the_same_rows_come_together() -> None:
    mask = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=bool)
    order = by_kind(mask, 0)
    assert {order.index(0), order.index(2)} in ({0, 1}, {2, 3})
    assert sorted(order) == [0, 1, 2, 3]


def test_the_places_of_an_axis_are_those_that_some_row_has() -> None:
    mask = np.zeros((3, 3), dtype=bool)
    mask[1, 2] = True
    assert [list(one) for one in lives_at(mask)] == [[1], [2]]

"""Frozen records behave as the standard library's frozen dataclasses do."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pytest

from trainplan.frozen import field_names, frozen, record


@frozen
class Point:
    """Two fields, one with a default."""

    x: float
    y: float = 2.0

    def sum(self) -> float:
        return self.x + self.y


@frozen
class Named(Point):
    """A field more, and a method over an inherited one."""

    name: str = ""

    def sum(self) -> float:
        return -1.0


@frozen
class One:
    """A single field."""

    value: int


@record
class Budget:
    """Compared by identity."""

    cost: float
    parts: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Standard:
    """What the standard library makes of the same."""

    x: float
    y: float = 2.0


def test_fields_come_by_place_or_name_and_defaults_fill_the_rest() -> None:
    assert (Point(1.0).x, Point(1.0).y, Point(y=3.0, x=1.0).y) == (1.0, 2.0, 3.0)
    for wrong in ((), (1.0, 2.0, 3.0)):
        with pytest.raises(TypeError):
            Point(*wrong)
    with pytest.raises(TypeError):
        Point(1.0, z=1.0)  # type: ignore[call-arg]


def test_values_are_compared_hashed_and_shown_as_dataclasses_are() -> None:
    assert Point(1.0) == Point(1.0, 2.0)
    assert Point(1.0) != Point(2.0)
    assert Point(1.0) != Standard(1.0)
    assert len({Point(1.0), Point(1.0, 2.0), Point(3.0)}) == 2
    assert hash(One(1)) == hash(One(1))
    assert One(1) != One(2)
    assert repr(Point(1.0)) == repr(Standard(1.0)).replace("Standard", "Point")


def test_nothing_can_be_set_again() -> None:
    point = Point(1.0)
    with pytest.raises(FrozenInstanceError):
        point.x = 2.0  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(AttributeError):
        object.__setattr__(point, "z", 1.0)


def test_a_class_inherits_fields_and_defaults() -> None:
    named = Named(1.0, name="n")
    assert (named.x, named.y, named.name, named.sum()) == (1.0, 2.0, "n", -1.0)
    assert field_names(Named) == ("x", "y", "name")
    assert named != Point(1.0)
    assert isinstance(named, Point)


def test_records_are_compared_by_identity() -> None:
    budget = Budget(1.0)
    assert budget != Budget(1.0)
    assert len({budget, Budget(1.0)}) == 2
    assert budget.parts == ()


@pytest.mark.parametrize("one", [Point(1.0), Named(1.0, 2.0, "n"), One(1)])
def test_the_tools_of_the_standard_library_work(one: Point) -> None:
    assert pickle.loads(pickle.dumps(one)) == one
    assert tuple(item.name for item in fields(one)) == field_names(type(one))  # type: ignore[arg-type]
    assert replace(one) == one  # type: ignore[type-var]
    if isinstance(one, Point):
        assert replace(one, x=9.0).x == 9.0  # type: ignore[type-var]


def test_a_class_keeps_its_name_its_place_and_its_sentence() -> None:
    assert (Point.__name__, Point.__module__, Point.__doc__) == ("Point", __name__, "Two fields, one with a default.")
    match Point(1.0):
        case Point(x, y):
            assert (x, y) == (1.0, 2.0)

"""Dates and times: local days across changes of clocks, the edges of the calendar, one form of text."""

import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mem import clock
from mem.clock import Edge
from mem.errors import Usage
from mem.service import Service

# Rules instead of names, so that no zone database is needed.
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
SAO_PAULO = "<-03>3<-02>,M11.1.0/0,M2.3.0/0"  # until 2018: the leap goes over midnight
HALF_AN_HOUR_BEFORE = "AAA5BBB,M3.5.0/-0:30,M10.5.0"  # from 23:30 on Saturday to 00:30 on Sunday
MIDNIGHT_TWICE = "AAA1BBB,M3.5.0/0,M10.5.0/1"  # from 01:00 back to 00:00


@contextmanager
def zone(name: str) -> Iterator[None]:
    """The process in a time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()


@pytest.fixture
def apia(tmp_path: Path) -> str:
    """Samoa, which left out 30 December 2011: a zone file of one change, from -10 to +14 hours."""
    changes = [(int(datetime(2011, 12, 30, 10, tzinfo=UTC).timestamp()), 1)]
    offsets = [(-10 * 3600, 1, 0), (14 * 3600, 1, 4)]
    names = b"-10\0+14\0"
    head = struct.pack(">4s16x6l", b"TZif", 0, 0, 0, len(changes), len(offsets), len(names))
    times = b"".join(struct.pack(">l", at) for at, _ in changes)
    kinds = bytes(kind for _, kind in changes)
    infos = b"".join(struct.pack(">lBB", *offset) for offset in offsets)
    path = tmp_path / "Apia"
    path.write_bytes(head + times + kinds + infos + names)
    return f":{path}"


def day(text: str) -> tuple[str, str, str]:
    """The first instant of a day, the next midnight, and the last instant."""
    first, following, last = (
        clock.parse(text, edge, name="since") for edge in (Edge.FIRST, Edge.NEXT, Edge.LAST)
    )
    return first, following, last


@pytest.mark.parametrize(
    ("rules", "text", "first", "following"),
    [
        (BERLIN, "2026-01-10", "2026-01-09T23:00", "2026-01-10T23:00"),
        (BERLIN, "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),  # 23 hours
        (BERLIN, "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00"),  # 25 hours
        (SAO_PAULO, "2018-11-03", "2018-11-03T03:00", "2018-11-04T03:00"),
        (SAO_PAULO, "2018-11-04", "2018-11-04T03:00", "2018-11-05T02:00"),  # begins at 01:00
        (SAO_PAULO, "2018-02-17", "2018-02-17T02:00", "2018-02-18T03:00"),  # its last hour twice
        (HALF_AN_HOUR_BEFORE, "2019-03-30", "2019-03-30T05:00", "2019-03-31T04:30"),
        (HALF_AN_HOUR_BEFORE, "2019-03-31", "2019-03-31T04:30", "2019-04-01T04:00"),
        (MIDNIGHT_TWICE, "2019-10-27", "2019-10-27T00:00", "2019-10-28T01:00"),
        ("UTC0", "2024-02-29", "2024-02-29T00:00", "2024-03-01T00:00"),
        ("<+0545>-5:45", "2026-05-10", "2026-05-09T18:15", "2026-05-10T18:15"),
    ],
)
def test_a_date_is_its_local_day_whatever_the_clocks_do(
    rules: str, text: str, first: str, following: str
) -> None:
    with zone(rules):
        found = day(text)
    last = clock.from_text(f"{following}:00Z") - timedelta(microseconds=1)
    assert found == (f"{first}:00.000000Z", f"{following}:00.000000Z", clock.to_text(last))


def test_a_day_that_a_country_left_out_is_empty_and_its_neighbours_whole(apia: str) -> None:
    with zone(apia):
        assert time.localtime(datetime(2012, 1, 1, tzinfo=UTC).timestamp()).tm_hour == 14
        found = [day(f"2011-12-{number}") for number in (29, 30, 31)]
    leap = "2011-12-30T10:00:00.000000Z"
    assert [(first, following) for first, following, _ in found] == [
        ("2011-12-29T10:00:00.000000Z", leap),
        (leap, leap),
        (leap, "2011-12-31T10:00:00.000000Z"),
    ]


@given(
    day_=st.dates(date(1971, 1, 1), date(2037, 1, 1)),
    rules=st.sampled_from((BERLIN, SAO_PAULO, HALF_AN_HOUR_BEFORE, MIDNIGHT_TWICE)),
)
def test_midnight_is_the_first_instant_that_has_the_date(day_: date, rules: str) -> None:
    with zone(rules):
        first = clock.midnight(day_).timestamp()
        assert date.fromtimestamp(first) == day_
        assert date.fromtimestamp(first - 1) == day_ - timedelta(days=1)


# Around the ends of summer time, when an hour comes twice.
TWICE = st.builds(
    lambda year, minutes: (
        datetime(year, 10, 31)
        - timedelta(days=datetime(year, 10, 31).isoweekday() % 7)
        + timedelta(minutes=minutes)
    ),
    st.integers(1990, 2030),
    st.integers(-240, 240),
)


@given(
    instant=st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)) | TWICE,
    rules=st.sampled_from((BERLIN, SAO_PAULO, MIDNIGHT_TWICE)),
)
def test_the_local_zone_gives_every_instant_back_also_in_the_hour_that_comes_twice(
    instant: datetime, rules: str
) -> None:
    utc = instant.replace(tzinfo=UTC)
    with zone(rules):
        there = utc.astimezone(clock.local_zone())
        assert there.astimezone(UTC) == utc
        assert there.replace(tzinfo=None) == datetime.fromtimestamp(utc.timestamp()).replace(
            microsecond=utc.microsecond
        )


def test_a_time_that_the_clocks_leapt_over_lies_after_the_leap() -> None:
    with zone(SAO_PAULO):
        assert clock.parse("2018-11-04T00:30", Edge.FIRST, name="since") == "2018-11-04T03:30:00.000000Z"


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("2026-05-10T08:30:00Z", "2026-05-10T08:30:00.000000Z"),
        ("2026-05-10t08:30z", "2026-05-10T08:30:00.000000Z"),
        ("2026-05-10T08:30:00.123456Z", "2026-05-10T08:30:00.123456Z"),
        ("2026-05-10T08:30:00.5+02:00", "2026-05-10T06:30:00.500000Z"),
        ("2026-05-10 08:30", "2026-05-10T06:30:00.000000Z"),
        ("  2026-01-10T08:30  ", "2026-01-10T07:30:00.000000Z"),
        ("20260510T083000Z", "2026-05-10T08:30:00.000000Z"),
        ("2026-05-10T23:30:00-05:00", "2026-05-11T04:30:00.000000Z"),
    ],
)
def test_a_time_is_taken_as_it_is_with_or_without_zone(given_: str, expected: str) -> None:
    with zone(BERLIN):
        assert {clock.parse(given_, edge, name="since") for edge in Edge} == {expected}


def test_a_compact_date_is_a_day_too() -> None:
    with zone(BERLIN):
        assert day("20260510") == day("2026-05-10")


@pytest.mark.parametrize("rules", [BERLIN, SAO_PAULO, "UTC0", "<+14>-14", "<-12>12"])
def test_the_first_and_last_day_that_can_be_written_stand_for_always(rules: str) -> None:
    with zone(rules):
        assert day("0001-01-01")[0] >= clock.to_text(clock.EARLIEST)
        assert day("9999-12-31")[1] == clock.to_text(clock.LATEST)
        for text in ("0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31"):
            first, following, last = day(text)
            assert first < last < following
        assert clock.local_day("0001-01-01T00:00:00.000000Z") <= "0001-01-01"
        assert clock.local_day("9999-12-31T23:59:59.999999Z") == "9999-12-31"


@pytest.mark.parametrize(
    "given_",
    ["0001-01-01T00:00:00+14:00", "0001-01-01T00:00", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59"],
)
@pytest.mark.parametrize("rules", ["<+14>-14", "<-12>12"])
def test_a_time_beyond_the_years_is_the_nearest_that_can_be_written(given_: str, rules: str) -> None:
    with zone(rules):
        text = clock.parse(given_, Edge.FIRST, name="since")
    assert clock.to_text(clock.EARLIEST) <= text <= clock.to_text(clock.LATEST)
    assert text[:4] == given_[:4]


@pytest.mark.parametrize(
    "given_",
    [
        *("2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "0000-01-01", "10000-01-01", "-2026-05-10"),
        *("2026-5-1", "2026-0510", "2026-05", "2026", "2026-W19", "2026-W19-7", "2026-130", "10.05.2026"),
        *(
            "2026-05-10T25:00",
            "2026-05-10T08:61",
            "2026-05-10T",
            "2026-05-10x08:30",
            "08:30",
            "now",
            "-1",
            "",
        ),
        *(
            "٢٠٢٦-٠٥-١٠",
            "2026-05-10T08:30:00+99:00",
            "2026-05-10\n2026-05-11",
            "2026-05-10; DROP TABLE x",
            "\0",
        ),
    ],
)
@pytest.mark.parametrize("edge", list(Edge))
def test_what_is_no_date_or_time_is_refused_by_name_and_value(given_: str, edge: Edge) -> None:
    with pytest.raises(Usage) as refused:
        clock.parse(given_, edge, name="valid-from")
    assert f"valid-from '{given_}'" in str(refused.value)
    assert "2026-05-10T08:30:00Z" in refused.value.hint


def test_a_long_text_for_a_date_is_refused_in_a_short_message() -> None:
    with pytest.raises(Usage) as refused:
        clock.parse("2" * 100_000, Edge.FIRST, name="since")
    assert len(str(refused.value)) < 150


@given(st.text(max_size=40))
def test_no_text_makes_the_clock_raise_anything_but_a_refusal(text: str) -> None:
    for read in (
        partial(clock.parse, edge=Edge.NEXT, name="until"),
        partial(clock.parse_expiry, at=clock.now()),
    ):
        try:
            found = read(text)
        except Usage:
            continue
        assert clock.to_text(clock.from_text(found)) == found


INSTANTS = st.datetimes(timezones=st.just(UTC)) | st.sampled_from((clock.EARLIEST, clock.LATEST))


@given(INSTANTS)
def test_an_instant_comes_back_from_its_text(instant: datetime) -> None:
    text = clock.to_text(instant)
    assert clock.from_text(text) == instant
    assert (len(text), text[-1]) == (27, "Z")


@given(INSTANTS, INSTANTS)
def test_texts_sort_like_the_instants_that_they_name(one: datetime, other: datetime) -> None:
    assert (clock.to_text(one) < clock.to_text(other)) == (one < other)


OFFSETS = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)


@given(st.datetimes(timezones=OFFSETS))
def test_the_zone_of_an_instant_makes_no_difference_to_its_text(instant: datetime) -> None:
    try:
        utc = instant.astimezone(UTC)
    except OverflowError:
        assert clock.to_text(instant)[:4] in ("0001", "9999")
        return
    assert clock.to_text(instant) == clock.to_text(utc)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("36h", "2026-05-11T20:30:00.000000Z"),
        ("90m", "2026-05-10T10:00:00.000000Z"),
        ("7 days", "2026-05-17T08:30:00.000000Z"),
        ("2 Weeks", "2026-05-24T08:30:00.000000Z"),
        ("2026-05-20", "2026-05-21T00:00:00.000000Z"),
        ("2026-05-20T10:00:00Z", "2026-05-20T10:00:00.000000Z"),
    ],
)
def test_an_expiry_is_a_span_from_now_or_the_end_of_a_day_or_a_time(given_: str, expected: str) -> None:
    with zone("UTC0"):
        assert clock.parse_expiry(given_, datetime(2026, 5, 10, 8, 30, tzinfo=UTC)) == expected


@pytest.mark.parametrize("given_", ["7", "h", "7 years", "-7d", "1.5h", "123456d", "soon"])
def test_a_span_of_another_kind_is_refused_by_value(given_: str) -> None:
    with pytest.raises(Usage, match=f"expires '{given_}'"):
        clock.parse_expiry(given_, clock.now())


def test_a_fact_valid_until_a_day_holds_to_the_end_of_that_local_day(memory: Service) -> None:
    with zone(SAO_PAULO):
        memory.store("The office is on the third floor", valid_from="2018-11-03", valid_to="2018-11-04")
        held = {
            text: memory.list_(valid_at=text).total
            for text in (
                *("2018-11-02", "2018-11-03", "2018-11-04", "2018-11-05"),
                *("2018-11-03T02:59:59.999999Z", "2018-11-03T03:00:00Z"),
                *("2018-11-05T01:59:59.999999Z", "2018-11-05T02:00:00Z"),
            )
        }
    assert list(held.values()) == [0, 1, 1, 0, 0, 1, 1, 0]


def test_a_date_that_does_not_exist_leaves_the_store_as_it_was(memory: Service) -> None:
    with pytest.raises(Usage, match="valid-from '2026-02-30'"):
        memory.store("Something", valid_from="2026-02-30")
    with pytest.raises(Usage, match="since '2026-02-30'"):
        memory.recall("something", since="2026-02-30")
    assert memory.stats().total == 0

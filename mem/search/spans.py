"""Spans of local time: days, weeks, months and seasons, seen from one moment in one time zone.

A span is half-open and in UTC. A day begins at its first local instant, so it may have 23 or 25 hours. A date
that does not exist raises ValueError, one beyond what a calendar holds ValueError or OverflowError.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from mem.search.temporal_words import Unit

ONE_DAY = timedelta(days=1)
Span = tuple[datetime, datetime]


def _shifted(unit: Unit, day: date, count: int) -> date:
    """Return the day some units later; in a shorter month its last day."""
    match unit:
        case Unit.WEEK | Unit.WEEKEND:
            return day + 7 * count * ONE_DAY
        case Unit.MONTH | Unit.QUARTER | Unit.YEAR:
            months = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}[unit]
            year, month = divmod(day.year * 12 + day.month - 1 + months * count, 12)
            following = date(year + month // 11, (month + 1) % 12 + 1, 1)
            return date(year, month + 1, min(day.day, (following - ONE_DAY).day))
        case _:
            return day + count * ONE_DAY


@dataclass(frozen=True, slots=True)
class Calendar:
    """Turns what a phrase says into a span, seen from now."""

    now: datetime
    zone: tzinfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def first_of(self, unit: Unit) -> date:
        """Return the first day of the present unit, or of the weekend of this week."""
        today = self.today
        match unit:
            case Unit.WEEK:
                return today - today.weekday() * ONE_DAY
            case Unit.WEEKEND:
                return today + (5 - today.weekday()) * ONE_DAY
            case Unit.MONTH:
                return today.replace(day=1)
            case Unit.QUARTER:
                return date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
            case Unit.YEAR:
                return date(today.year, 1, 1)
            case _:
                return today

    def span(self, first: date, end: date) -> Span:
        """Return the time from the first local instant of a day to that of another."""
        since, until = (datetime(day.year, day.month, day.day, tzinfo=self.zone) for day in (first, end))
        return since.astimezone(UTC), until.astimezone(UTC)

    def day(self, day: date) -> Span:
        return self.span(day, day + ONE_DAY)

    def period(self, unit: Unit, count: int) -> Span:
        """Return a whole unit, `count` after the present one."""
        if unit in (Unit.MINUTE, Unit.HOUR):
            return self.latest(unit, -count)
        first = _shifted(unit, self.first_of(unit), count)
        return self.span(first, first + 2 * ONE_DAY if unit is Unit.WEEKEND else _shifted(unit, first, 1))

    def latest(self, unit: Unit, count: int) -> Span:
        """Return the last so many units up to now."""
        if unit in (Unit.MINUTE, Unit.HOUR):
            return (self.now - count * _length(unit)).astimezone(UTC), self.now.astimezone(UTC)
        return self.span(_shifted(unit, self.today, -count), self.today + ONE_DAY)

    def ago(self, unit: Unit, count: int) -> Span:
        """Return the time so many units ago, as wide as the unit is vague."""
        if unit in (Unit.MINUTE, Unit.HOUR):
            instant = self.now - count * _length(unit)
            width = timedelta(minutes=15) if unit is Unit.MINUTE else timedelta(hours=1)
            return (instant - width).astimezone(UTC), (instant + width).astimezone(UTC)
        first = _shifted(unit, self.first_of(unit), -count)
        if unit is Unit.WEEKEND:
            return self.span(first, first + 2 * ONE_DAY)
        margin = {Unit.DAY: 1, Unit.WEEK: 3}.get(unit, 0) * ONE_DAY
        return self.span(first - margin, _shifted(unit, first, 1) + margin)

    def month(self, month: int, year: int | None = None) -> Span:
        """Return a month, without a year the latest that has begun."""
        year = year or self.today.year - (month > self.today.month)
        return self.span(date(year, month, 1), _shifted(Unit.MONTH, date(year, month, 1), 1))

    def month_before(self, month: int, count: int = 1) -> Span:
        """Return the latest month of that name that is over."""
        return self.month(month, self.today.year - (month >= self.today.month) - count + 1)

    def date(self, day: int, month: int, year: int | None = None) -> Span:
        """Return a day, without a year the latest that has begun."""
        if year:
            return self.day(date(year, month, day))
        latest = self.today
        for back in range(9):  # the eight years that may lie between leap days
            try:
                found = date(latest.year - back, month, day)
            except ValueError:
                continue
            if found <= latest:
                return self.day(found)
        raise ValueError(f"no day {day} in month {month}")

    def weekday_before(self, weekday: int, count: int = 1) -> Span:
        """Return the latest such weekday before today."""
        back = (self.today.weekday() - weekday - 1) % 7 + 1 + 7 * (count - 1)
        return self.day(self.today - back * ONE_DAY)

    def year(self, year: int) -> Span:
        return self.span(date(year, 1, 1), date(year + 1, 1, 1))

    def season(self, season: int, year: int) -> Span:
        first = _shifted(Unit.MONTH, date(year, 3, 1), 3 * season - (12 if season == 3 else 0))
        return self.span(first, _shifted(Unit.MONTH, first, 3))

    def season_begun(self, season: int) -> Span:
        """Return the latest season of that name that has begun."""
        spans = (self.season(season, self.today.year - back) for back in (-1, 0, 1))
        return next(span for span in spans if span[0] <= self.now)

    def season_before(self, season: int, count: int = 1) -> Span:
        """Return the latest season of that name that is over."""
        spans = (self.season(season, self.today.year - back) for back in range(3))
        found = next(span for span in spans if span[1] <= self.now)
        return found if count == 1 else self.season(season, found[1].year - count + 1)

    def quarter(self, quarter: int, year: int | None = None) -> Span:
        """Return a quarter, without a year the latest that has begun."""
        month = 3 * quarter - 2
        first = date(year or self.today.year - (month > self.today.month), month, 1)
        return self.span(first, _shifted(Unit.QUARTER, first, 1))


def _length(unit: Unit) -> timedelta:
    return timedelta(minutes=1) if unit is Unit.MINUTE else timedelta(hours=1)

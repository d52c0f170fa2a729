"""A phrase of time in a question gives the window that its reader has in mind, in the reader's time zone."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.search.temporal import Window, find_window

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)  # a Wednesday, 16:30 in Berlin
LAST_WEEK = ("2026-05-11", "2026-05-18")
LAST_MONTH = ("2026-04-01", "2026-05-01")
LAST_YEAR = ("2025-01-01", "2026-01-01")
THIS_WEEK = ("2026-05-18", "2026-05-25")
YESTERDAY = ("2026-05-19", "2026-05-20")
DAY_BEFORE = ("2026-05-18", "2026-05-19")
TODAY = ("2026-05-20", "2026-05-21")
TUESDAY = YESTERDAY
THREE_DAYS_AGO = ("2026-05-16", "2026-05-19")
LAST_THREE_DAYS = ("2026-05-17", "2026-05-21")
WEEK_AGO = ("2026-05-08", "2026-05-21")
JUNE = ("2025-06-01", "2025-07-01")
JUNE_3_2024 = ("2024-06-03", "2024-06-04")
LAST_SUMMER = ("2025-06-01", "2025-09-01")

PHRASES = {
    # English
    "what did we do today": TODAY,
    "yesterday's deploy": YESTERDAY,
    "the day before yesterday": DAY_BEFORE,
    "3 days ago": THREE_DAYS_AGO,
    "THREE DAYS AGO": THREE_DAYS_AGO,
    "a week ago": WEEK_AGO,
    "two weeks ago": ("2026-05-01", "2026-05-14"),
    "twelve months ago": ("2025-05-01", "2025-06-01"),
    "a couple of years ago": ("2024-01-01", "2025-01-01"),
    "last week": LAST_WEEK,
    "this week": THIS_WEEK,
    "the past week": ("2026-05-13", "2026-05-21"),
    "the week before last": ("2026-05-04", "2026-05-11"),
    "last weekend": ("2026-05-16", "2026-05-18"),
    "last month": LAST_MONTH,
    "last quarter": ("2026-01-01", "2026-04-01"),
    "last year": LAST_YEAR,
    "last 3 days": LAST_THREE_DAYS,
    "the past three months": ("2026-02-20", "2026-05-21"),
    "last Tuesday": TUESDAY,
    "last Wednesday": ("2026-05-13", "2026-05-14"),
    "last June": JUNE,
    "last May": ("2025-05-01", "2025-06-01"),
    "what broke last may?": ("2025-05-01", "2025-06-01"),
    "in June": JUNE,
    "in May": ("2026-05-01", "2026-06-01"),
    "in march": ("2026-03-01", "2026-04-01"),
    "this March": ("2026-03-01", "2026-04-01"),
    "the decisions of March 2025": ("2025-03-01", "2025-04-01"),
    "during early June 2024": ("2024-06-01", "2024-07-01"),
    "may 2024": ("2024-05-01", "2024-06-01"),
    "Sept. 2024": ("2024-09-01", "2024-10-01"),
    "on June 3": ("2025-06-03", "2025-06-04"),
    "June 3rd, 2024": JUNE_3_2024,
    "the 3rd of June 2024": JUNE_3_2024,
    "on may 5": ("2026-05-05", "2026-05-06"),
    "February 29": ("2024-02-29", "2024-03-01"),
    "May 20": TODAY,
    "May 21": ("2025-05-21", "2025-05-22"),
    "in 2025": LAST_YEAR,
    "summer 2025": LAST_SUMMER,
    "last summer": LAST_SUMMER,
    "winter 2026": ("2025-12-01", "2026-03-01"),
    "last fall": ("2025-09-01", "2025-12-01"),
    "Q3 2025": ("2025-07-01", "2025-10-01"),
    "notes of 2025-03-14": ("2025-03-14", "2025-03-15"),
    "at 2025-03-14T10:00": ("2025-03-14", "2025-03-15"),
    "2026-05": ("2026-05-01", "2026-06-01"),
    # German
    "Was haben wir heute gemacht?": TODAY,
    "gestern": YESTERDAY,
    "vorgestern": DAY_BEFORE,
    "vor drei Tagen": THREE_DAYS_AGO,
    "vor einer Woche": WEEK_AGO,
    "letzte Woche": LAST_WEEK,
    "letztes Jahr": LAST_YEAR,
    "in den letzten 3 Tagen": LAST_THREE_DAYS,
    "letzten Dienstag": TUESDAY,
    "letzten Juni": JUNE,
    "diese Woche": THIS_WEEK,
    "im Juni": JUNE,
    "Ende März 2025": ("2025-03-01", "2025-04-01"),
    "am 3. Juni 2024": JUNE_3_2024,
    "14.3.2025": ("2025-03-14", "2025-03-15"),
    "im Sommer 2025": LAST_SUMMER,
    # French
    "aujourd’hui": TODAY,
    "qu'avons-nous décidé hier ?": YESTERDAY,
    "avant-hier": DAY_BEFORE,
    "il y a trois jours": THREE_DAYS_AGO,
    "la semaine dernière": LAST_WEEK,
    "l'année dernière": LAST_YEAR,
    "ces 3 derniers jours": LAST_THREE_DAYS,
    "mardi dernier": TUESDAY,
    "au mois de juin": JUNE,
    "le 3 juin 2024": JUNE_3_2024,
    "l'été dernier": LAST_SUMMER,
    "cette semaine": THIS_WEEK,
    # Spanish
    "hoy": TODAY,
    "ayer": YESTERDAY,
    "antes de ayer": DAY_BEFORE,
    "hace tres días": THREE_DAYS_AGO,
    "la semana pasada": LAST_WEEK,
    "el mes pasado": LAST_MONTH,
    "los ultimos tres dias": LAST_THREE_DAYS,
    "el martes pasado": TUESDAY,
    "en junio": JUNE,
    "el 3 de junio de 2024": JUNE_3_2024,
    "el verano pasado": LAST_SUMMER,
    # Portuguese
    "hoje": TODAY,
    "ontem": YESTERDAY,
    "anteontem": DAY_BEFORE,
    "há 3 dias": THREE_DAYS_AGO,
    "três dias atrás": THREE_DAYS_AGO,
    "na semana passada": LAST_WEEK,
    "terça-feira passada": TUESDAY,
    "em março de 2025": ("2025-03-01", "2025-04-01"),
    "3 de junho de 2024": JUNE_3_2024,
    # Italian
    "oggi": TODAY,
    "ieri": YESTERDAY,
    "l'altro ieri": DAY_BEFORE,
    "tre giorni fa": THREE_DAYS_AGO,
    "la settimana scorsa": LAST_WEEK,
    "l'anno scorso": LAST_YEAR,
    "gli ultimi 3 giorni": LAST_THREE_DAYS,
    "martedì scorso": TUESDAY,
    "a giugno": JUNE,
    "quest'anno": ("2026-01-01", "2027-01-01"),
    # Russian
    "сегодня": TODAY,
    "вчера": YESTERDAY,
    "позавчера": DAY_BEFORE,
    "три дня назад": THREE_DAYS_AGO,
    "неделю назад": WEEK_AGO,
    "на прошлой неделе": LAST_WEEK,
    "в прошлом году": LAST_YEAR,
    "за последние 3 дня": LAST_THREE_DAYS,
    "в прошлый вторник": TUESDAY,
    "в июне": JUNE,
    "3 июня 2024 года": JUNE_3_2024,
    "прошлым летом": LAST_SUMMER,
    # Chinese
    "今天": TODAY,
    "昨天决定了什么": YESTERDAY,
    "前天": DAY_BEFORE,
    "三天前": THREE_DAYS_AGO,
    "一周前": WEEK_AGO,
    "上周我们决定了什么": LAST_WEEK,
    "上周一直": LAST_WEEK,
    "上周三": ("2026-05-13", "2026-05-14"),
    "上个月": LAST_MONTH,
    "去年": LAST_YEAR,
    "今年": ("2026-01-01", "2027-01-01"),
    "本周": THIS_WEEK,
    "最近三天": LAST_THREE_DAYS,
    "6月": JUNE,
    "十二月": ("2025-12-01", "2026-01-01"),
    "2025年3月": ("2025-03-01", "2025-04-01"),
    "2024年6月3日": JUNE_3_2024,
    "去年6月": JUNE,
    "去年夏天": LAST_SUMMER,
    "半年前": ("2025-11-01", "2025-12-01"),
    # Japanese
    "昨日": YESTERDAY,
    "一昨日": DAY_BEFORE,
    "３日前": THREE_DAYS_AGO,
    "先週": LAST_WEEK,
    "先週の火曜日": ("2026-05-12", "2026-05-13"),
    "先月": LAST_MONTH,
    "昨年": LAST_YEAR,
    "過去3日間": LAST_THREE_DAYS,
    "昨年の夏": LAST_SUMMER,
}


def _days(window: Window | None, zone: tzinfo) -> tuple[str, str] | None:
    """Return the first local day of a window and the day after its last; its ends must be local midnights."""
    if window is None:
        return None
    local = [moment.astimezone(zone) for moment in (window.since, window.until)]
    assert [moment.strftime("%H:%M:%S") for moment in local] == ["00:00:00"] * 2
    return local[0].date().isoformat(), local[1].date().isoformat()


@pytest.mark.parametrize(("query", "days"), PHRASES.items())
@pytest.mark.parametrize("zone", [BERLIN, UTC], ids=["Berlin", "UTC"])
def test_a_phrase_gives_its_days(query: str, days: tuple[str, str], zone: tzinfo) -> None:
    assert _days(find_window(query, NOW, zone), zone) == days


@pytest.mark.parametrize(
    "query",
    [
        "may I deploy on Friday", "we may 2x the load", "we may 5 times", "may 5 people join",
        "last may be", "this may be wrong", "too late may be fine", "march through the city",
        "We march 3 miles", "I like march", "the sun sets", "convert hex in dec", "in spring",
        "Spring Boot", "mai più", "Was steht hier?", "the idea de Marco", "in 2000 days", "in 2048 bits",
        "back in 1850", "v2024.05.01", "CVE-2026-05123", "12.13.2025", "2025-13-01", "February 30",
        "31 June", "1e9 years ago", "1000000000 years ago", "999999 years ago", "9" * 5000 + " days ago",
        "days ago", "June", "the year", "port 2025", "next week", "vor 3 days", "last Dienstag", "tag v1.2",
        "三月前", "こんにちは", "13月", "99999年前", "", "\0", "\ud800",
        "how often do we change credentials?",
    ],
)  # fmt: skip
def test_what_is_no_phrase_of_time_gives_no_window(query: str) -> None:
    assert find_window(query, NOW, BERLIN) is None


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("ten minutes ago", timedelta(minutes=25), timedelta(minutes=-5)),
        ("an hour ago", timedelta(hours=2), timedelta(0)),
        ("vor 2 Stunden", timedelta(hours=3), timedelta(hours=1)),
        ("last 24 hours", timedelta(hours=24), timedelta(0)),
        ("十分钟前", timedelta(minutes=25), timedelta(minutes=-5)),
    ],
)
def test_minutes_and_hours_count_from_now(query: str, since: timedelta, until: timedelta) -> None:
    window = find_window(query, NOW, BERLIN)
    assert window is not None
    assert (window.since, window.until) == (NOW - since, NOW - until)


def test_the_first_phrase_counts_and_is_named() -> None:
    window = find_window("What changed last week, after what we said in June?", NOW, BERLIN)
    assert window is not None
    assert window.phrase == "last week"


def test_a_date_that_does_not_exist_leaves_the_next_phrase() -> None:
    window = find_window("February 30 or yesterday", NOW, BERLIN)
    assert window is not None
    assert window.phrase == "yesterday"


def test_the_longest_reading_wins() -> None:
    window = find_window("on the day before yesterday", NOW, BERLIN)
    assert window is not None
    assert window.phrase == "day before yesterday"


def test_days_are_those_of_the_time_zone() -> None:
    late = datetime(2026, 5, 20, 22, 30, tzinfo=UTC)  # the 21st in Berlin
    assert _days(find_window("today", late, BERLIN), BERLIN) == ("2026-05-21", "2026-05-22")
    assert _days(find_window("today", late, UTC), UTC) == TODAY


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 6, 1), 24)], ids=str
)
def test_a_day_lasts_as_long_as_its_clock_says(day: date, hours: int) -> None:
    window = find_window(day.isoformat(), NOW, BERLIN)
    assert window is not None
    assert window.until - window.since == timedelta(hours=hours)
    evening = datetime(day.year, day.month, day.day, 20, tzinfo=BERLIN)
    assert find_window("today", evening, BERLIN) == Window(window.since, window.until, "today")


def test_a_day_without_midnight_begins_at_its_first_instant() -> None:
    window = find_window("2018-11-04", NOW, ZoneInfo("America/Sao_Paulo"))
    assert window is not None
    assert window.since == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert window.until - window.since == timedelta(hours=23)


def test_windows_are_in_utc() -> None:
    window = find_window("yesterday", NOW.astimezone(BERLIN), BERLIN)
    assert window is not None
    assert window.since.tzinfo is window.until.tzinfo is UTC
    assert window.since == datetime(2026, 5, 18, 22, tzinfo=UTC)


_ZONES = st.sampled_from(
    [
        UTC,
        BERLIN,
        ZoneInfo("Pacific/Kiritimati"),
        timezone(timedelta(hours=-12)),
        ZoneInfo("America/Sao_Paulo"),
    ]
)
_NOWS = st.one_of(
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(datetime(2000, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC)),
    st.sampled_from([datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
)
_PIECES = st.one_of(
    st.sampled_from(list(PHRASES)),
    st.sampled_from(
        ["ago", "last", "in", "31", "0", "9999", "1999", "May", "march", "3rd", "29", "February"]
    ),
    st.sampled_from(
        ["may", "year", "day", "weeks", "Q4", "winter", "2100", "of", "vor", "fa", "il y a", "this"]
    ),
    st.sampled_from(
        ["年", "月", "日", "前", "十", "上", "周", "春", "先週の", "半", "00", ",", ".", "-", "/", "'", "\0"]
    ),
    st.text(max_size=4),
)
_QUERIES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(_PIECES, max_size=8).map(" ".join),
    st.lists(_PIECES, max_size=8).map("".join),
)


@settings(max_examples=400, deadline=None, database=None)
@given(_QUERIES, _NOWS, _ZONES)
def test_no_query_raises_and_each_window_is_a_stretch_of_time(
    query: str, now: datetime, zone: tzinfo
) -> None:
    window = find_window(query, now, zone)
    if window is not None:
        assert window.since < window.until
        assert window.phrase.strip()


def test_a_long_query_is_read_in_no_time() -> None:
    window = find_window("in " * 200_000 + "yesterday", NOW, BERLIN)
    assert window is None

"""A citation of what was not shown is stripped, in whatever form it is written; everything else stays."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from telling import get, tell

from mem.context import citations
from mem.errors import Usage
from mem.service import Service
from mem.values import Mode

SHOWN = {7, 9}
UID = "0192f3a4-5b6c-7d8e-9f01-23456789abcd"


def shown_as(reference: str) -> int | None:
    """What a trace that shows #7, which has that UUID, and #9 knows."""
    if reference.isdecimal():
        return int(reference) if len(reference) < 19 and int(reference) in SHOWN else None
    return 7 if len(reference) >= 8 and UID.startswith(reference) else None


def cleaned(text: str) -> str:
    return citations.check(text, shown_as).text


NOT_SHOWN = [
    "[#8]",
    "[ # 8 ]",
    "[#  8]",
    "[\t#8\n]",
    "[##8]",
    "[id:8]",
    "[ID: 8]",
    "[ Id = 8 ]",
    "[id 8]",
    "[id: #8]",
    "[memory #8]",
    "[see #8]",
    "［＃８］",
    "［#8]",
    "【#8】",
    "[﹟8]",
    "[#\u200b8]",
    "[\u2060#8\ufeff]",
    "[#8\ufe0f]",
    "[i\u00add:8]",
    "[#٨]",
    "[#𝟖]",
    "[**#8**]",
    "[`#8`]",
    "[#8, #10]",
    "[#8 #10]",
    "[#8,10; 11]",
    "[#8-#10]",
    "[#8 and #10]",
    "[#0192f3a5]",
    "[#0192f3a5-5b6c-7d8e-9f01-23456789abcd]",
    "[#0192F3A5-5B6C]",
    "[uuid: 0192f3a5-5b6c]",
    "[#" + "8" * 5_000 + "]",
]


@pytest.mark.parametrize("citation", NOT_SHOWN)
def test_what_was_not_shown_is_stripped_in_any_spelling(citation: str) -> None:
    checked = citations.check(f"It opens at seven {citation}.\r\n\tYes", shown_as)
    assert checked.text == "It opens at seven .\r\n\tYes"
    assert checked.rejected and not checked.valid
    assert cleaned(f"```\n{citation}\n```") == "```\n\n```"


@pytest.mark.parametrize(
    "citation",
    [
        "[#7]",
        "[ #7 ]",
        "[# 7]",
        "[ID: 7]",
        "［＃７］",
        "[#007]",
        "[#7, #9]",
        f"[#{UID}]",
        "[#0192F3A4]",
        "[`#9`]",
    ],
)
def test_what_was_shown_stays_as_it_is_written(citation: str) -> None:
    checked = citations.check(f"It opens {citation}.", shown_as)
    assert (checked.text, checked.rejected) == (f"It opens {citation}.", ())
    assert set(checked.valid) <= SHOWN and checked.valid


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[#7, #8]", "[#7]"),
        ("[ #8; id:9 , #7]", "[#9, #7]"),
        (f"[#8 #{UID}]", f"[#{UID}]"),
        ("[#[#8]8]", ""),
        ("[#[#10]7]", "[#7]"),
        ("[[#8]#8]", ""),
        ("[#x[#8]", "[#x"),
        ("[#8][#7][#8]", "[#7]"),
        ("[#8](https://example.org)", "(https://example.org)"),
    ],
)
def test_of_several_those_that_were_shown_stay(text: str, left: str) -> None:
    assert cleaned(text) == left
    assert cleaned(left) == left


@pytest.mark.parametrize(
    "text",
    [
        "[8]",
        "[^8]",
        "#8",
        "(#8)",
        "[]",
        "[#]",
        "[#todo]",
        "[#8a]",
        "[Fix #8 today]",
        "a[i] = b[8]",
        "[x] [ ]",
        "]8#[",
    ],
)
def test_what_is_no_citation_is_left_alone(text: str) -> None:
    assert citations.check(text, shown_as) == citations.Checked(text)


PIECES = [
    *"[]#［］＃【】 ,;:-7890٨８\u200b\u2060*`x\n",
    "id",
    "ID:",
    "#7",
    "#8",
    "[#8]",
    "[#7]",
    UID,
    "0192f3a5",
]
CITATION = re.compile(
    r"\[\s*(?:#\s*|ids?\s*:\s*#?\s*)(?:(\d+)|([0-9a-f][0-9a-f-]{7,35}))"
    r"(?:\s*[,;]?\s*#\s*(?:\d+|[0-9a-f][0-9a-f-]{7,35}))*\s*\]"
)


def plainly(text: str) -> str:
    """The text as it reads, made independently of what is tested."""
    text = unicodedata.normalize("NFKC", text).casefold().translate({ord("【"): "[", ord("】"): "]"})
    kept = (mark for mark in text if unicodedata.category(mark) != "Cf" and mark not in "*`")
    return "".join(str(unicodedata.digit(mark)) if mark.isdecimal() else mark for mark in kept)


@example("[#77#7]")
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_nothing_that_was_not_shown_is_cited_and_a_second_look_changes_nothing(text: str) -> None:
    checked = citations.check(text, shown_as)
    for found in CITATION.finditer(plainly(checked.text)):
        ids = re.findall(r"[0-9a-f][0-9a-f-]{7,35}|\d+", found[0])
        assert all(shown_as(one) is not None for one in ids), (text, checked.text)
    again = citations.check(checked.text, shown_as)
    assert (again.text, again.rejected) == (checked.text, ())


@given(
    st.lists(st.sampled_from([*"abc \t\n()#*`7890,;:", "[x]", "[7]", "[#7]", "[ # 9 ]", "é", "数"])).map(
        "".join
    )
)
def test_a_text_that_cites_only_what_was_shown_stays_byte_for_byte(text: str) -> None:
    assert cleaned(text) == text


@given(
    st.lists(st.tuples(st.text("abc #7-,\n数", max_size=9), st.sampled_from(NOT_SHOWN)), max_size=9),
)
def test_all_but_the_citations_stays_byte_for_byte(parts: list[tuple[str, str]]) -> None:
    assert cleaned("".join(said + cited for said, cited in parts)) == "".join(said for said, _ in parts)


@pytest.mark.parametrize(
    "text", ["[#" * 50_000, "[#" * 33_000 + "8" + "]" * 33_000, "[#" + "see " * 24_000 + "]"]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    import time

    began = time.process_time()
    cleaned(text)
    assert time.process_time() - began < 5


# Through the service


def test_a_trace_lets_through_what_it_showed_by_number_uuid_and_prefix(memory: Service) -> None:
    office = tell(memory, "The harbour office opens at seven")
    other = tell(memory, "We use Postgres for billing")
    found = memory.recall("when does the harbour office open", mode=Mode.LEXICAL)
    assert [str(hit.memory.id) for hit in found.hits] == [office] and found.trace_id
    uid, strange = get(memory, office).uid, get(memory, other).uid
    checked = memory.cite(
        found.trace_id, f"[ #{office} ] [#{uid}] [#{uid[:28]}] [#{other}] [#{strange}] [#99]"
    )
    assert checked.text == f"[ #{office} ] [#{uid}] [#{uid[:28]}]   "
    assert (checked.trace_found, checked.valid) == (True, (int(office),))
    assert checked.rejected == (other, strange, "99")
    assert memory.cite(found.trace_id[:28].upper(), f"[#{office}]").text == f"[#{office}]"


def test_a_prefix_that_stands_for_several_memories_cites_none(memory: Service) -> None:
    ids = [tell(memory, f"The harbour office opens at {number}") for number in range(2)]
    found = memory.recall("when does the harbour office open")
    assert {str(hit.memory.id) for hit in found.hits} == set(ids) and found.trace_id
    prefix = get(memory, ids[0]).uid[:8]
    assert get(memory, ids[1]).uid.startswith(prefix)
    assert memory.cite(found.trace_id, f"[#{prefix}]").text == ""


@pytest.mark.parametrize("trace", [UID, "0192f3a4", "nonsense", "1", ""])
def test_an_unknown_trace_strips_all(memory: Service, trace: str) -> None:
    tell(memory, "The harbour office opens at seven")
    checked = memory.cite(trace, "It opens at seven [#1] [7].")
    assert (checked.text, checked.trace_found, checked.valid) == ("It opens at seven  [7].", False, ())


def test_a_memory_that_is_held_back_may_not_be_cited(memory: Service) -> None:
    for number in range(3):
        tell(memory, f"The harbour office opens at {number}")
    found = memory.recall("when does the harbour office open", limit=1)
    assert found.total == 3 and found.trace_id
    shown = found.hits[0].memory.id
    assert memory.cite(found.trace_id, "[#1][#2][#3]").text == f"[#{shown}]"


def test_a_text_that_is_too_long_is_refused(memory: Service) -> None:
    assert memory.cite("0192f3a4", "x" * citations.LONGEST).text
    with pytest.raises(Usage, match="100,001 characters"):
        memory.cite("0192f3a4", "x" * (citations.LONGEST + 1))

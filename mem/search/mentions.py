"""Entities that a question names, and what is known of them: one more leg of recall.

A question that names an entity or an alias lifts what the other legs found of it, brings what is newest of
it, and, one step out, of what it is related to now. Light to import, since every recall and every hook asks
it.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import apsw

from mem.search.lexical import LexicalLeg, stemmed
from mem.search.stopwords import STOP_WORDS
from mem.search.text import query_terms
from mem.store import entities
from mem.store.connect import select
from mem.store.filters import Where
from mem.values import Scope

LONGEST_NAME = 6  # words of a name that a question is searched for
LONGEST_RUN = 12  # characters of a name in a script without spaces
LONGEST_QUESTION = 2_000  # characters that are searched for names
MOST_POSSIBLE = 6_000  # runs of words that are looked up
MOST_NAMED = 5  # entities that one question names
MOST_NEAR = 20  # entities that these are related to
NEWEST, NEWEST_NEAR = 20, 3  # observations of each that nothing but the name finds
ONE_STEP_OUT = 0.25  # what an observation of a neighbour counts, beside one of the entity itself

_BETWEEN = re.compile(r"[\s_\u2010-\u2015\u2212-]+")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]")
_OPENING = "\"'([{<«„“‚‘¿¡*`~"
_CLOSING = "\"')]}>»“”.,;:!?…*`~。！？、，；："
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNITS = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{3,}$")


def key(name: str) -> str:
    """What names are the same by.

    NFKC, case-folded; spaces, hyphens and underscores are alike; without a leading @ or #, and without what
    nobody sees.
    """
    return _BETWEEN.sub(" ", _folded(name)).lstrip("@# ").strip()


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", plain)).replace("’", "'")


def named_in(db: apsw.Connection, query: str, scope: Scope) -> dict[int, str]:
    """The live entities of a scope that a question names, and as what, the longest name first.

    At most `MOST_NAMED`.
    """
    possible = set(islice(_names_possible(query), MOST_POSSIBLE))
    found = entities.keys_among(db, possible, scope)
    # A name within a longer one that is named too is not meant: "billing" in "billing service".
    kept = [
        (name, number)
        for number, name in found.items()
        if not any(name != other and _is_within(name, other) for other in found.values())
    ]
    longest = sorted(kept, key=lambda pair: (-len(pair[0]), pair[1]))[:MOST_NAMED]
    return {number: name for name, number in longest}


def _is_within(name: str, other: str) -> bool:
    return f" {name} " in f" {other} " or (bool(_IS_UNSPACED.search(name)) and name in other)


def _names_possible(query: str) -> Iterator[str]:
    """Whatever could be a name in a question, as keys: up to six words, or part of a run without spaces.

    A single function word is a name only where it is written like one: "who is in IT?".
    """
    written = _BETWEEN.sub(" ", unicodedata.normalize("NFKC", query[:LONGEST_QUESTION])).split()
    words = [_folded(word) for word in written]
    heads, tails = [_heads(word) for word in words], [_tails(word) for word in words]
    for begin, word in enumerate(words):
        is_name = begin > 0 and written[begin].strip(_OPENING)[:1].isupper()
        yield from (one for one in _single(word) if is_name or one not in STOP_WORDS)
        between = ""
        for end in range(begin + 1, min(begin + LONGEST_NAME, len(words))):
            for head in heads[begin]:
                yield from (f"{head}{between} {tail}".lstrip("@# ") for tail in tails[end])
            between += f" {words[end]}"
    for word in words:
        yield from _within_word(word)


def _single(word: str) -> Iterable[str]:
    both = (tail for head in _heads(word) for tail in _tails(head))
    return dict.fromkeys(found for one in both if (found := one.lstrip("@# ")))


def _heads(word: str) -> tuple[str, ...]:
    """A word as a name may begin with it: also without an opening mark, or what is written before it."""
    if word.isascii() and word.isalnum():
        return (word,)
    bare = word.lstrip(_OPENING)
    last = _UNITS.findall(bare)[-1:]
    return tuple(dict.fromkeys((word, bare, *(unit for unit in last if not _IS_UNSPACED.match(unit)))))


def _tails(word: str) -> tuple[str, ...]:
    """A word as a name may end with it: also without a closing mark, a genitive or a Korean particle."""
    if word.isascii() and word.isalnum() and word[-1] != "s":
        return (word,)
    bare = word.rstrip(_CLOSING)
    found = [word, bare, *(unit for unit in _UNITS.findall(bare)[:1] if not _IS_UNSPACED.match(unit))]
    for ending in ("'s", "'", "s"):
        if bare.endswith(ending) and len(bare) > len(ending) + 1:
            found.append(bare.removesuffix(ending))
    if _HANGUL.search(bare):
        found += [bare[:-1], bare[:-2]]
    return tuple(dict.fromkeys(found))


def _within_word(word: str) -> Iterator[str]:
    """The parts of a word in a script without spaces, of two characters and more; other letters whole."""
    if not _IS_UNSPACED.search(word):
        return
    units = _UNITS.findall(word)
    for begin in range(len(units)):
        for end in range(begin + 1, min(begin + LONGEST_RUN, len(units)) + 1):
            part = "".join(units[begin:end]).lstrip("@#")
            if len(part) > 1:
                yield part


def observed(
    db: apsw.Connection,
    query: str,
    scope: Scope,
    condition: Where,
    *,
    words: LexicalLeg,
    meaning: Iterable[int],
    now: str,
) -> tuple[tuple[int, float], ...]:
    """What is known of what a question names, and of its neighbours, as (number, score, 0-1).

    Of what the other legs found all that is observed of it, and what names it and is observed of nothing; of
    the rest a few of the newest observations. Empty where the question names nothing.
    """
    if not db.execute("SELECT EXISTS (SELECT 1 FROM entity_names)").get:
        return ()
    named = named_in(db, query, scope)
    if not named:
        return ()
    near = _near(db, list(named), now)
    among = list(dict.fromkeys((*(number for number, _ in words.hits), *meaning)))
    naming = {number for name in named.values() for number in _naming(db, name, words)}
    about = dict(
        select(
            db,
            """SELECT m.id, m.entity_id FROM json_each(?1) j CROSS JOIN memories m ON m.id = j.value
               WHERE m.entity_id IN (SELECT value FROM json_each(?2))
                  OR m.entity_id IS NULL AND m.id IN (SELECT value FROM json_each(?3))""",
            (json.dumps(among), json.dumps([*named, *near]), json.dumps([*naming & set(among)])),
        )
    )
    scores = {number: _worth(about[number], named) for number in among if number in about}
    for entity_id in (*named, *near):
        for number in _newest(db, entity_id, condition, NEWEST if entity_id in named else NEWEST_NEAR):
            scores.setdefault(number, _worth(entity_id, named))
    # The sort is stable: what belongs to the named ones goes before what belongs to their neighbours.
    return tuple(sorted(scores.items(), key=lambda pair: -pair[1]))


def _naming(db: apsw.Connection, name: str, words: LexicalLeg) -> set[int]:
    """What holds all words of a name: a note that was not entered as an observation is about it, too."""
    stems = stemmed(db, query_terms(name))
    holding = [{number for number, _, _ in words.postings.get(stem, ())} for stem in stems]
    return set.intersection(*holding) if holding else set()


def _worth(entity_id: int | None, named: Collection[int]) -> float:
    return 1.0 if entity_id is None or entity_id in named else ONE_STEP_OUT


def _near(db: apsw.Connection, named: Sequence[int], now: str) -> list[int]:
    """What these are related to now, the strongest relations first."""
    rows = select(
        db,
        """WITH named (id) AS (SELECT value FROM json_each(?1)),
                both (other, weight, begins, ends, status) AS (
                  SELECT to_id, weight, valid_from, valid_to, status FROM relations
                  WHERE from_id IN (SELECT id FROM named)
                  UNION ALL
                  SELECT from_id, weight, valid_from, valid_to, status FROM relations
                  WHERE to_id IN (SELECT id FROM named))
           SELECT other FROM both
           WHERE status = 'active' AND ifnull(begins, '') <= ?2 AND ifnull(ends, '~') > ?2
             AND other NOT IN (SELECT id FROM named)
           GROUP BY other ORDER BY max(weight) DESC, other LIMIT ?3""",
        (json.dumps(named), now, MOST_NEAR),
    )
    return [row[0] for row in rows]


def _newest(db: apsw.Connection, entity_id: int, condition: Where, most: int) -> list[int]:
    rows = select(
        db,
        f"""SELECT m.id FROM memories m INDEXED BY memories_entity
            WHERE m.entity_id = ? AND {condition.sql} ORDER BY m.id DESC LIMIT {most}""",
        (entity_id, *condition.values),
    )
    return [row[0] for row in rows]

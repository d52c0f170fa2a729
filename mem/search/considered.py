"""What a search considered, as its trace keeps it: numbers, scores, ranks and rules, not a word.

A few of each kind are enough to see why something was not found; recall must not get slower by it.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from mem.search.recall import Ranked, Ranking
from mem.store.traces import Shown, Withheld
from mem.values import Rule

MOST_BEYOND, MOST_UNRELATED = 30, 10


def handed_out(hits: Iterable[Ranked]) -> tuple[Shown, ...]:
    """The hits with their scores and their ranks in each leg."""
    return tuple(Shown(hit.id, round(hit.score, 4), _ranks(hit)) for hit in hits)


def passed_over(ranking: Ranking, limit: int) -> tuple[Withheld, ...]:
    """What a recall of so many hits leaves out: the next ones, and what does not reach them."""
    beyond = ranking.hits[limit : limit + MOST_BEYOND]
    return (*(Withheld(hit.id, round(hit.score, 4), Rule.LIMIT) for hit in beyond), *below(ranking))


def below(ranking: Ranking) -> tuple[Withheld, ...]:
    """The best of what the question found and what is no hit: it is unrelated, or the filter refuses it."""
    refused = [Withheld(number, None, Rule.FILTER) for number in ranking.words.refused]
    return (*(Withheld(number, None, Rule.FLOOR) for number in _unrelated(ranking)), *refused)


def _unrelated(ranking: Ranking) -> Iterator[int]:
    kept = {hit.id for hit in ranking.hits}
    legs = chain((number for number, _ in ranking.words.hits), (near.number for near in ranking.meaning.hits))
    return islice(dict.fromkeys(number for number in legs if number not in kept), MOST_UNRELATED)


def _ranks(hit: Ranked) -> dict[str, int]:
    return {name: leg[hit.id][0] for name, leg in hit.places.items() if hit.id in leg}

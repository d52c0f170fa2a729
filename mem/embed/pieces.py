"""Long texts are cut into pieces: one vector of a long text does not show the facts inside it."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

# At most 160 tokens reach the model: these, two markers, the two tokens of a role's prefix, and a few to
# spare because the first and last word of a piece can fall into more tokens than inside the whole text.
PIECE_TOKENS = 152
OVERLAP_TOKENS = 20
# A cut moves back to the blank before a word if that lies within so many tokens.
WORD_REACH = 8

# A full stop ends a sentence only before a blank (v2.4.1, mem.db); a CJK one always does. The blank itself
# belongs to the next sentence, as it belongs to the next token. No alternative rescans what another one
# read, so 100,000 full stops take no longer than 100,000 letters.
_SENTENCE_END = re.compile(
    r"""[.!?…؟۔।॥]["'”’»)\]]*(?=\s) | [。！？｡]["'”’»」』）]* | (?=[\n\r\u2028\u2029])""",
    re.VERBOSE,
)

TokenStarts = Callable[[str], Sequence[int]]
"""Gives where in the text each of its tokens begins: never falling, uncut, without markers."""


def split(text: str, token_starts: TokenStarts, most: int = PIECE_TOKENS) -> list[str]:
    """Pieces of at most `most` tokens that together hold every character of the text, in order.

    A piece ends at the last sentence end that fits, a longer sentence at a token border (before a word
    if one begins near). The next piece repeats the last `OVERLAP_TOKENS` tokens, so that what stands
    across a border is whole in one of both. The time is linear in the length of the text.
    """
    # No character gives more than one token once it is normalised, and a blank may be put before the first.
    if len(text) <= most and len(unicodedata.normalize("NFKC", text)) < most:
        return [text]
    starts = token_starts(text)
    if len(starts) <= most:
        return [text]
    positions = [0, *starts[1:], len(text)]
    sentence_ends = [bisect_left(starts, match.end()) for match in _SENTENCE_END.finditer(text)]
    pieces = []
    begin = end = 0
    while end < len(starts):
        end = _piece_end(text, starts, sentence_ends, begin + most, end)
        pieces.append(text[positions[begin] : positions[end]])
        begin = _word_border(text, starts, end - OVERLAP_TOKENS)
    return pieces


def _piece_end(
    text: str, starts: Sequence[int], sentence_ends: Sequence[int], furthest: int, previous_end: int
) -> int:
    """The token before which a piece ends, `furthest` at most; always beyond `previous_end`."""
    if furthest >= len(starts):
        return len(starts)
    fitting = bisect_right(sentence_ends, furthest) - 1
    # A first piece that the second one would repeat whole is none.
    if fitting >= 0 and sentence_ends[fitting] > max(previous_end, OVERLAP_TOKENS):
        return sentence_ends[fitting]
    return _word_border(text, starts, furthest)


def _word_border(text: str, starts: Sequence[int], token: int) -> int:
    """The nearest token at or before this one that begins a word, or this one if none is near."""
    for candidate in range(token, max(token - WORD_REACH, 0), -1):
        if candidate < len(starts) and text[starts[candidate]].isspace():
            return candidate
    return token

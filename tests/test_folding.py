"""What a document says is found however the query spells it, and no query breaks the index."""

import time
from collections.abc import Callable, Iterable

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mem.search.stopwords import CONTENT_WORDS, LANGUAGES, STOP_WORDS
from mem.search.text import fold, query_terms, words

_INDEX = (
    "CREATE VIRTUAL TABLE notes USING fts5(text, content='', contentless_delete=1,"
    " tokenize='porter unicode61 remove_diacritics 2')"
)


def _any_of(terms: Iterable[str]) -> str:
    """An FTS5 expression that finds any of the terms, which hold no quotation marks; without any, nothing."""
    return " OR ".join(f'"{term}"' for term in terms) or '""'


class Index:
    """One document at a time in the index that the store uses."""

    def __init__(self) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(_INDEX)
        self._divide = self._db.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])

    def hold(self, document: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO notes(rowid, text) VALUES (1, ?)", (document,))

    def finds(self, query: str) -> bool:
        return self.matches(_any_of(query_terms(query)))

    def matches(self, expression: str) -> bool:
        return self._db.execute("SELECT rowid FROM notes WHERE notes MATCH ?", (expression,)).get is not None

    def tokens(self, text: str) -> list[str]:
        found = self._divide(
            text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return [str(token) for token in found]


_SHARED = Index()

# Names, numbers, scripts and marks that ordinary random text hardly ever puts together; lone surrogates too.
_FRAGMENTS = st.sampled_from(
    [
        "recallMemory", "HTTPServerError", "v2.4.1", "2025-03-14", "DB_URL", "C++", "C#", ".NET", "don't",
        "数据", "数据库连接", "用Redis做", "トークンを", "データベース", "ㅎ", "서버를", "ฐานข้อมูล", "हिन्दी",
        "café", "cafe\u0301", "Straße", "İ", "ΐ", "\u0301", "\u0300\u0316", "\0", "\ud800", "\U000fe000",
        "😀", "ﬁ", "½", "²", "١٢٣", "\u00ad", "\u200d", "\u200b", "_", "-", ".", "'", "’", '"', "*", "^", " ",
        "deployment", "\ue000", "ё", "пул", "5,000",
    ]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.text("aB0._-' ", max_size=20),
    st.lists(_FRAGMENTS, max_size=12).map("".join),
    st.lists(st.one_of(_FRAGMENTS, st.text(max_size=6)), max_size=12).map(" ".join),
)
_thorough = settings(max_examples=60, deadline=None, database=None)

HOSTILE = [
    '"', "'", "don't", "AND", "OR NOT", "NEAR(", "(", "*", "C++", "a:b", "^x", "{x}: y", "--", "%", "_",
    "foo-bar", "", " ", "\0", "a\0b", "\ud800", 'a"b', '""', "notes MATCH 1", "; DROP TABLE notes", "-a",
    "+a", "a*", "a OR", "NEAR(a b, 3)", "text : a", "😀😀😀", "?!…", "x" * 100_000, "\U000fe000",
    "a\U000fe0001", " ".join(f"word{number}" for number in range(40_000)),
]  # fmt: skip


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("数据", "配置数据库连接池"),
        ("Redis", "用Redis做缓存"),
        ("пул соединений", "Настройка пула соединений"),
        ("認証", "認証トークンを更新"),
        ("deploy", "deployments"),
        ("deployment", "we deployed"),
        ("2.4.1", "v2.4.1"),
        ("v2.4.1", "2.4.1"),
        ("recall memory", "recallMemory()"),
        ("café", "cafe\u0301"),
        ("cafe", "Café"),
        ("recallMemory", "recall_memory"),
        ("recall-memory", "mem.recallMemory"),
        ("recall_memory", "recallmemory"),
        ("server error", "HTTPServerError"),
        ("HTTPServerError", "http_server_error"),
        ("C++", "written in cpp"),
        ("cpp", "C++17 only"),
        ("csharp", "the C# client"),
        (".NET 8", "dotnet"),
        ("nodejs", "Node.js"),
        ("utf8", "UTF-8"),
        ("sha-256", "sha256"),
        ("Python 3.11", "python3.11.7-slim"),
        ("text.py", "see mem/search/text.py:12"),
        ("database url", "DB_URL and DATABASE_URL"),
        ("127.0.0.1", "http://127.0.0.1:8765/"),
        ("2025-03-14", "since 2025-03-14T10:00"),
        ("2025-03", "since 2025-03-14"),
        ("5000", "5,000 requests"),
        ("postgres", "postgres16"),
        ("strasse", "Straße"),
        ("STRASSE", "straße"),
        ("Елка", "ёлка"),
        ("Lodz", "Łódź"),
        ("ﬁle", "file"),
        ("ｄｅｐｌｏｙ", "deploy"),
        ("ﾃﾞｰﾀ", "データベース"),
        ("데이터베이스", "데이터베이스를 설정"),
        ("ข้อมูล", "ฐานข้อมูล"),
        ("हिन्दी", "हिन्दी में"),
        ("user’s guide", "the user's"),
        ("Daten\u00adbank", "Datenbank"),
        ("l'utilisateur", "un utilisateur"),
        ("库", "仓库"),
        ("３.１１", "Python 3.11"),
        ("2025", "سنة ٢٠٢٥"),
        ("foo", "foo\u200bbar"),
        ("foobar", "foo\u200dbar"),
    ],
)
def test_a_document_is_found_in_another_spelling(index: Index, query: str, document: str) -> None:
    index.hold(fold(document))
    assert index.finds(query)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("241", "v2.4.1"),
        ("2.4.1", "2.4.10 and 241 and 12.4.1"),
        ("2.4.1", "2.4"),
        ("2.4.1", "2-4-1"),
        ("java", "JavaScript"),
        ("C", "C++ and C#"),
        ("据配", "数据 配置"),
        ("की", "के"),
        ("what is it?", "what is it"),
    ],
)
def test_a_document_is_not_found_by_what_it_does_not_say(index: Index, query: str, document: str) -> None:
    index.hold(fold(document))
    assert index.matches(_any_of(fold(document).split())), "the document is in the index"
    assert not index.finds(query)


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:12]))
def test_no_hostile_query_raises(index: Index, query: str) -> None:
    index.hold(fold(query))
    assert index.finds(query) is bool(query_terms(query))


@_thorough
@given(_TEXTS)
def test_each_term_of_a_query_is_one_token(text: str) -> None:
    for term in query_terms(text):
        assert '"' not in term
        assert len(_SHARED.tokens(term)) == 1, ascii(term)


@_thorough
@given(_TEXTS)
def test_a_document_is_found_by_its_own_words(text: str) -> None:
    _SHARED.hold(fold(text))
    for query in (text, *text.split()):
        for term in query_terms(query, limit=1_000):
            assert _SHARED.matches(_any_of([term])), (ascii(query), ascii(term))


@_thorough
@given(_TEXTS)
def test_folding_twice_loses_nothing(text: str) -> None:
    once = fold(text)
    assert set(_SHARED.tokens(once)) <= set(_SHARED.tokens(fold(once)))


@pytest.mark.parametrize("text", ["a\0b", "é\0b"])
def test_nul_divides_words(index: Index, text: str) -> None:
    index.hold(fold(text))
    assert "\0" not in fold(text)
    assert index.finds("b")


@_thorough
@given(_TEXTS)
def test_folded_text_can_be_stored_and_words_never_raise(text: str) -> None:
    fold(text).encode()
    assert "\0" not in fold(text)
    assert all(words(text))


@pytest.mark.parametrize(
    "query",
    [
        "what is the", "To be or not to be", "don't", "wie oft wird der", "qu'est-ce que c'est", "où est-ce",
        "¿qué es?", "什么时候", "这是什么", "いつですか", "どうやって", "언제", "когда и где", "ne zaman",
        "kdy a kde", "khi nào", "متى", "co to", "hoeveel", "NOT", "不", "nicht", "?!", "😀",
    ],
)  # fmt: skip
def test_a_query_of_stop_words_has_no_terms(query: str) -> None:
    assert query_terms(query) == ()


@pytest.mark.parametrize(
    "word",
    [
        "die", "war", "door", "son", "sale", "note", "tag", "fine", "den", "hat", "man", "set", "port",
        "list", "want",
        "pod", "jest", "size", "font", "comment", "go", "os", "var", "min", "num", "dir", "bin", "take",
    ],
)  # fmt: skip
def test_a_content_word_is_no_stop_word_in_any_language(word: str) -> None:
    assert query_terms(word) == (word,)


def test_stop_words_are_spelled_as_terms_are() -> None:
    assert {"über", "où", "ou", "más", "mas", "ещё", "еще", "при", "для"} <= STOP_WORDS
    assert not STOP_WORDS & CONTENT_WORDS
    listed = {word for language, words in LANGUAGES.items() if language != "ja" for word in words}
    assert {word for word in listed if query_terms(word)} <= CONTENT_WORDS


def test_function_words_divide_unspaced_queries() -> None:
    assert query_terms("部署密钥多久轮换一次？") == ("部署", "署密", "密钥", "轮换")
    assert query_terms("トークンの更新はいつですか") == ("トー", "ーク", "クン", "更新")
    assert query_terms("비밀번호는 어디에") == ("비밀", "밀번", "번호")


def test_content_words_that_hold_a_function_word_stay_whole() -> None:
    assert query_terms("目的") == ("目的",)
    assert query_terms("在线") == ("在线",)


def test_acronyms_in_capitals_are_no_stop_words() -> None:
    assert query_terms("the IT team in the US") == ("it", "team", "us")
    assert query_terms("is it in the us") == ()
    assert query_terms("WHERE IS IT") == ()


def test_terms_are_distinct_and_in_order() -> None:
    assert query_terms("deploy key Deploy KEY rotation") == ("deploy", "key", "rotation")


def test_too_long_a_query_keeps_its_longest_terms_in_order() -> None:
    short = [f"w{number}" for number in range(90)]
    query = " ".join([*short[:45], "certificate", *short[45:], "v2.4.1-hotfix"])
    terms = query_terms(query)
    assert len(terms) == 64
    assert {"certificate", "hotfix"} <= set(terms)
    assert list(terms) == [term for term in query_terms(query, limit=1_000) if term in terms]
    assert query_terms(query, limit=0) == ()


def test_words_are_plain_and_keep_stop_words() -> None:
    assert words("The DB_URL of v2.4.1 isn't C#, 5,000 times") == [
        *("the", "db", "url", "of", "v2.4.1", "isn", "t", "csharp", "5000", "times")
    ]  # fmt: skip
    assert words("数据库 Ｃafé") == ["数据", "据库", "café"]
    assert words("") == []


ATTACKS = [
    "x" * 100_000, "aB" * 50_000, "a-" * 50_000, "1." * 50_000, "1,000" * 20_000, "A" * 100_000,
    "数据库" * 33_000, "はい" * 50_000 + "ぬ", "的" * 100_000, "데이터는" * 25_000, "c++" * 33_000,
    "a" + "\u0300\u0316" * 50_000, "\uff9e\u0300" * 50_000, "😀" * 100_000, "ay" * 50_000, "_" * 100_000,
    "a'" * 50_000, " ".join(f"word{number}" for number in range(40_000)),
]  # fmt: skip


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: ascii(text[:6]))
@pytest.mark.parametrize("operation", [fold, query_terms, words])
def test_hostile_text_takes_linear_time(operation: Callable[[str], object], text: str) -> None:
    started = time.process_time()
    operation(text)
    assert time.process_time() - started < 1

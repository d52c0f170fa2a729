"""Settings: where a value comes from, and that setting one leaves every other byte of the file alone."""

from pathlib import Path

import pytest

from mem import config
from mem.errors import MemError, Usage
from mem.paths import places


def write(text: str) -> Path:
    path = places().configuration
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def text_after(text: str, key: str, value: str) -> str:
    path = write(text)
    config.write(key, value)
    return path.read_bytes().decode()


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.setting("model.threads").origin == "default"
    write('"model.threads" = 3\n')
    assert (config.value("model.threads"), config.setting("model.threads").origin) == (3, "config.toml")
    monkeypatch.setenv("MEM_MODEL_THREADS", "5")
    assert (config.value("model.threads"), config.setting("model.threads").origin) == (
        5,
        "MEM_MODEL_THREADS",
    )


def test_tables_and_flat_keys_are_the_same_settings(home: Path) -> None:
    write('[model]\nthreads = 3\n\n["store"]\n"timeout-ms" = 7\n')
    assert (config.value("model.threads"), config.value("store.timeout-ms")) == (3, 7)
    write("store.timeout-ms = 250\n")
    assert config.value("store.timeout-ms") == 250


def test_a_new_file_holds_the_one_line_and_is_private(home: Path) -> None:
    config.write("store.timeout-ms", "5")
    path = places().configuration
    assert path.read_text() == '"store.timeout-ms" = 5\n'
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        (
            '# mine\n"model.threads" = 2  # both\n',
            "model.threads",
            "4",
            '# mine\n"model.threads" = 4  # both\n',
        ),
        ("\tproject='old'   #x", "project", "new", '\tproject="new"   #x'),
        ('project = "a#b\\"c"\n', "project", "d", 'project = "d"\n'),
        ("[model]\n  threads = 2 # t\n", "model.threads", "3", "[model]\n  threads = 3 # t\n"),
        ("store . 'timeout-ms' = 9\n", "store.timeout-ms", "8", "store . 'timeout-ms' = 8\n"),
        ('project = "a"\r\n# end\r\n', "project", "b", 'project = "b"\r\n# end\r\n'),
    ],
)
def test_setting_a_key_changes_its_value_alone(
    home: Path, before: str, key: str, value: str, after: str
) -> None:
    assert text_after(before, key, value) == after


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("# only a comment", "project", "x", '# only a comment\n"project" = "x"\n'),
        (
            '# top\n\n# the store\n[store]\n"timeout-ms" = 9\n',
            "project",
            "x",
            '# top\n\n"project" = "x"\n# the store\n[store]\n"timeout-ms" = 9\n',
        ),
        (
            "[store] # mine\n\n[model]\n# few\nthreads = 3\n",
            "store.timeout-ms",
            "9",
            "[store] # mine\ntimeout-ms = 9\n\n[model]\n# few\nthreads = 3\n",
        ),
        ('project = "a"\r\n', "store.timeout-ms", "2", 'project = "a"\r\n"store.timeout-ms" = 2\r\n'),
        ('project = "a"', "store.timeout-ms", "2", 'project = "a"\n"store.timeout-ms" = 2\n'),
    ],
)
def test_a_key_that_is_missing_is_added_as_one_line(
    home: Path, before: str, key: str, value: str, after: str
) -> None:
    assert text_after(before, key, value) == after
    assert str(config.value(key)) == value


def test_a_text_that_looks_like_a_setting_is_not_taken_for_one(home: Path) -> None:
    before = 'project = """\n"model.threads" = 2\n"""\n"model.threads" = 2\n'
    assert (
        text_after(before, "model.threads", "6")
        == 'project = """\n"model.threads" = 2\n"""\n"model.threads" = 6\n'
    )


@pytest.mark.parametrize("text", ['a"b', "back\\slash", "tab\there", "Ünïcödé 数据", "[x]", "# no comment"])
def test_any_text_comes_back_as_it_was_set(home: Path, text: str) -> None:
    config.write("project", text)
    assert config.value("project") == text


def test_a_table_where_the_key_should_stand_is_refused_and_left_alone(home: Path) -> None:
    path = write("[model]\nthreads = 2\n")
    with pytest.raises(Usage, match="no room") as caught:
        config.write("model", "none")
    assert str(path) in str(caught.value)
    assert path.read_text() == "[model]\nthreads = 2\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("project = \n", "not valid TOML"),
        ("modle = 1\n", "Did you mean model"),
        ("[model]\nthread = 1\n", "threads"),
    ],
)
def test_a_file_that_is_wrong_is_named_and_left_alone(home: Path, text: str, named: str) -> None:
    path = write(text)
    with pytest.raises(Usage) as caught:
        config.write("project", "x")
    assert str(path) in str(caught.value)
    assert named in f"{caught.value} {caught.value.hint}"
    assert path.read_text() == text


def test_a_file_that_is_not_utf_8_is_refused(home: Path) -> None:
    path = write("")
    path.write_bytes(b"project = '\xff'\n")
    with pytest.raises(Usage, match="not UTF-8"):
        config.value("project")


def test_a_value_that_does_not_fit_names_where_it_comes_from(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write('"model.threads" = 0\n')
    with pytest.raises(Usage, match="from 1 to 64") as caught:
        config.value("model.threads")
    assert str(path) in caught.value.hint
    monkeypatch.setenv("MEM_MODEL_THREADS", "many")
    with pytest.raises(Usage) as caught:
        config.value("model.threads")
    assert "MEM_MODEL_THREADS" in caught.value.hint


def test_a_value_that_does_not_fit_is_not_written(home: Path) -> None:
    path = write('"model.threads" = 2\n')
    with pytest.raises(Usage):
        config.write("model.threads", "65")
    assert path.read_text() == '"model.threads" = 2\n'


def test_the_file_behind_a_link_is_changed_and_keeps_its_mode(home: Path, tmp_path: Path) -> None:
    behind = tmp_path / "dotfiles.toml"
    behind.write_text("# mine\n")
    behind.chmod(0o640)
    path = places().configuration
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(behind)
    config.write("project", "x")
    assert path.is_symlink()
    assert behind.read_text() == '# mine\n"project" = "x"\n'
    assert behind.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_is_named(home: Path) -> None:
    path = places().configuration
    path.mkdir(parents=True)
    with pytest.raises(MemError) as caught:
        config.write("project", "x")
    assert str(path) in str(caught.value)

"""Projects: found from `.git` without running git, one per repository, and closed to each other's reads."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mem.caller import Caller, current_caller
from mem.errors import Usage
from mem.results import Stored
from mem.service import Service
from mem.store.connect import Store
from mem.values import Actor, ActorKind, Mode, Status

SECRET = "hunter2"  # noqa: S105


class ByHand:
    """Repositories as git lays them out, without git."""

    def git_directory(self, folder: Path, remote: str | None = None) -> Path:
        """The inside of a `.git` or of a bare repository."""
        for part in ("objects", "refs"):
            (folder / part).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        config = "[core]\n\trepositoryformatversion = 0\n"
        if remote is not None:
            config += f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        (folder / "config").write_text(config)
        return folder

    def repository(self, folder: Path, remote: str | None = None) -> Path:
        self.git_directory(folder / ".git", remote)
        return folder

    def bare(self, folder: Path) -> Path:
        return self.git_directory(folder)

    def worktree(self, repository: Path, folder: Path) -> Path:
        common = repository / ".git" if (repository / ".git").exists() else repository
        own = common / "worktrees" / folder.name
        own.mkdir(parents=True)
        (own / "HEAD").write_text(f"ref: refs/heads/{folder.name}\n")
        (own / "commondir").write_text("../..\n")
        (own / "gitdir").write_bytes(os.fsencode(f"{folder}/.git\n"))
        folder.mkdir(parents=True)
        (folder / ".git").write_bytes(os.fsencode(f"gitdir: {own}\n"))
        return folder

    def submodule(self, repository: Path, name: str) -> Path:
        self.git_directory(repository / ".git" / "modules" / name)
        folder = repository / name
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: ../.git/modules/{name}\n")
        return folder


class ByGit(ByHand):
    """The same by git itself."""

    def run(self, *arguments: str | Path) -> None:
        settings = ("user.name=A", "user.email=a@example.org", "protocol.file.allow=always")
        given = [option for setting in settings for option in ("-c", setting)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        git = shutil.which("git")
        assert git is not None
        subprocess.run([git, *given, *arguments], check=True, capture_output=True, env=environment)

    def repository(self, folder: Path, remote: str | None = None) -> Path:
        self.run("init", "-q", folder)
        self.run("-C", folder, "commit", "-q", "--allow-empty", "-m", "first")
        if remote is not None:
            self.run("-C", folder, "remote", "add", "origin", remote)
        return folder

    def bare(self, folder: Path) -> Path:
        source = self.repository(folder.parent / "source of the bare one")
        self.run("clone", "-q", "--bare", source, folder)
        return folder

    def worktree(self, repository: Path, folder: Path) -> Path:
        self.run("-C", repository, "worktree", "add", "-q", "-b", folder.name, folder)
        return folder

    def submodule(self, repository: Path, name: str) -> Path:
        source = self.repository(repository.parent / f"source of {name}")
        self.run("-C", repository, "submodule", "add", "-q", source, name)
        return repository / name


# By hand always; by git too where there is one.
MAKERS = (ByHand, ByGit) if shutil.which("git") else (ByHand,)


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> ByHand:
    """Makes repositories."""
    maker: ByHand = request.param()
    return maker


@pytest.fixture
def inside(memory: Service) -> Callable[..., Service]:
    """The service as one calls it from a folder."""

    def call(folder: Path, project: str | None = None) -> Service:
        return memory.of(Caller(Actor(ActorKind.PERSON), folder, project))

    return call


def project_of(service: Service, stored: Stored) -> str | None:
    assert stored.id is not None
    return service.get([str(stored.id)]).memories[0].project


def written(service: Service, text: str = "The build takes nine minutes", **options: Any) -> str | None:
    """The project of a memory that is stored now."""
    return project_of(service, service.store(text, **options))


def seen(service: Service, **options: Any) -> set[str]:
    """The texts that a list shows."""
    return {memory.content for memory in service.list_(limit=1000, **options).memories}


def test_a_repository_is_a_project_from_every_folder_in_it(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = make.repository(tmp_path / "api")
    deep = root / "src" / "server"
    deep.mkdir(parents=True)
    link = tmp_path / "shortcut"
    link.symlink_to(deep)
    for number, folder in enumerate((root, deep, link, root / ".git")):
        assert written(inside(folder), f"Fact number {number}") == "api"


def test_linked_worktrees_belong_to_the_main_one(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = make.repository(tmp_path / "api")
    tree = make.worktree(root, tmp_path / "elsewhere" / "feature")
    assert written(inside(tree), "Written in the worktree") == "api"
    assert written(inside(root), "Written in the main one") == "api"
    assert seen(inside(tree)) == seen(inside(root)) == {"Written in the worktree", "Written in the main one"}


def test_a_submodule_is_a_project_of_its_own(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = make.repository(tmp_path / "api")
    part = make.submodule(root, "protocol")
    assert written(inside(part), "The protocol has four verbs") == "protocol"
    assert written(inside(root), "The api has nine routes") == "api"
    assert seen(inside(root)) == {"The api has nine routes"}


def test_a_bare_repository_and_its_worktrees_are_one_project_without_the_ending(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = make.bare(tmp_path / "api.git")
    tree = make.worktree(root, tmp_path / "main")
    assert written(inside(tree), "Written in the worktree") == "api"
    assert written(inside(root / "refs"), "Written in the bare one") == "api"


def test_a_hidden_bare_repository_has_the_name_of_the_folder_around_it(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    hidden = make.bare(tmp_path / "api" / ".bare")
    (tmp_path / "api" / ".git").write_text("gitdir: ./.bare\n")
    tree = make.worktree(hidden, tmp_path / "api" / "main")
    assert written(inside(tree), "Written in the worktree") == "api"
    assert written(inside(tmp_path / "api"), "Written beside it") == "api"


def test_a_git_directory_behind_a_link_is_one_project_with_its_worktrees(
    tmp_path: Path, inside: Callable[..., Service]
) -> None:
    make = ByHand()
    store = make.git_directory(tmp_path / "store" / "api.git")
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / ".git").symlink_to(store)
    assert written(inside(tmp_path / "api"), "Behind the link") == "api"
    assert written(inside(store), "In the store") == "api"


def test_a_second_repository_of_a_name_gets_a_number_and_keeps_it(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    roots = [make.repository(tmp_path / owner / "api") for owner in ("ann", "bob", "eve")]
    assert [written(inside(root), f"Port of {root.parent.name}") for root in roots] == [
        *("api", "api-2", "api-3")
    ]
    assert [written(inside(root), f"Host of {root.parent.name}") for root in roots] == [
        *("api", "api-2", "api-3")
    ]
    assert seen(inside(roots[1])) == {"Port of bob", "Host of bob"}


def test_a_repository_that_was_never_written_from_does_not_see_another_of_its_name(
    tmp_path: Path, inside: Callable[..., Service]
) -> None:
    first, second = (ByHand().repository(tmp_path / owner / "api") for owner in ("ann", "bob"))
    assert written(inside(first), "The staging password rotates on Mondays") == "api"
    assert seen(inside(second)) == set()
    assert inside(second).recall("staging password").hits == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git@example.org:team/api.git", "https://example.org/team/api"),
        ("ssh://git@Example.org/team/api.git", "https://ann:secret@example.org/team/api.git/"),
        ("https://example.org/team/api.git", "https://x-token:abc@example.org/team/api?token=abc"),
        ("/srv/git/api.git", "file:///srv/git/api"),
        ("example.org:/srv/git/api", "git+ssh://root@example.org/srv/git/api.git"),
    ],
)
def test_two_clones_of_one_remote_are_one_project(
    one: str, other: str, make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    first = make.repository(tmp_path / "ann" / "api", one)
    second = make.repository(tmp_path / "bob" / "my-clone", other)
    assert written(inside(first), "Written in the first") == "api"
    assert seen(inside(second)) == {"Written in the first"}
    assert written(inside(second), "Written in the second") == "api"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/team/api.git", "https://example.org/other/api.git"),
        ("https://example.org/team/api.git", "https://example.com/team/api.git"),
        ("ssh://git@[2001:db8::1]/api.git", "ssh://git@[2001:db8::2]/api.git"),
        ("/srv/my repositories/api.git", "/srv/my other repositories/api.git"),
        ("../api.git", "../api.git"),
        ("ext::ssh -i key %S one", "ext::ssh -i key %S one"),
        ("https://example.org/team/api", "https://example.org/Team/api"),
    ],
)
def test_other_remotes_are_other_projects(
    one: str, other: str, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    first = ByHand().repository(tmp_path / "ann" / "api", one)
    second = ByHand().repository(tmp_path / "bob" / "api", other)
    assert written(inside(first), "Written in the first") == "api"
    assert written(inside(second), "Written in the second") == "api-2"


def test_a_remote_that_was_added_later_is_learnt_by_the_next_write(
    make: ByHand, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    first = make.repository(tmp_path / "ann" / "api")
    second = make.repository(tmp_path / "bob" / "api", "https://example.org/team/api.git")
    assert written(inside(first), "Before there was a remote") == "api"
    with (first / ".git" / "config").open("a") as config:
        config.write('[remote "origin"]\n\turl = https://example.org/team/api.git\n')
    assert written(inside(first), "After the remote was added") == "api"
    assert written(inside(second), "Written in the other clone") == "api"


@pytest.mark.parametrize(
    "remote",
    [
        f"https://ann:{SECRET}@example.org/team/api.git",
        f"https://{SECRET}@example.org/team/api.git",
        f"git+https://ann:{SECRET}@example.org/team/api.git",
        f"https://ann:p@{SECRET}@example.org/team/api.git",
        f"https://ann:p/{SECRET}@example.org/team/api.git",
        f"https://ann:80/{SECRET}@example.org/team/api.git",
        f"https://ann:p#{SECRET}@example.org/team/api.git",
        f"https://ann:p?{SECRET}@example.org/team/api.git",
        f"https://example.org/team/api.git?private_token={SECRET}",
        f"https://example.org/team/api.git#{SECRET}",
        f"ann:{SECRET}@example.org:team/api.git",
        f"ext::curl -u ann:{SECRET} https://example.org",
        f'"https://ann:{SECRET}@example.org/team/api.git"',
        f"HTTPS://ann:{SECRET}@example.org/team/api.git ; mine",
    ],
)
def test_a_password_or_token_of_a_remote_is_never_stored(
    remote: str, tmp_path: Path, home: Path, person: Caller
) -> None:
    root = ByHand().repository(tmp_path / "api", remote)
    store = Store(home / "memory.db")
    service = Service(store, None, Caller(person.actor, root))
    assert written(service) == "api"
    service.recall("build")
    store.close()
    files = [path for path in home.rglob("*") if path.is_file()]
    assert home / "memory.db" in files
    for path in files:
        assert SECRET.encode() not in path.read_bytes()


def test_the_config_is_read_as_git_reads_it(tmp_path: Path, inside: Callable[..., Service]) -> None:
    first = ByHand().repository(tmp_path / "ann" / "api", "https://example.org/team/api")
    second = ByHand().repository(tmp_path / "bob" / "api")
    (second / ".git" / "config").write_text(
        '[remote "upstream"]\n url = https://example.org/wrong\n'
        '[Remote  "origin"]\n # url = https://example.org/wrong\n URL="https://example.org/team/api.git"\n'
        '[branch "main"]\n remote = origin\n url = https://example.org/wrong\n'
    )
    assert written(inside(first), "Written in the first") == "api"
    assert written(inside(second), "Written in the second") == "api"


def test_outside_any_repository_a_memory_belongs_to_no_project(
    tmp_path: Path, inside: Callable[..., Service]
) -> None:
    assert written(inside(tmp_path)) is None


def broken_dangling(git: Path) -> None:
    git.write_text(f"gitdir: {git.parent.parent}/gone/.git/worktrees/api\n")


def broken_garbage(git: Path) -> None:
    git.write_bytes(bytes(range(256)) * 40)


def broken_nul(git: Path) -> None:
    git.write_bytes(b"gitdir: /x\0y\n")


def broken_empty(git: Path) -> None:
    git.mkdir()


def broken_loop(git: Path) -> None:
    git.symlink_to(git)


def broken_itself(git: Path) -> None:
    git.write_text("gitdir: .git\n")


def broken_head(git: Path) -> None:
    (git / "HEAD").mkdir(parents=True)


@pytest.mark.parametrize(
    "damage",
    [
        *(broken_dangling, broken_garbage, broken_nul, broken_empty, broken_loop, broken_itself, broken_head),
    ],
)
def test_an_odd_git_counts_as_no_repository(
    damage: Callable[[Path], None], tmp_path: Path, inside: Callable[..., Service]
) -> None:
    folder = tmp_path / "api"
    folder.mkdir()
    damage(folder / ".git")
    assert written(inside(folder)) is None
    assert inside(folder).recall("build minutes").total == 1


@pytest.mark.parametrize("method", ["is_dir", "is_file", "read_text", "resolve"])
def test_a_git_that_may_not_be_read_counts_as_no_repository(
    method: str, tmp_path: Path, inside: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ByHand().repository(tmp_path / "api", "https://example.org/team/api")
    tree = ByHand().worktree(root, tmp_path / "tree")
    original = getattr(Path, method)

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if "api" in path.parts or "tree" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, *arguments, **options)

    monkeypatch.setattr(Path, method, refuse)
    assert [written(inside(folder), str(folder)) for folder in (root, tree)] == [None, None]


def test_from_a_folder_that_was_deleted_everything_still_works(
    tmp_path: Path, memory: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = ByHand().repository(tmp_path / "api")
    monkeypatch.chdir(gone)
    shutil.rmtree(gone)
    service = memory.of(current_caller())
    assert written(service) is None
    assert service.recall("build minutes").total == 1


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        (b"caf\xe9", "caf\\xe9"),
        (b"two\nlines", "two_lines"),
        (b" spaces ", "spaces"),
        (b"\xe5\xba\x93", "库"),
        (b"a" * 250, "a" * 200),
        (b"-rf", "-rf"),
        (b"it's; DROP TABLE projects", "it's; DROP TABLE projects"),
        (b"\x1b[31mred", "_[31mred"),
    ],
)
def test_a_folder_of_any_name_gives_a_project_of_one_printable_line(
    folder: bytes, name: str, tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = ByHand().repository(tmp_path / os.fsdecode(folder), "https://example.org/team/api")
    tree = ByHand().worktree(ByHand().repository(root / "x"), root / "y")
    assert written(inside(root)) == name
    assert written(inside(tree)) == "x"
    assert inside(root).recall("build minutes").total == 1
    assert inside(root).list_(project=name).total == 1


def test_the_option_wins_over_the_environment_and_this_over_the_folder(
    tmp_path: Path, inside: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ByHand().repository(tmp_path / "api")
    named = inside(root, project="named")
    assert written(named, "By the environment") == "named"
    assert written(named, "By the option", project="chosen") == "chosen"
    assert written(named, "Global", global_=True) is None
    monkeypatch.setenv("MEM_PROJECT", "variable")
    assert written(named.of(current_caller(folder=root)), "By the variable") == "variable"
    assert seen(named) == {"By the environment", "Global"}
    assert seen(named, project="chosen") == {"By the option", "Global"}
    assert len(seen(named, all_projects=True)) == 4


def test_a_call_that_names_another_project_does_not_bind_the_repository_to_it(
    tmp_path: Path, inside: Callable[..., Service]
) -> None:
    root = ByHand().repository(tmp_path / "api")
    assert written(inside(root, project="named"), "By the environment") == "named"
    assert written(inside(root), "By the option", project="chosen") == "chosen"
    assert written(inside(root), "By the folder") == "api"


def test_a_memory_cannot_be_global_and_of_a_project(memory: Service) -> None:
    with pytest.raises(Usage, match="not both"):
        memory.store("Something", project="api", global_=True)
    assert memory.stats(all_projects=True).total == 0


@pytest.mark.parametrize("name", ["   ", "two\nlines", "x" * 201, "\x1b[31m"])
def test_a_name_that_no_project_can_have_is_refused(name: str, memory: Service) -> None:
    for call in (lambda: memory.store("Something", project=name), lambda: memory.recall("x", project=name)):
        with pytest.raises(Usage, match="cannot be the name of a project"):
            call()


def test_reads_never_bind_a_repository(tmp_path: Path, inside: Callable[..., Service]) -> None:
    reader, writer = (ByHand().repository(tmp_path / owner / "api") for owner in ("ann", "bob"))
    service = inside(reader)
    service.recall("anything at all")
    service.list_()
    service.stats()
    # Had a read bound the first, the second would be api-2.
    assert written(inside(writer)) == "api"
    assert service.stats().total == 0
    assert written(service, "Now the first writes") == "api-2"


def read_everything(service: Service, **options: Any) -> tuple[set[str], set[str], int]:
    """What recall, list and stats show: texts, names of projects, and how many memories."""
    texts = seen(service, **options)
    for mode in Mode:
        for query in ("Where does the deployment key live?", "deployment", "of the vault", "api web"):
            answer = service.recall(query, mode=mode, limit=100, **options)
            texts |= {hit.memory.content for hit in answer.hits}
            assert answer.total == len(answer.hits)
    counted = service.stats(**options)
    return texts, set(counted.by_project), counted.total


def test_no_read_shows_another_project_s_memories(
    tmp_path: Path, memory: Service, inside: Callable[..., Service]
) -> None:
    roots = {name: ByHand().repository(tmp_path / name) for name in ("api", "web", "web2")}
    text = "The deployment key of {} lives in the vault, drawer {}"
    for name, root in roots.items():
        for drawer in range(5):
            assert written(inside(root), text.format(name, drawer)) == name
        archived = inside(root).store(f"The old deployment key of {name} was deleted")
        inside(root).archive([str(archived.id)])
    assert written(memory, "A deployment key belongs in the vault") is None
    everything = {text.format(name, drawer) for name in roots for drawer in range(5)}
    for name, root in roots.items():
        own = {text.format(name, drawer) for drawer in range(5)} | {"A deployment key belongs in the vault"}
        expected = (own, {name, "(global)"}, 7)
        assert read_everything(inside(root)) == expected
        assert read_everything(memory, project=name) == expected
        assert read_everything(inside(tmp_path, project=name)) == expected
        retired = inside(root).recall("deployment key deleted", status=[Status.ARCHIVED])
        assert {hit.memory.content for hit in retired.hits} == {
            f"The old deployment key of {name} was deleted"
        }
        at = inside(root).recall("deployment key", known_at="2100-01-01", limit=100)
        assert {hit.memory.project for hit in at.hits} == {name, None}
    assert read_everything(memory) == ({"A deployment key belongs in the vault"}, {"(global)"}, 1)
    assert read_everything(memory, project="unheard-of")[0] == {"A deployment key belongs in the vault"}
    assert read_everything(memory, all_projects=True)[0] == everything | {
        "A deployment key belongs in the vault"
    }


def test_a_name_is_no_pattern(memory: Service, inside: Callable[..., Service]) -> None:
    assert written(memory, "The build takes nine minutes", project="api") == "api"
    for name in ("ap", "API", "api%", "%", "ap_", "*", "api ' OR 1=1 --"):
        assert seen(memory, project=name) == set()
        assert memory.recall("build minutes", project=name).total == 0


def test_outside_any_project_the_answer_says_how_many_hits_the_projects_hold(
    tmp_path: Path, memory: Service, inside: Callable[..., Service]
) -> None:
    root = ByHand().repository(tmp_path / "api")
    for number in range(3):
        inside(root).store(f"The deployment key number {number} lives in the vault")
    memory.store("A deployment key belongs in the vault")
    outside = memory.recall("deployment key vault")
    assert (outside.total, outside.elsewhere) == (1, 3)
    assert inside(root).recall("deployment key vault").elsewhere is None
    assert memory.recall("deployment key vault", all_projects=True).elsewhere is None
    assert memory.recall("deployment key vault", project="api").elsewhere is None
    assert memory.recall("pizza").elsewhere == 0


def test_near_duplicates_of_other_projects_are_not_named(memory: Service) -> None:
    for number in range(12):
        for name in ("web", None):
            text = f"The deployment key lives in the vault of {number} rooms"
            memory.store(text, project=name, global_=name is None)
    added = memory.store("The deployment key lives in the vault of bricks", project="api")
    assert added.warnings == ()
    near = memory.store("The deployment key lives in the vault of 99 rooms", project="api")
    assert [notice.ids for notice in near.warnings] == [(added.id,)]


def test_the_command_line_takes_the_project_from_its_folder_and_environment(
    tmp_path: Path, run_mem: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_MODEL", "none")
    monkeypatch.chdir(ByHand().repository(tmp_path / "api"))
    calls: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
        (("--global",), {}),
        ((), {}),
        (("--project", "web"), {}),
        ((), {"MEM_PROJECT": "db"}),
    )
    for number, (options, env) in enumerate(calls):
        stored = run_mem("store", f"The build takes {number} minutes", "--json", *options, env=env)
        assert stored.code == 0, stored.err
    hits = run_mem("recall", "build minutes", "--all-projects", "--json").document()["hits"]
    assert [hit["project"] for hit in sorted(hits, key=lambda hit: hit["id"])] == [None, "api", "web", "db"]
    hits = run_mem("recall", "build minutes", "--json").document()["hits"]
    assert {hit["project"] for hit in hits} == {"api", None}


def test_from_a_folder_that_was_deleted_no_other_folder_is_taken_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = ByHand().repository(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert current_caller().folder == Path("/")

"""The parameters that several operations share: what they are called, mean and admit."""

from collections.abc import Sequence
from typing import Annotated

from mem.operations import Doc
from mem.values import Category, Kind, Layer, Level, Status, Trust

Ids = Annotated[
    Sequence[str],
    Doc("Memories: number, UUID, or a prefix of the UUID of 8 characters or more.", metavar="ID"),
]
Id = Annotated[
    str, Doc("The memory: number, UUID, or a prefix of the UUID of 8 characters or more.", metavar="ID")
]
EntityName = Annotated[str, Doc("The entity: number, UUID, name or alias.", metavar="ENTITY")]
EntityType = Annotated[str | None, Doc("Only an entity of this type, where a name stands for several.")]
Reason = Annotated[str | None, Doc("Why; kept with the memory and in the audit log.")]
Force = Annotated[
    bool, Doc("Override that this was rejected, forgotten or archived; the log says so.", people=True)
]
AllowSecret = Annotated[
    bool, Doc("Store secrets as they are, instead of redacting them; the log says so.", people=True)
]
Project = Annotated[str | None, Doc("Project, by name; else MEM_PROJECT, else the current repository.")]
Global = Annotated[bool, Doc("Belongs to no project: known everywhere.")]
AllProjects = Annotated[bool, Doc("Look through all projects, not only the current one and what is global.")]
Title = Annotated[str | None, Doc("Short title; a decision's title is part of what it says.")]
Rationale = Annotated[str | None, Doc("Why it was decided so.")]
Alternatives = Annotated[str | None, Doc("What else was considered, and why not.")]
Source = Annotated[str | None, Doc("Where this comes from: a file, an address, a conversation.")]
EventTime = Annotated[str | None, Doc("When it happened: a date or a time.")]
ValidFrom = Annotated[str | None, Doc("Since when it holds: a date (its first local instant) or a time.")]
ValidTo = Annotated[str | None, Doc("Until when it held: a date (to the end of that local day) or a time.")]
Expires = Annotated[str | None, Doc("When to forget it: a date, a time, or a span such as 36h, 7d, 2w.")]
ValidAt = Annotated[str | None, Doc("Answer for what held at this date or time instead of now.")]
KnownAt = Annotated[str | None, Doc("Answer with what was believed at this date or time.")]
Kinds = Annotated[Sequence[Kind], Doc("Only memories of this kind.")]
Categories = Annotated[Sequence[Category], Doc("Only memories of this category.")]
Levels = Annotated[Sequence[Level], Doc("Only memories of this level.")]
Layers = Annotated[Sequence[Layer], Doc("Only memories of this layer.")]
Tags = Annotated[Sequence[str], Doc("Only memories with this tag; repeated: with all of them.")]
Statuses = Annotated[Sequence[Status], Doc("Memories of this status instead of the active ones.")]
OfEntity = Annotated[
    str | None, Doc("Only what is observed about this entity: number, UUID, name or alias.", metavar="ENTITY")
]
MinImportance = Annotated[
    int | None, Doc("Only memories of at least this importance.", minimum=0, maximum=10)
]
MinConfidence = Annotated[
    float | None, Doc("Only memories of at least this confidence.", minimum=0, maximum=1)
]
Trusts = Annotated[Sequence[Trust], Doc("Only memories of this trust.")]
Since = Annotated[str | None, Doc("Only what happened (or was recorded) at or after this date or time.")]
Until = Annotated[
    str | None, Doc("Only what happened (or was recorded) before the end of this date, or before this time.")
]
Budget = Annotated[
    int,
    Doc(
        "Tokens that the notes may take, four characters each; only whole ones.", minimum=100, maximum=20_000
    ),
]
DryRun = Annotated[bool, Doc("Only say what would be done; change nothing.")]
MostTexts = Annotated[
    int | None, Doc("Embed at most so many texts in this run.", minimum=1, maximum=100_000_000)
]
Concurrency = Annotated[
    int | None,
    Doc("Requests to a model behind an endpoint at a time; else as many as suit it.", minimum=1, maximum=64),
]
DeadlineMs = Annotated[
    int | None,
    Doc(
        "Milliseconds within which the answer must be there; if its vector is late, it is by words alone.",
        minimum=50,
        maximum=60_000,
    ),
]

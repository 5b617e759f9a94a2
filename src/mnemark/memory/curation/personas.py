"""Choose a persona: how an agent speaks and which hits it sees first; never what is stored.

A persona is a Markdown file in `personas/`. Its front matter may say `active: true`, `phrasing: short, dry`
and `weights: [fact=1.5, tag:work=1.4]`, by kind or tag of a hit. `user_custom.md` holds the traits that were
learned about the user and goes along with every persona.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from mnemark.errors import UsageError
from mnemark.facts.visible import PlainWorkspace
from mnemark.files import listing
from mnemark.files.layout import in_scope
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import Value, front_matter
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import KINDS, Hit, Problem

FOLDER: Final = "personas"
CUSTOM: Final = "user_custom"
"""Learned traits of the user."""
DEFAULT: Final = "default"
_NUMBER: Final = lazy_pattern(r"[0-9]{1,3}(\.[0-9]{1,4})?")
WEIGHTS: Final = (0.1, 10.0)
"""Least and largest weight of a hit."""


class Persona(msgspec.Struct, frozen=True, kw_only=True):
    """A persona file."""

    name: str
    path: str
    text: str
    active: bool = False
    phrasing: str = ""
    weights: Mapping[str, float] = {}
    """By kind ("fact") or tag ("tag:work")."""
    problems: tuple[Problem, ...] = ()
    """Weights that cannot be read."""


def personas(ws: PlainWorkspace, *, scope: str = "") -> list[Persona]:
    """Return all personas by name; a scope's own replaces the root's of the same name."""
    found: dict[str, Persona] = {}
    for folder in dict.fromkeys((FOLDER, in_scope(scope, FOLDER))):
        for name in listing.names(ws.root, folder, ".md"):
            document = ws.visible.read(f"{folder}/{name}")
            if not isinstance(document, Problem):
                one = _persona(document.path, strip_fences(document.text))
                found[one.name.casefold()] = one
    return [found[name] for name in sorted(found)]


def chosen(ws: PlainWorkspace, name: str | None = None, *, scope: str = "") -> list[Persona]:
    """Return the persona to use and the user's own traits: at most two, the persona first.

    Args:
        ws: the workspace.
        name: of the persona; by default the one that says `active: true`, else `default.md`. "" for none.
        scope: whose memory, "users/ann"; its personas come before the root's.

    Raises:
        UsageError: there is no persona of that name.
    """
    known = personas(ws, scope=scope)
    by_name = {one.name.casefold(): one for one in known}
    picked = by_name.get((DEFAULT if name is None else name).casefold())
    if name is None:
        active = (one for one in known if one.active and one.name.casefold() != CUSTOM)
        picked = next(active, picked)
    if name and picked is None:
        names = ", ".join(one.name for one in known) or "none yet; create personas/NAME.md"
        raise UsageError(f"there is no persona {name!r}; personas: {names}")
    custom = by_name.get(CUSTOM)
    return [one for one in (picked, custom if custom is not picked else None) if one is not None]


def weight(hit: Hit, weights: Mapping[str, float]) -> float:
    """Return the weight of a hit: that of its kind times those of its tags."""
    tags = hit.meta.get("tags", ())
    names = tags.split(",") if isinstance(tags, str) else tags if isinstance(tags, list | tuple) else ()
    factor = weights.get(hit.kind, 1.0)
    for name in {str(tag).strip().casefold() for tag in names}:
        factor *= weights.get(f"tag:{name}", 1.0)
    return factor


def weighted(hits: Iterable[Hit], personas: Iterable[Persona]) -> list[Hit]:
    """Return hits in the order of these personas' weights."""
    weights = dict(pair for one in personas for pair in one.weights.items())
    hits = list(hits)
    return sorted(hits, key=lambda hit: -hit.score * weight(hit, weights)) if weights else hits


def _persona(path: str, text: str) -> Persona:
    front = front_matter(text)
    weights, problems = _weights(path, front.fields.get("weights"))
    if front.problem:
        problems.append(Problem(path, front.problem, skipped=False))
    phrasing = front.fields.get("phrasing")
    return Persona(
        name=path.rpartition("/")[2].rpartition(".")[0], path=path, text=text[front.end :],
        active=front.fields.get("active") is True, phrasing=phrasing if isinstance(phrasing, str) else "",
        weights=weights, problems=tuple(problems),
    )  # fmt: skip


def _weights(path: str, value: Value) -> tuple[dict[str, float], list[Problem]]:
    given = value if isinstance(value, tuple) else () if value is None else (value,)
    found: dict[str, float] = {}
    problems: list[Problem] = []
    for one in given:
        name, _, number = str(one).replace("：", ":").rpartition("=")
        name = name.strip().casefold()
        if (name in KINDS or name.startswith("tag:")) and _NUMBER.fullmatch(number.strip()):
            found[name] = min(max(float(number), WEIGHTS[0]), WEIGHTS[1])
        else:
            reason = f"weight {one!r} was ignored; write a kind or tag and a number: fact=1.5 or tag:work=1.4"
            problems.append(Problem(path, reason, skipped=False))
    return found, problems

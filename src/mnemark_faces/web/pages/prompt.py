"""The prompt: what a model is given, layer by layer, within its budget."""

from typing import Final

from markupsafe import Markup

from mnemark.errors import UsageError
from mnemark.files.scopes import check_known
from mnemark.memory.curation.identity import Part
from mnemark.memory.prompt.prompt import BUDGET
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, PageContent

_MOST = 200_000
_SHOWN: Final = 20
_COLOURS: Final = 8
_REF: Final = lazy_pattern(r"#L\d+(?:C\d+)?(?:-L\d+(?:C\d+)?)?$")
NAMES: Final = {
    "identity": "Who the agent is", "persona": "Persona", "runtime": "Date and time",
    "rules": "Rules to follow", "scratchpad": "Scratchpad", "core": "Core memory", "profile": "About you",
    "catalogs": "Catalogues", "dynamic": "Recall", "recall": "Recall",
}  # fmt: skip
"""Of the layers, for people."""


def prompt(at: At) -> PageContent:
    """Show the layers with their tokens, and the very text."""
    budget = at.number("budget", BUDGET)
    if not 1 <= budget <= _MOST:
        raise UsageError(f"budget must be from 1 to {_MOST}, not {budget}")
    scopes, scope = at.memory.workspace.scopes(), at.asked("scope")
    check_known(scopes, scope)
    made = at.memory.browse.prompt(at.asked("q") or None, scope=scope, budget=budget, deadline=1.0)
    _ = at.words
    rows = [
        (part, _left_out(part, at), _bar(part, number % _COLOURS, at), number % _COLOURS)
        for number, part in enumerate(made.parts)
    ]
    labels = [
        (f"{_(NAMES.get(part.name, part.name))}: {part.tokens}", float(part.tokens)) for part in made.parts
    ]
    picture = charts.stack(_("Tokens of each layer within the budget"), labels, max(budget, made.tokens))
    values = {"made": made, "rows": rows, "query": at.asked("q"), "budget": budget, "picture": picture,
              "names": NAMES, "scope": scope, "scopes": [one for one in scopes if one]}  # fmt: skip
    return PageContent("prompt.html", values, made)


def _bar(part: Part, colour: int, at: At) -> Markup:
    label = at.words("{n} of {m} tokens", n=part.tokens, m=part.budget)
    return charts.share(label, part.tokens, part.budget, kind=f"p{colour}")


def _left_out(part: Part, at: At) -> list[str]:
    """Return what did not fit: its first words, or in words where it stands."""
    return [at.place(one) if _REF.search(one) else one for one in part.left_out[:_SHOWN]]

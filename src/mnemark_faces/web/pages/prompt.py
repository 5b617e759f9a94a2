"""The prompt: what a model is given, layer by layer, within its budget."""

from mnemark.errors import UsageError
from mnemark.files.scopes import check_known
from mnemark.memory.prompt.prompt import BUDGET
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, PageContent

_MOST = 200_000


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
        (part, charts.share(_("{n} of {m} tokens", n=part.tokens, m=part.budget), part.tokens, part.budget,
                            kind=f"p{number % 8}"), number % 8)
        for number, part in enumerate(made.parts)
    ]  # fmt: skip
    labels = [(f"{_(part.name)}: {part.tokens}", float(part.tokens)) for part in made.parts]
    picture = charts.stack(_("Tokens of each layer within the budget"), labels, max(budget, made.tokens))
    values = {"made": made, "rows": rows, "query": at.asked("q"), "budget": budget, "picture": picture,
              "scope": scope, "scopes": [one for one in scopes if one]}  # fmt: skip
    return PageContent("prompt.html", values, made)

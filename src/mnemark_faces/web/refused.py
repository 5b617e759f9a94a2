"""Tell in a page why a browser is not let in."""

import html

from mnemark.present.words import Words, preferred


def words_for(accepted: str) -> Words:
    """Return the words of the language that the user set, else of the first that a browser accepts."""
    return Words(preferred(accepted=accepted))


def refusal_page(message: str, accepted: str = "", target: str = "") -> str:  # noqa: ARG001 - as of `Web`
    """Return a page with one message, before anything of a workspace may be shown."""
    words = words_for(accepted)
    told = words.told(message)
    return (
        f'<!doctype html><html lang="{told.lang or words.tag}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>mnemark</title>'
        '<link rel="stylesheet" href="/ui/static/style.css"></head>'
        f'<body class="alone"><main><h1>mnemark</h1><p>{html.escape(told.text)}</p></main></body></html>'
    )

"""Count the lines of a package: code, docstrings, comments and blank ones apart.

python tools/count_lines.py src/mnemark [--without adapters --without bench]
"""

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path


def kinds(text: str) -> Counter[str]:
    """How many lines of a module are of which kind; a line with code and a comment is code."""
    doc: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        alone = node.value if isinstance(node, ast.Expr) else None
        if isinstance(alone, ast.Constant) and isinstance(alone.value, str):
            doc.update(range(alone.lineno, (alone.end_lineno or alone.lineno) + 1))
    code: set[int] = set()
    comment: set[int] = set()
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        lines = range(token.start[0], token.end[0] + 1)
        if token.type == tokenize.COMMENT:
            comment.update(lines)
        elif token.type not in skipped:
            code.update(lines)
    code -= doc
    comment -= code | doc
    total = len(text.splitlines())
    blank = total - len(code | doc | comment)
    return Counter(
        files=1, code=len(code), docstrings=len(doc), comments=len(comment), blank=blank, lines=total
    )


def main() -> None:
    """Print one row for each package below, and the sum."""
    parser = argparse.ArgumentParser(description="Count lines by kind.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="PACKAGE")
    given = parser.parse_args()
    rows: dict[str, Counter[str]] = {}
    for path in sorted(given.folder.rglob("*.py")):
        inside = path.relative_to(given.folder)
        package = inside.parts[0] if len(inside.parts) > 1 else "."
        if package not in given.without:
            rows[package] = rows.get(package, Counter()) + kinds(path.read_text("utf-8"))
    columns = ("files", "code", "docstrings", "comments", "blank", "lines")
    print(f"{'package':14}" + "".join(f"{name:>12}" for name in columns))
    for package, counted in [*rows.items(), ("all", sum(rows.values(), Counter()))]:
        print(f"{package:14}" + "".join(f"{counted[name]:12,}" for name in columns))


if __name__ == "__main__":
    main()

"""Make `src/mnemark/data/variants.txt`: traditional to simplified Chinese, one character for one.

    pip install opencc==1.4.2 && python tools/build_variants.py

Two lines of equal length: the traditional characters in code point order, and below each its
simplified form. Same OpenCC, same bytes. OpenCC is needed here only, never at run time.
"""

from pathlib import Path

import opencc

TARGET = Path(__file__).resolve().parent.parent / "src" / "mnemark" / "data" / "variants.txt"

HAN = (
    range(0x3400, 0x4DC0),  # extension A
    range(0x4E00, 0xA000),  # the unified ideographs
    range(0x20000, 0x323B0),  # extensions B to H
)


def pairs() -> dict[str, str]:
    """Every character that has one other simplified form, with that form followed to its end."""
    simplify = opencc.OpenCC("t2s").convert
    table: dict[str, str] = {}
    for block in HAN:
        for point in block:
            character = chr(point)
            simple = simplify(character)
            if simple != character and len(simple) == 1:
                table[character] = simple
    # A chain (a to b, b to c) would make folding twice differ from folding once.
    for character, simple in table.items():
        seen = {character}
        while simple in table and simple not in seen:
            seen.add(simple)
            simple = table[simple]  # noqa: PLW2901 - following the chain is the point
        table[character] = simple
    return {character: simple for character, simple in table.items() if character != simple}


def main() -> None:
    """Write the table and say how large it is."""
    table = pairs()
    lines = ("".join(table), "".join(table.values()))
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{len(table)} characters, {TARGET.stat().st_size} bytes: {TARGET.name}")


if __name__ == "__main__":
    main()

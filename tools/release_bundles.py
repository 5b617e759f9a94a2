"""Write what agents install into `dist/bundles`, a folder and a zip file each."""

import shutil
from pathlib import Path

from mnemark_agents.connect.bundles import BUNDLES, registry_entry, whole


def written(out: Path, namespace: str) -> list[Path]:
    """Write each bundle as a folder and as a zip file beside it; return the folders.

    Args:
        out: the folder for them, made anew.
        namespace: the publisher's own in the MCP registry, such as `io.github.ann`; empty for no entry, which
            names a package of an index that only its publisher can vouch for.
    """
    shutil.rmtree(out, ignore_errors=True)
    named = {bundle.agent: whole(bundle) for bundle in BUNDLES}
    if namespace:
        named["mcp-registry"] = registry_entry(namespace)
    for name, files in named.items():
        for path, text in files.items():
            place = out / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        shutil.make_archive(str(out / name), "zip", out / name)
    return [out / name for name in named]

"""The recipes for hosters name what there is; `test_operated` runs what they run."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnemark._version import __version__
from mnemark_interfaces.app import loaded
from mnemark_server.database import check_url
from mnemark_server.guard import OPEN
from server.cluster import PASSWORDS, SHIPPED

ROOT = SHIPPED.parents[1]
CHART = SHIPPED / "chart"
_VALUE = re.compile(r"\{\{ (toJson )?\.(Values|Release)\.([\w.]+) \}\}")
_IF = re.compile(r"\{\{- if (not )?\.Values\.([\w.]+) \}\}")


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((SHIPPED / "compose.yaml").read_text("utf-8"))
    return found


def node_environment() -> set[str]:
    """What the script of a node reads, beside what the image sets."""
    read = set(re.findall(r"\$\{?(MNEMARK_\w+)", (SHIPPED / "mnemark-node").read_text("utf-8")))
    dockerfile = (SHIPPED / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    (line,) = re.findall(r"^ENV (.+)$", dockerfile, re.MULTILINE)
    return read - {word.split("=")[0] for word in line.split()}


def test_the_image_copies_what_is_here_and_its_user_has_no_rights() -> None:
    text = (SHIPPED / "Dockerfile").read_text("utf-8")
    for source in re.findall(r"^COPY (?:--\S+ )*(\S+) \S+$", text, re.MULTILINE):
        assert source == "dist/mnemark-*.whl" or (ROOT / source).is_file()
    assert re.search(r"^USER (?!0$)\d+$", text, re.MULTILINE)
    assert "[server]" in text
    for script in ("mnemark-node", "postgres/first-start", "postgres/standby", "pgbouncer/start"):
        assert os.access(SHIPPED / script, os.X_OK)
        subprocess.run(["sh", "-n", SHIPPED / script], check=True)


def test_a_node_in_a_container_is_told_its_address_and_issuer(tmp_path: Path) -> None:
    command = tmp_path / "mnemark"
    command.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', "utf-8")
    command.chmod(0o755)
    given = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "MNEMARK_DATABASE": "postgresql://db/mnemark",
        "MNEMARK_HOST": "0.0.0.0", "MNEMARK_PORT": "8765", "MNEMARK_FOLDER": "/data/node",
    }  # fmt: skip
    named = {"MNEMARK_URL": "https://memory.example.org", "MNEMARK_ISSUER": "https://id.example.org"}
    for more in ({}, dict.fromkeys(named, ""), named):
        ran = subprocess.run(
            ["sh", SHIPPED / "mnemark-node"],
            env={**given, **more},
            capture_output=True,
            text=True,
            check=True,
        )
        command_name, *words = ran.stdout.splitlines()
        found = loaded(command_name).make_context(command_name, words).params
        assert [found["url"], found["issuer"]] == [more.get(name, "") for name in named]


def test_compose_names_what_there_is_and_no_password() -> None:
    services, text = compose()["services"], (SHIPPED / "compose.yaml").read_text("utf-8")
    assert set(services) == {"primary", "standby", "primary-again", "pgbouncer", "migrate", "node1", "node2"}
    for name, service in services.items():
        assert service.get("healthcheck") or name in {"node1", "node2"}, "theirs is of the image"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (SHIPPED / source).exists() if source[0] == "." else source in compose()["volumes"]
        for key, value in service["environment"].items():
            assert not key.endswith("PASSWORD") or re.fullmatch(r"\$\{\w+:\?.+\}", value), (name, key)
    assert set(re.findall(r"\$\{(\w+):\?", text)) == set(PASSWORDS)
    assert set(re.findall(r"\$\{(\w+):-\}", text)) == node_environment() - {"MNEMARK_DATABASE"}
    for name in ("node1", "node2", "migrate"):
        environment = services[name]["environment"]
        assert set(environment) == node_environment() | {"PGPASSWORD"}
        check_url(environment["MNEMARK_DATABASE"])
        assert ("pgbouncer" in environment["MNEMARK_DATABASE"]) == (name != "migrate")
    command, *words = services["migrate"]["command"]
    loaded(command).make_context(command, words)


def test_pgbouncer_and_the_standby_are_as_compose_says() -> None:
    services = compose()["services"]
    found = configparser.ConfigParser(comment_prefixes=(";",), interpolation=None)
    found.read(SHIPPED / "pgbouncer/pgbouncer.ini", "utf-8")
    assert found["pgbouncer"]["pool_mode"] == "transaction"
    assert found["databases"]["mnemark"].split()[0] == "host=primary"
    assert services["pgbouncer"]["tmpfs"][0].startswith(str(Path(found["pgbouncer"]["auth_file"]).parent))
    assert f":{found['pgbouncer']['listen_port']}/" in services["node1"]["environment"]["MNEMARK_DATABASE"]
    for name in ("standby", "primary-again"):
        service = services[name]
        read = set(re.findall(r"\$\{?([A-Z_]+)", (SHIPPED / "postgres/standby").read_text("utf-8")))
        assert read - {"PRIMARY_PORT"} <= set(service["environment"])
        mounted = {volume.split(":")[1]: volume.split(":")[0] for volume in service["volumes"]}
        for path in (service["entrypoint"][-1], service["environment"]["CONFIG"]):
            folder, file = path.rsplit("/", 1)
            assert (SHIPPED / mounted[folder] / file).is_file()


def rendered(**changed: object) -> dict[str, Any]:
    """What the templates make of the values: by Helm where it is installed, else by what they use of it."""
    if helm := shutil.which("helm"):
        words = [f"--set={name}={value}" for name, value in changed.items()]
        done = subprocess.run([helm, "template", "one", CHART, *words], capture_output=True, check=True)
        documents = list(yaml.safe_load_all(done.stdout))
    else:
        values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
        for name, value in changed.items():
            part, key = name.split(".")
            values[part][key] = value
        documents = [yaml.safe_load(_filled(path, values)) for path in sorted(CHART.glob("templates/*"))]
    return {one["kind"]: one for one in documents if one}


def _filled(path: Path, values: dict[str, Any]) -> str:
    def value(name: str) -> Any:
        found: Any = values
        for part in name.split("."):
            found = found[part]
        return found

    lines, taken = [], [True]
    for line in path.read_text("utf-8").splitlines():
        if opens := _IF.fullmatch(line):
            taken.append(taken[-1] and bool(value(opens[2])) != bool(opens[1]))
        elif line == "{{- end }}":
            taken.pop()
        elif taken[-1]:
            lines.append(_VALUE.sub(lambda at: "one" if at[2] == "Release" else str(value(at[3])), line))
    assert taken == [True]
    assert "{{" not in "\n".join(lines), f"{path.name} uses more of Helm than this test understands"
    return "\n".join(lines)


@pytest.mark.parametrize("more", [False, True])
def test_the_chart_makes_what_a_cluster_takes(more: bool) -> None:  # noqa: FBT001 - a case
    found = rendered(**{"autoscaling.enabled": more, "ingress.enabled": more})
    always = {"Deployment", "Service", "Job", "PodDisruptionBudget"}
    assert set(found) == always | ({"HorizontalPodAutoscaler", "Ingress"} if more else set())
    deployment, job = found["Deployment"]["spec"], found["Job"]
    assert deployment.get("replicas") == (None if more else 2)
    (node,) = deployment["template"]["spec"]["containers"]
    (migrate,) = job["spec"]["template"]["spec"]["containers"]
    for one, read in ((node, node_environment()), (migrate, {"MNEMARK_DATABASE"})):
        assert {variable["name"] for variable in one["env"]} == read
        assert one["image"].endswith(f":{__version__}")
    assert node["env"] != migrate["env"], "migrations need the address of PostgreSQL itself"
    assert {node[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")} <= set(OPEN)
    assert "pre-upgrade" in job["metadata"]["annotations"]["helm.sh/hook"]
    loaded(migrate["args"][0]).make_context(*[migrate["args"][0], migrate["args"][1:]])
    labels = deployment["template"]["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget"):
        selector = found[kind]["spec"]["selector"]
        assert labels == selector.get("matchLabels", selector)
    if more:
        paths = [one["path"] for one in found["Ingress"]["spec"]["rules"][0]["http"]["paths"]]
        assert not {"/livez", "/readyz", "/metrics"} & set(paths)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)

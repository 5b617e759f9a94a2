"""What a configuration file says, and that a mistake in it names its own fix."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mnemark.errors import ConfigError
from mnemark.files import new_workspace
from mnemark.files.config import Config, ConsolidateConfig, load, load_reported
from mnemark.files.mounts import Mounted, mounts_of


def own(root: Path, text: str) -> None:
    (root / "mnemark.toml").write_text(text, encoding="utf-8")


def foreign(root: Path, data: Any) -> None:
    (root / "config.json").write_text(json.dumps(data), encoding="utf-8")


def reasons(root: Path) -> str:
    return "\n".join(problem.reason for problem in load_reported(root).problems)


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == Config()
    new_workspace.init(tmp_path)
    assert load(tmp_path) == Config()


def test_each_setting_is_read(tmp_path: Path) -> None:
    own(
        tmp_path,
        """
        owner = "安"
        timezone = "Asia/Shanghai"
        ignore = ["drafts/"]
        redact = ['EMP-\\d{6}']
        embedder = "fastembed:BAAI/bge-small-zh-v1.5"
        vector_store = "sqlite-vec"
        preset = "nanocrab"
        recall_budget = 600
        [mounts]
        team = "shared/notes"
        [consolidate]
        at = ""
        """,
    )
    config = load(tmp_path)
    assert config == Config(
        owner="安",
        timezone="Asia/Shanghai",
        ignore=("drafts/",),
        redact=(r"EMP-\d{6}",),
        embedder="fastembed:BAAI/bge-small-zh-v1.5",
        vector_store="sqlite-vec",
        preset="nanocrab",
        recall_budget=600,
        consolidate=ConsolidateConfig(at=""),
        mounts={"team": "shared/notes"},
    )
    assert mounts_of(tmp_path, config.mounts) == {"team": Mounted(tmp_path / "shared/notes")}


@pytest.mark.parametrize(
    "text",
    [
        "recallBudget = 600",
        "[memory]\nrecallBudget = 600",
        "[mnemark]\nrecall_budget = 600",
        "recall-budget = 600",
    ],
)
def test_other_spellings_are_accepted(tmp_path: Path, text: str) -> None:
    own(tmp_path, text)
    assert load(tmp_path).recall_budget == 600


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "recall_budgt = 1",
            r"mnemark.toml: recall_budgt: there is no such key. Did you mean 'recall_budget'\?",
        ),
        ("qqq = 1", r"qqq: .*Keys are: owner"),
        ("[recall]\nx = 1", r"recall.x: there is no such key"),
        (
            'recall_budget = "many"',
            r"recall_budget: must be a whole number, 50 or more, not \"many\"; the default is 800",
        ),
        ("recall_budget = 1", r"recall_budget: must be .*50 or more, not 1;"),
        ("recall_budget = 1.5", r"recall_budget: "),
        ("recall_budget = true", r"recall_budget: "),
        (
            'embedder = "magic"',
            r"embedder: must be \"bundled\", .* or \"api:MODEL\", not \"magic\"; the default is \"bundled\"",
        ),
        ('embedder = "api:"', r"embedder: "),
        ('preset = "best"', r"preset: must be \"bm25\", .* or \"openakita\", not \"best\""),
        ('timezone = "Middle/Earth"', r"timezone: must be the name of a time zone, .* not 'Middle/Earth'"),
        ('timezone = "../etc/passwd"', r"timezone: "),
        ('redact = ["("]', r"redact: '\(' is not a valid regular expression"),
        ('ignore = "drafts"', r"ignore: must be a list"),
        ("mounts = 1", r"mounts: must be a table"),
        ('[mounts]\n"a/b" = "x"', r"mounts: "),
        ('ignore = ["!MEMORY.md"]', r"ignore: no pattern can begin with '!'"),
        ('[consolidate]\nat = "25:00"', r"consolidate: at must be a time such as \"03:00\""),
        ('embedding_api_key = "sk-1"', r"embedding_api_key: not read, because it is a secret"),
        ("a = \nb = 1", r"mnemark.toml cannot be read: .*line 1"),
    ],
)
def test_a_mistake_names_file_key_and_fix(tmp_path: Path, text: str, told: str) -> None:
    own(tmp_path, text)
    with pytest.raises(ConfigError, match=told) as caught:
        load(tmp_path)
    assert "mnemark.toml" in str(caught.value)
    assert "sk-1" not in str(caught.value)


def test_a_file_from_a_windows_editor_is_read(tmp_path: Path) -> None:
    (tmp_path / "mnemark.toml").write_bytes("\ufeffrecall_budget = 600\r\n".encode())
    assert load(tmp_path).recall_budget == 600


@pytest.mark.parametrize("data", [b"owner = \xff", b'owner = "\xff"'])
def test_a_file_that_is_no_text_is_an_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "mnemark.toml").write_bytes(data)
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)


def test_an_existing_nanobot_configuration_is_taken_over(tmp_path: Path) -> None:
    foreign(
        tmp_path,
        {
            "agents": {"defaults": {"model": "x"}},
            "memory": {
                "enabled": True,
                "embeddingModel": "BAAI/bge-small-zh-v1.5",
                "recallTimeout": 0.25,
                "maxContextTokens": 500,
                "chunkMaxTokens": 128,
                "enableSummaries": True,
                "retrieval": {"limit": 5, "rrfK": 60, "scoreHigh": 0.6},
            },
        },
    )
    assert load(tmp_path) == Config(
        embedder="fastembed:BAAI/bge-small-zh-v1.5",
        recall_deadline_ms=250,
        recall_budget=500,
        passage_tokens=128,
        recall_hits=5,
        preset="nanobot",
    )
    told = reasons(tmp_path)
    for key in ("memory.enable_summaries", "memory.retrieval.score_high", "agents"):
        assert key in told


def test_snake_case_says_the_same(tmp_path: Path) -> None:
    foreign(tmp_path, {"memory": {"embedding_model": "multilingual", "max_context_tokens": 500}})
    assert load(tmp_path) == Config(recall_budget=500)


def test_an_existing_openakita_configuration_is_taken_over(tmp_path: Path) -> None:
    settings = {
        "embedding_api_provider": "dashscope",
        "embedding_api_model": "text-embedding-v3",
        "embedding_api_key": "sk-secret",
        "search_backend": "api_embedding",
    }
    foreign(tmp_path, settings)
    config = load(tmp_path)
    assert config.embedder == "api:text-embedding-v3"
    assert config.embedder_url.startswith("https://dashscope")
    assert "environment variable" in reasons(tmp_path)
    assert "sk-secret" not in reasons(tmp_path)
    foreign(tmp_path, settings | {"search_backend": "fts5"})
    assert load(tmp_path).embedder == "none"


def test_weights_of_ones_own_are_reported_not_dropped_silently(tmp_path: Path) -> None:
    foreign(tmp_path, {"memory": {"vectorWeight": 0.9}})
    assert load(tmp_path).preset == "default"
    assert "always uses 0.6" in reasons(tmp_path)


@pytest.mark.parametrize(
    "data",
    [{"memory": "512m"}, {"scripts": {}, "timezone": "Mars"}, [1, 2], None, {"owner": 3}],
)
def test_another_programs_file_is_left_in_peace(tmp_path: Path, data: Any) -> None:
    foreign(tmp_path, data)
    assert load_reported(tmp_path).config == Config()
    assert reasons(tmp_path) == ""


@pytest.mark.deep
@pytest.mark.parametrize("text", ["{", "\xff", "[" * 100_000])
def test_a_broken_config_json_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    assert load_reported(tmp_path).config == Config()
    assert "cannot be read" in reasons(tmp_path)


@pytest.mark.parametrize("value", ["many", True, None, [], -5, 1e400])
def test_a_wrong_value_in_config_json_is_reported_and_left_out(tmp_path: Path, value: Any) -> None:
    foreign(
        tmp_path, {"memory": {"maxContextTokens": value, "recallTimeout": value, "embeddingModel": [value]}}
    )
    assert load(tmp_path) == Config()
    assert reasons(tmp_path).count("memory.") == 3


def test_mnemark_toml_wins_over_config_json(tmp_path: Path) -> None:
    foreign(tmp_path, {"memory": {"maxContextTokens": 500, "recallTopK": 3}})
    own(tmp_path, "recall_budget = 600")
    assert load(tmp_path) == Config(recall_budget=600, recall_hits=3)


def test_the_documentation_lists_every_setting_with_its_default() -> None:
    text = (Path(__file__).parents[2] / "docs/configuration.md").read_text(encoding="utf-8")
    ours = text.partition("## An existing")[0]
    listed = dict(re.findall(r"^\| `((?:\w+\.)?\w+)` \| `(.*?)` \|", ours, re.MULTILINE))
    fields = msgspec.structs.fields(Config)
    flat = msgspec.to_builtins(Config())
    tables = [name for name, value in flat.items() if isinstance(value, dict) and name != "mounts"]
    for table in tables:
        flat |= {f"{table}.{name}": value for name, value in flat.pop(table).items()}
    assert listed == {name: json.dumps(value) for name, value in flat.items()}
    assert len(fields) - len(tables) <= 22  # a table's settings only make sense together


def test_the_table_of_the_model_is_read_in_both_spellings_and_checked(tmp_path: Path) -> None:
    own(tmp_path, '[llm]\nmodel = "m"\ncallsPerDay = 5\ntokens_per_day = 1000')
    found = load(tmp_path).llm
    assert (found.calls_per_day, found.tokens_per_day, found.active) == (5, 1000, True)
    assert not Config().llm.active
    own(tmp_path, "[llm]\nmodle = 'm'")
    with pytest.raises(ConfigError, match="modle"):
        load(tmp_path)
    own(tmp_path, "[llm]\ncalls_per_day = -1")
    with pytest.raises(ConfigError, match="llm"):
        load(tmp_path)

"""Run commands of mnemark in this process: a new one takes a second to start."""

import os
from collections.abc import Mapping
from contextvars import copy_context
from pathlib import Path
from subprocess import CompletedProcess
from traceback import format_exception

import pytest
from typer.testing import CliRunner

from mnemark_agents.connect import check
from mnemark_interfaces.app import app


def mnemark(
    *words: str, given: str = "", cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """Run a command as a process would with this environment, whole if it is given, and this folder."""
    check._unanswered.cache_clear()  # a process asks anew
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - (environment or os.environ).keys():
            patch.delenv(name)
        for name, value in (environment or {}).items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        done = copy_context().run(CliRunner().invoke, app, [*words], input=given)
    wrong = done.exception
    told = "" if wrong is None or isinstance(wrong, SystemExit) else "".join(format_exception(wrong))
    return CompletedProcess(words, done.exit_code, done.stdout, done.stderr + told)

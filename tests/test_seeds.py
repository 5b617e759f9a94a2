"""Property tests with other examples than the pinned ones of an ordinary run: seeds are drawn anew."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SEEDS = 3


@pytest.mark.slow
def test_properties_hold_with_other_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in [secrets.randbelow(10**9) for _ in range(SEEDS)]:
        command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "hypothesis and not slow"]
        command += ["--hypothesis-profile=random", f"--hypothesis-seed={seed}", "tests"]
        with capsys.disabled():
            print(f"\npython {' '.join(command)}")  # noqa: T201 - who sees it fail can run it again
        ran = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"seed {seed}:\n{ran.stdout[-8_000:]}{ran.stderr[-2_000:]}"

"""Builds the wheel: the program first, which goes among its scripts, and then with maturin the extension.

``TOOLCRIB_PYTHON_PROFILE`` is the profile of both: ``quick`` from a checkout, ``small`` for what is released, or any other of
Cargo.toml. ``TOOLCRIB_PYTHON_PROGRAM`` is a program that is built already.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = "toolcrib.exe" if sys.platform == "win32" else "toolcrib"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel


def _profile() -> str:
    return os.environ.get("TOOLCRIB_PYTHON_PROFILE", "quick")


def _program() -> Path:
    """The program, built in the target folder of the checkout."""
    if given := os.environ.get("TOOLCRIB_PYTHON_PROGRAM"):
        return Path(given)
    command = ["cargo", "build", "--locked", "--profile", _profile(), "--features", "otel,postgres", "--bin", "toolcrib"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "CARGO_TARGET_DIR": str(_target())}, check=True)
    return _target() / ("debug" if _profile() == "dev" else _profile()) / PROGRAM


def _target() -> Path:
    """The target folder of program and extension, which share crates."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    (HERE / "data").mkdir(exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    scripts = HERE / "data" / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy2(_program(), scripts / PROGRAM)
    os.environ["CARGO_TARGET_DIR"] = str(_target())
    settings = {"build-args": f"--locked --profile {_profile()}", **(config_settings or {})}
    return maturin.build_wheel(wheel_directory, settings, metadata_directory)

"""The fixture for somebody's own suite."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = [{"name": "f", "description": "F.", "inputSchema": {"type": "string"}}]
GITHUB = Path(__file__).resolve().parents[3] / "examples" / "github"
FINE = [{"name": "get_it", "description": "Gets it by its id, from the shelf.", "inputSchema": {"type": "object"}}]


def test_findings_fail_a_test(toolcrib_check):
    with pytest.raises(pytest.fail.Exception, match="definitions.json:1"):
        toolcrib_check(BROKEN).no_errors()
    toolcrib_check(FINE).no_errors()


def test_a_budget_fails_a_test(toolcrib_check):
    with pytest.raises(pytest.fail.Exception, match="over the budget"):
        toolcrib_check(FINE).budget(1, mode="full")
    toolcrib_check(FINE).budget(10_000, mode="full")


def test_drift_fails_a_test(toolcrib_check, tmp_path):
    check = toolcrib_check(FINE)
    check.catalog.seed(tmp_path / "w")
    check.no_drift(tmp_path / "w")
    with pytest.raises(pytest.fail.Exception, match="out of date"):
        toolcrib_check(FINE + [{**FINE[0], "name": "put_it"}]).no_drift(tmp_path / "w")


def failure(check, *arguments, **settings):
    with pytest.raises(pytest.fail.Exception) as failed:
        check(*arguments, **settings)
    return str(failed.value)


def test_a_budget_is_told_in_sentences(toolcrib_check):
    told = failure(toolcrib_check(FINE).budget, 1, mode="full")
    assert told.startswith("full binds ") and " over the budget of 1" in told and "help: take a mode that fits: files" in told
    assert "{" not in told and failure(toolcrib_check(GITHUB).budget, 1000, profile="core").startswith("profile core: gateway binds ")


def test_drift_of_rendered_docs_fails_a_test(toolcrib_check, tmp_path):
    check = toolcrib_check(GITHUB)
    check.catalog.render(tmp_path / "docs", profile="core")
    check.no_drift(tmp_path / "docs", profile="core")
    (tmp_path / "docs" / "create_issue.md").write_text("changed")
    told = failure(check.no_drift, tmp_path / "docs", profile="core")
    assert "create_issue.md" in told and f"`toolcrib render {GITHUB} --out {tmp_path / 'docs'} --profile core`" in told


def test_a_folder_that_was_never_written_says_how_it_is(toolcrib_check, tmp_path):
    told = failure(toolcrib_check(GITHUB).no_drift, tmp_path / "w", profile="core", vars={"job_id": 42})
    assert told == (
        f"there is no folder {tmp_path / 'w'}: write it with "
        f"`toolcrib seed {tmp_path / 'w'} {GITHUB} --profile core --var job_id=42`"
    )
    told = failure(toolcrib_check(FINE).no_drift, "docs")
    assert "`toolcrib.open(...).seed('docs')`" in told and "`toolcrib.open(...).render('docs')`" in told


def test_the_commands_that_a_failure_names_mend_it(toolcrib_check, tmp_path):
    check = toolcrib_check(GITHUB)
    for at in (0, 1):
        told = failure(check.no_drift, tmp_path / f"{at}", profile="core")
        command = shlex.split(told.split("`")[1 + 2 * at])
        subprocess.run([Path(sys.executable).with_name(command[0]), *command[1:]], check=True, capture_output=True)
        check.no_drift(tmp_path / f"{at}", profile="core")

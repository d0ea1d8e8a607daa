"""The fixture for somebody's own suite."""

import pytest

BROKEN = [{"name": "f", "description": "F.", "inputSchema": {"type": "string"}}]
FINE = [{"name": "get_it", "description": "Gets it by its id, from the shelf.", "inputSchema": {"type": "object"}}]


def test_findings_fail_a_test(toolcrib_check):
    with pytest.raises(pytest.fail.Exception, match="definitions.json:1"):
        toolcrib_check(BROKEN).no_errors()
    toolcrib_check(FINE).no_errors()


def test_a_budget_fails_a_test(toolcrib_check):
    with pytest.raises(pytest.fail.Exception, match="over the budget"):
        toolcrib_check(FINE).budget(1, surface="full")
    toolcrib_check(FINE).budget(10_000, surface="full")


def test_drift_fails_a_test(toolcrib_check, tmp_path):
    check = toolcrib_check(FINE)
    check.catalog.seed(tmp_path / "w")
    check.no_drift(tmp_path / "w")
    with pytest.raises(pytest.fail.Exception, match="out of date"):
        toolcrib_check(FINE + [{**FINE[0], "name": "put_it"}]).no_drift(tmp_path / "w")

"""The binding gives the same bytes as the command, and its own readings hold."""

import dataclasses
import enum
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Literal, Optional, TypedDict

import pytest
import toolcrib

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ["examples/github", "examples/universal-agent", "examples/buildos"]
PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "mcp", "langchain"]
COMMAND = str(Path(sys.executable).with_name("toolcrib"))


def command(*arguments, stdin=""):
    return subprocess.run([COMMAND, *arguments], input=stdin, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def github():
    return toolcrib.open(ROOT / "examples/github")


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("mode", ["full", "hybrid", "gateway"])
def test_payloads_have_the_bytes_of_the_command(example, mode):
    catalog = toolcrib.open(ROOT / example)
    for provider in PROVIDERS:
        printed = command("payload", example, "--provider", provider, "--mode", mode)
        try:
            payload = catalog.payload(provider, mode=mode)
        except toolcrib.PayloadError as error:
            assert printed.returncode != 0 and str(error) in printed.stderr
            continue
        if printed.returncode == 0:
            assert payload.text + "\n" == printed.stdout


def test_calls_and_results_are_those_of_the_command(github):
    response = (ROOT / "examples/github/response.json").read_text()
    calls = github.parse("anthropic", response)
    printed = command("parse", "examples/github", "--provider", "anthropic", stdin=response)
    assert [call.entry for call in calls] == json.loads(printed.stdout)
    entries = json.loads((ROOT / "examples/github/results.json").read_text())
    replied = command("results", "examples/github", "--provider", "anthropic", stdin=json.dumps(entries))
    assert github.results("anthropic", entries) == json.loads(replied.stdout)


def test_findings_and_tokens_are_those_of_the_command(github):
    report = json.loads(command("tokens", "examples/github", "--json").stdout)
    assert github.tokens() == report
    checked = json.loads(command("check", "examples/buildos", "--json").stdout)
    findings = toolcrib.open(ROOT / "examples/buildos").findings
    assert [finding.code for finding in findings] == [finding["code"] for finding in checked["findings"]]


def test_a_workspace_has_the_bytes_of_the_command(tmp_path):
    toolcrib.open(ROOT / "examples/universal-agent").seed(tmp_path / "ours", profile="creator", vars={"job_id": "42"})
    seed = ["seed", str(tmp_path / "its"), "examples/universal-agent", "--profile", "creator"]
    assert command(*seed).returncode == 0
    ours, its = (
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "ours", tmp_path / "its")
    )
    assert ours == its and "AGENTS.md" in ours


def test_errors_have_codes_and_near_names(github):
    with pytest.raises(toolcrib.UnknownTool) as unknown:
        github.doc("create_isue_branch")
    assert unknown.value.code == "unknown_tool"
    with pytest.raises(FileNotFoundError):
        toolcrib.open("/nowhere")
    with pytest.raises(toolcrib.UnknownProfile):
        github.payload("openai", profile="nobody")
    with pytest.raises(toolcrib.ResponseError):
        github.parse("anthropic", "{")
    with pytest.raises(ValueError, match="providers are: openai"):
        github.payload("opena")
    with pytest.raises(toolcrib.ResultsError):
        github.results("anthropic", [])


def test_unknown_names_have_the_nearest(github):
    for job, nearest in [
        (lambda: github.payload("opena"), "openai"),
        (lambda: github.payload("openai", mode="hybird"), "hybrid"),
        (lambda: github.payload("openai", profile="cor"), "core"),
        (lambda: github.tokens("antropic"), "anthropic"),
    ]:
        with pytest.raises(toolcrib.Error) as unknown:
            job()
        assert unknown.value.nearest[0] == nearest


def test_errors_have_their_place(github, tmp_path):
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "AGENTS.md").write_text("# Job\n\n{{ job_id ")
    (tmp_path / "docs").write_text("no folder")
    (tmp_path / "settings.toml").write_text("[profile.core]")
    for job, place in [
        (lambda: github.seed(tmp_path / "w", template=tmp_path / "template"), ("AGENTS.md", "", 3)),
        (lambda: github.parse("anthropic", '{"content":\n ?'), ("response.json", "", 2)),
        (lambda: github.results("anthropic", [{"name": "get_me"}]), ("results.json", "/0", None)),
        (lambda: github.render(tmp_path / "docs" / "below"), (str(tmp_path / "docs" / "below"), "", None)),
        (lambda: toolcrib.open("nowhere"), ("nowhere", "", None)),
        (lambda: toolcrib.open([], config=tmp_path / "settings.toml"), (str(tmp_path / "settings.toml"), "", None)),
        (lambda: toolcrib.FunctionTool.of(paint).run({"box": {}}), ("arguments.json", "/box/width", None)),
        (toolcrib.open([{"name": "f", "inputSchema": {"type": "string"}}]).check, ("definitions.json", "/0/inputSchema", 1)),
    ]:
        with pytest.raises(toolcrib.Error) as wrong:
            job()
        found = wrong.value.place
        assert found and (found.file, found.pointer, found.line) == place, wrong.value


def test_help_is_there_for_tools_and_for_groups(github):
    assert github.help("create_issue")["call"]["args"]
    assert "github.create_issue" in github.help("issues")["write"]
    assert github.help("issue") == github.help("issues") and github.help("pull_request") == github.help("Pull requests")
    assert github.help("root")["groups"]
    with pytest.raises(toolcrib.UnknownTool) as unknown:
        github.help("create_isue")
    assert "create_issue" in unknown.value.nearest


def test_values_of_a_job_have_names_that_templates_can_say(github, tmp_path):
    for name in ("profile", "job-id", ""):
        with pytest.raises(toolcrib.TemplateError, match=name):
            github.seed(tmp_path / "w", vars={name: "42"})
    assert not (tmp_path / "w").exists()


def test_findings_of_definitions_in_memory_have_places():
    catalog = toolcrib.open([{"name": "f", "description": "F.", "inputSchema": {"type": "string"}}])
    errors = [finding for finding in catalog.findings if finding.severity == "error"]
    assert errors and errors[0].place and errors[0].place.pointer.startswith("/0")
    with pytest.raises(toolcrib.FindingsError) as refused:
        catalog.check()
    assert refused.value.findings == errors


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Box:
    width: float
    label: str = ""


class Place(TypedDict):
    city: str


def paint(
    box: Box,
    color: Color,
    place: Place,
    how: Literal["fast", "well"] = "well",
    note: Optional[str] = None,
    tags: list[str] | None = None,
    corner: tuple[int, int] = (0, 0),
    weight: Annotated[float, "Weight in kilograms."] = 1.0,
) -> str:
    """Paints a box.

    Args:
        box: The box to paint.
        color: The color it gets.
    """
    return f"{color} {box}"


def test_a_function_is_a_tool_by_its_docstring_and_its_hints():
    catalog = toolcrib.open([paint])
    [tool] = catalog.payload("openai", mode="full")["tools"]
    parameters = tool["function"]["parameters"]
    properties = parameters["properties"]
    assert tool["function"]["description"] == "Paints a box."
    assert properties["box"]["description"] == "The box to paint."
    assert properties["box"]["required"] == ["width"]
    assert properties["color"]["enum"] == ["red", "blue"]
    assert properties["how"]["enum"] == ["fast", "well"] and properties["how"]["default"] == "well"
    assert properties["weight"]["description"] == "Weight in kilograms."
    assert parameters["required"] == ["box", "color", "place"]
    assert not [finding for finding in catalog.findings if finding.severity == "error"]


def test_lists_of_mcp_sessions_are_read():
    mcp_types = pytest.importorskip("mcp.types")
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    listed = mcp_types.ListToolsResult.model_validate(
        {"tools": [{"name": "get", "description": "Gets it.", "inputSchema": schema}]}
    )
    catalog = toolcrib.open([listed, paint])
    assert [tool.name for tool in catalog.tools] == ["get", "paint"]
    assert [tool.name for tool in toolcrib.open(listed).tools] == ["get"]


def test_objects_of_the_sdks_are_responses(github):
    anthropic = pytest.importorskip("anthropic")
    message = anthropic.types.Message.model_validate({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [{"type": "tool_use", "id": "1", "name": "get_me", "input": {}}],
    })
    [call] = github.parse("anthropic", message)
    assert call.name == "get_me" and call.arguments == {} and call.error is None


def test_a_catalog_is_a_collection_of_its_tools(github):
    assert len(github) == len(github.tools) == len(list(github))
    assert "create_issue" in github and github.tools[0] in github and "create_isue" not in github
    assert github.get("create_issue").effect == "write" and github.get("create_isue") is None


def test_what_is_no_json_is_an_error_of_the_argument(github):
    cycle = {}
    cycle["self"] = cycle
    for job in (lambda: github.parse("openai", cycle), lambda: toolcrib.Session(github).call("get_me", cycle)):
        with pytest.raises(toolcrib.ArgumentError, match="JSON"):
            job()


def test_a_response_that_was_not_awaited_says_so(github):
    async def create():
        yield {}

    async def answer():
        return {}

    for response in create(), answer():
        with pytest.raises(toolcrib.ArgumentError, match="await"):
            github.parse("openai", response)
        getattr(response, "close", lambda: None)()


def test_threads_share_a_catalog(github):
    payloads = []
    threads = [threading.Thread(target=lambda: payloads.append(github.payload("openai").text)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(payloads) == 8 and len(set(payloads)) == 1


def test_the_program_is_in_the_wheel():
    assert command("--version").stdout.startswith("toolcrib ")


def test_nothing_is_imported_that_was_not_asked_for():
    code = """
import sys, toolcrib
assert not [name for name in sys.modules if name.startswith("toolcrib.")]
tools = [{"name": "get_me", "description": "Who I am.", "inputSchema": {"type": "object"}}]
agent = toolcrib.Session(toolcrib.open(tools), {"get_me": lambda given: {"login": "octocat"}})
assert agent.run(agent.call("get_me", {}))["result"] == {"login": "octocat"}
print(sorted({"asyncio", "difflib", "pydantic", "typing_extensions"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr

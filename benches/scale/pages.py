"""A page for each tool as a script would write it: parsed, formatted and written; nothing is checked or derived.

Takes the path of a JSON array of definitions, and a folder that is not there yet.
"""

import json
import sys
from pathlib import Path


def argument(name, schema, required):
    optional = "" if name in required else ", optional"
    return f"- `{name}` ({schema.get('type', 'any')}{optional}): {schema.get('description', '')}"


def page(tool):
    parameters = tool.get("parameters") or tool.get("inputSchema") or {}
    required = parameters.get("required") or []
    arguments = "\n".join(argument(name, schema, required) for name, schema in parameters.get("properties", {}).items())
    call = json.dumps({"name": tool["name"], "arguments": {name: "..." for name in required}})
    return f"# {tool['name']}\n\n{tool.get('description', '')}\n\n**Arguments:**\n{arguments}\n\n```json\n{call}\n```\n"


def main():
    tools, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    out.mkdir(parents=True)
    for tool in tools:
        with open(out / f"{tool['name']}.md", "w") as file:
            file.write(page(tool))
    index = "".join(f"- [{tool['name']}]({tool['name']}.md) - {tool.get('description', '')[:100]}\n" for tool in tools)
    (out / "README.md").write_text(f"# Tools\n\n{index}")
    with open(out / "registry.json", "w") as file:
        json.dump({"tools": tools}, file, indent=1)


if __name__ == "__main__":
    main()

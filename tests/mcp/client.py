"""Lists, calls and reads through the official Python SDK: client.py MEMDIR. Prints a line for each step."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

TOLD = "please never mock the database in integration tests, a broken migration went to production that way"
PROPOSAL = {
    "action": "new",
    "name": "feedback-real-db",
    "type": "feedback",
    "description": "integration tests use a real database",
    "body": "Never mock the database in integration tests.\n\n**Why:** a broken migration went to production that way.",
    "evidence": [{"message": 1, "quote": TOLD}],
}


async def main(memdir: str, environment: dict[str, str]) -> None:
    server = StdioServerParameters(command=memdir, args=["mcp"], env=environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        about = await session.initialize()
        print("python: server", about.server_info.name if hasattr(about, "server_info") else about.serverInfo.name)
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert len(tools) == 7 and tools == sorted(tools), tools
        note = "---\nname: reference-python\ndescription: written by the Python SDK\ntype: reference\n---\n\nHello.\n"
        arguments = {"command": "create", "path": "/memories/reference-python.md", "file_text": note}
        made = await session.call_tool("memory", arguments)
        assert made.content[0].text == "File created successfully at: /memories/reference-python.md", made
        found = await session.call_tool("search_memory", {"query": "what did the Python SDK write?"})
        assert "reference-python.md" in found.content[0].text, found
        resources = [str(one.uri) for one in (await session.list_resources()).resources]
        assert "memdir://memory/reference-python" in resources, resources
        read_back = await session.read_resource("memdir://memory/reference-python")
        assert "Hello." in read_back.contents[0].text, read_back
        prompts = [one.name for one in (await session.list_prompts()).prompts]
        assert prompts == ["dashboard", "forget", "monthly", "recall", "remember", "wrap"], prompts
        print(f"python: {len(tools)} tools, {len(resources)} resources, {len(prompts)} prompts: all as expected")


async def lending(memdir: str, environment: dict[str, str]) -> None:
    """A host that lends its own model, and one whose user refuses."""
    asked: list[str] = []

    async def lend(_, params):
        asked.append(params.messages[0].content.text)
        calls = {"calls": [{"name": "propose", "input": {"proposals": [PROPOSAL]}}]}
        text = json.dumps(calls) if len(asked) == 1 else "done"
        return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text=text), model="lent")

    async def refuse(_, params):
        asked.append(params.messages[0].content.text)
        return types.ErrorData(code=-1, message="User rejected sampling request")

    with tempfile.TemporaryDirectory() as home:
        Path(home, "config.toml").write_text('[model]\nservice = "sampling"\n')
        server = StdioServerParameters(command=memdir, args=["mcp"], env=environment | {"MEMDIR_HOME": home})
        said = {"text": f"User: {TOLD}\nAssistant: Understood."}
        for callback, by, times in ((lend, "1 candidate by your own model", 2), (refuse, "by rules", 1)):
            asked.clear()
            async with stdio_client(server) as (read, write):
                async with ClientSession(read, write, sampling_callback=callback) as session:
                    await session.initialize()
                    found = await session.call_tool("extract_facts", said)
            assert by in found.content[0].text, found
            assert len(asked) == times and TOLD in asked[0], asked
    print("python: a model that is lent is asked, and a refusal is answered by rules")


if __name__ == "__main__":
    import os

    names = ("PATH", "HOME", "MEMDIR_HOME", "MEMDIR_VAULT")
    own = {name: os.environ[name] for name in names}
    asyncio.run(main(sys.argv[1], own))
    asyncio.run(lending(sys.argv[1], own))

"""Lists, calls and reads through the official Python SDK: client.py MEMDIR. Prints a line for each step."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


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


if __name__ == "__main__":
    import os

    names = ("PATH", "HOME", "MEMDIR_HOME", "MEMDIR_VAULT")
    asyncio.run(main(sys.argv[1], {name: os.environ[name] for name in names}))

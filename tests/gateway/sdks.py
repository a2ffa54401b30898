"""The official Python SDKs through the gateway, called by `tests/gateway/sdks`.

    sdks.py ADDRESS SEEN_BEFORE SEEN_BEHIND on|off

ADDRESS is asked; the other two tell what passed before and behind the gateway. Each check is one thing that programs do with an SDK;
after it every request and answer is compared with its other side. With memory off nothing may differ; with memory on texts of ours
may have been added to what a user said, and must have been where there was something to remember.
"""

import json
import re
import sys
import traceback
import urllib.request

import anthropic
import openai

ADDRESS, *SEEN, MEMORY = sys.argv[1:]
ANSWER = 'As you wish: größer, "quoted", 漢字 🚂'
FACT = "The release train leaves the yard at a quarter past four."
QUESTION = "when does the release train leave?"
REFUSED = 'scripted: größer als erlaubt, "wirklich" 漢字'
REMINDER = r"<system-reminder>\\n(?:[^\"\\]|\\.)*?\\n</system-reminder>"
STRING = r"\"(?:[^\"\\]|\\.)*\""
LOOK_UP = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


def seen(address):
    with urllib.request.urlopen(f"http://{address}/") as told:
        return json.load(told)


def without_ours(body):
    """What a body may have been before texts of ours were added, in each of their forms."""
    block = rf',\{{"type":"(?:input_)?text","text":"{REMINDER}"\}}'
    wrapped = rf'\[\{{"type":"text","text":({STRING})\}}{block}\]'
    return [body, re.sub(block, "", body), re.sub(wrapped, r"\1", body), re.sub(rf"\\n\\n{REMINDER}", "", body)]


def compare(n, told):
    """Compares both sides of so many requests, and says what reached the model."""
    before, behind = map(seen, SEEN)
    assert len(before) == len(behind) == n, f"{len(before)} requests came and {len(behind)} went, not {n}"
    went_on = []
    for came, went in zip(before, behind):
        for part in ("method", "path", "status", "answer"):
            assert came[part] == went[part], f"{part}: {came[part]!r} became {went[part]!r}"
        came_body, went_body = (bytes.fromhex(side["body"]).decode() for side in (came, went))
        if told and MEMORY == "on":
            assert went_body != came_body and FACT in went_body, went_body
            assert came_body in without_ours(went_body), f"{came_body}\nbecame\n{went_body}"
        else:
            assert went_body == came_body, f"{came_body}\nbecame\n{went_body}"
        went_on.append(went_body)
    return went_on


# Nobody may be retried for, unless a check is about that.
claude = anthropic.Anthropic(base_url=f"http://{ADDRESS}", api_key="sk-none", max_retries=0)
gpt = openai.OpenAI(base_url=f"http://{ADDRESS}/v1", api_key="sk-none", max_retries=0)
CLAUDE = {"model": "claude-opus-5-5", "max_tokens": 400}


def anthropic_whole():
    got = claude.messages.create(**CLAUDE, system="python whole", messages=[{"role": "user", "content": QUESTION}])
    assert got.content[0].text == ANSWER and got.usage.cache_read_input_tokens == 9000, got
    compare(1, True)


def anthropic_streamed():
    blocks = [{"type": "text", "text": "ä\u2028"}, {"type": "text", "text": QUESTION}]
    with claude.messages.stream(**CLAUDE, system="python streamed", messages=[{"role": "user", "content": blocks}]) as stream:
        assert "".join(stream.text_stream) == ANSWER
        assert stream.get_final_message().stop_reason == "end_turn"
    compare(1, True)


def anthropic_tool():
    tools = [{"name": "look_up", "description": "looks a word up", "input_schema": LOOK_UP}]
    messages = [{"role": "user", "content": f"use the tool: {QUESTION}"}]
    with claude.messages.stream(**CLAUDE, tools=tools, messages=messages) as stream:
        called = stream.get_final_message()
    call = called.content[0]
    assert (call.name, call.input) == ("look_up", {"word": 'größe "x" 漢字'}), called
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "four-fifteen"}
    messages += [{"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    got = claude.messages.create(**CLAUDE, tools=tools, messages=messages)
    assert got.content[0].text == "At a quarter past four. 漢字", got
    first, second = compare(2, True)
    assert re.findall(REMINDER, first) == re.findall(REMINDER, second), "the same bytes again"


def anthropic_memory_tool():
    """The vault answers in the client's place; with memory off the call is the client's."""
    asked = {**CLAUDE, "system": "python memory tool", "betas": ["context-management-2025-06-27"]}
    asked["tools"] = [{"type": "memory_20250818", "name": "memory"}]
    messages = [{"role": "user", "content": f"look into your notes: {QUESTION}"}]
    with claude.beta.messages.stream(**asked, messages=messages) as stream:
        got = stream.get_final_message()
    if MEMORY == "off":
        assert [block.type for block in got.content] == ["text", "tool_use"] and got.stop_reason == "tool_use", got
        compare(1, False)
        return
    assert [block.text for block in got.content] == ["Let me look.", "I looked: 漢字 16:15"], got
    assert got.stop_reason == "end_turn", got
    messages += [{"role": "assistant", "content": got.content}, {"role": "user", "content": "thanks"}]
    assert claude.beta.messages.create(**asked, messages=messages).content[0].text == ANSWER
    before, behind = map(seen, SEEN)
    assert (len(before), len(behind)) == (2, 3), (len(before), len(behind))
    bodies = [json.loads(bytes.fromhex(side["body"])) for side in behind]
    roles = [[message["role"] for message in body["messages"]] for body in bodies]
    assert roles[1] == ["user", "assistant", "user"] and roles[2] == ["user", "assistant", "user", "assistant", "user"], roles
    assert FACT in bodies[1]["messages"][2]["content"][0]["content"], bodies[1]
    assert bodies[2]["messages"][:3] == bodies[1]["messages"], "the model goes on from what it had"


def anthropic_counted():
    got = claude.messages.count_tokens(model="claude-opus-5-5", messages=[{"role": "user", "content": QUESTION}])
    assert got.input_tokens > 0, got
    compare(1, False)


def anthropic_refused():
    try:
        claude.messages.create(**CLAUDE, system="python refused", messages=[{"role": "user", "content": f"refuse this: {QUESTION}"}])
    except anthropic.BadRequestError as error:
        assert error.body["error"]["message"] == REFUSED, error.body
    else:
        raise AssertionError("it was not refused")
    compare(1, True)


def anthropic_tried_again():
    patient = claude.with_options(max_retries=2)
    asked = [{"role": "user", "content": f"busy python anthropic: {QUESTION}"}]
    got = patient.messages.create(**CLAUDE, system="python busy", messages=asked)
    assert got.content[0].text == ANSWER, got
    first, second = compare(2, True)
    assert first == second, "a prompt that is tried again is the same prompt"


def openai_chat_whole():
    said = [{"role": "system", "content": "python chat whole"}, {"role": "user", "content": QUESTION}]
    got = gpt.chat.completions.create(model="m", messages=said)
    assert got.choices[0].message.content == ANSWER, got
    compare(1, True)


def openai_chat_streamed():
    said = [{"role": "developer", "content": "python chat streamed"}, {"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    stream = gpt.chat.completions.create(model="m", messages=said, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == ANSWER
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 9000, chunks[-1]
    compare(1, True)


def openai_chat_tool():
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": LOOK_UP}}]
    said = [{"role": "system", "content": "python chat tool"}, {"role": "user", "content": f"use the tool: {QUESTION}"}]
    message = gpt.chat.completions.create(model="m", messages=said, tools=tools).choices[0].message
    call = message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"word": 'größe "x" 漢字'}, call
    said += [message, {"role": "tool", "tool_call_id": call.id, "content": "four-fifteen"}]
    got = gpt.chat.completions.create(model="m", messages=said, tools=tools)
    assert got.choices[0].message.content == "At a quarter past four. 漢字", got
    first, second = compare(2, True)
    assert re.findall(REMINDER, first) == re.findall(REMINDER, second), "the same bytes again"


def openai_chat_in_a_form():
    said = [{"role": "system", "content": "python form: JSON"}, {"role": "user", "content": QUESTION}]
    gpt.chat.completions.create(model="m", messages=said, response_format={"type": "json_object"})
    compare(1, False)


def openai_responses_whole():
    got = gpt.responses.create(model="m", instructions="python responses whole", input=QUESTION)
    assert got.output_text == ANSWER, got
    compare(1, True)


def openai_responses_streamed():
    said = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}]
    stream = gpt.responses.create(model="m", instructions="python responses streamed", input=said, stream=True)
    events = list(stream)
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == ANSWER
    assert events[-1].type == "response.completed" and events[-1].response.output_text == ANSWER, events[-1]
    compare(1, True)


def openai_responses_tool():
    tools = [{"type": "function", "name": "look_up", "parameters": LOOK_UP, "strict": False}]
    said = [{"role": "user", "content": f"use the tool: {QUESTION}"}]
    got = gpt.responses.create(model="m", instructions="python responses tool", input=said, tools=tools)
    call = got.output[0]
    assert json.loads(call.arguments) == {"word": 'größe "x" 漢字'}, call
    said += [item.to_dict() for item in got.output]
    said.append({"type": "function_call_output", "call_id": call.call_id, "output": "four-fifteen"})
    got = gpt.responses.create(model="m", instructions="python responses tool", input=said, tools=tools)
    assert got.output_text == "At a quarter past four. 漢字", got
    first, second = compare(2, True)
    assert re.findall(REMINDER, first) == re.findall(REMINDER, second), "the same bytes again"


def openai_refused():
    try:
        gpt.responses.create(model="m", instructions="python responses refused", input=f"refuse this: {QUESTION}")
    except openai.BadRequestError as error:
        assert error.body["message"] == REFUSED, error.body
    else:
        raise AssertionError("it was not refused")
    compare(1, True)


def openai_tried_again():
    said = [{"role": "system", "content": "python chat busy"}, {"role": "user", "content": f"busy python openai: {QUESTION}"}]
    got = gpt.with_options(max_retries=2).chat.completions.create(model="m", messages=said)
    assert got.choices[0].message.content == ANSWER, got
    first, second = compare(2, True)
    assert first == second, "a prompt that is tried again is the same prompt"


def openai_models():
    assert list(gpt.models.list()) == []
    compare(1, False)


CHECKS = [
    anthropic_whole, anthropic_streamed, anthropic_tool, anthropic_memory_tool, anthropic_counted, anthropic_refused,
    anthropic_tried_again,
    openai_chat_whole, openai_chat_streamed, openai_chat_tool, openai_chat_in_a_form,
    openai_responses_whole, openai_responses_streamed, openai_responses_tool,
    openai_refused, openai_tried_again, openai_models,
]


def main():
    n_failed = 0
    for check in CHECKS:
        try:
            check()
        except Exception:
            n_failed += 1
            print(f"BAD: python, memory {MEMORY}, {check.__name__}", file=sys.stderr)
            traceback.print_exc()
            # What a failed check left does not belong to the next.
            list(map(seen, SEEN))
    print(f"{len(CHECKS) - n_failed} {n_failed}")


main()

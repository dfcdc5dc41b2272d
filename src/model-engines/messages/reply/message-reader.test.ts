import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { ToolNames } from "../../context/tool-names.ts";
import { transcript } from "../../model-server/reply/transcript.fixture.ts";
import {
  block,
  callBlock,
  ended,
  type Frames,
  frames,
  STARTED,
  STOPPED,
  textBlock,
  thoughtBlock,
} from "../message-frames.fixture.ts";
import { MessageReader } from "./message-reader.ts";
import { MessageStream } from "./message-stream.ts";

verifies("messages-engine.stream.is-read");

function namesOf(): ToolNames {
  const names = new ToolNames();
  names.add({ kind: "function", name: "look", namespace: null });
  names.add({ kind: "custom", name: "run", namespace: null });
  names.add({ kind: "hosted", name: "find", namespace: "sea" });
  names.add({ kind: "tool_search", name: "tool_search", namespace: null });
  return names;
}

interface Reading {
  readonly events: readonly ModelEvent[];
  readonly warnings: readonly string[];
}

/** Reads a stream that is cut into pieces of this many bytes. */
function read(text: string, pieceBytes = Number.POSITIVE_INFINITY): Reading {
  const warnings: string[] = [];
  const reader = new MessageReader({ toolNames: namesOf(), onWarning: (warning) => void warnings.push(warning) });
  const stream = new MessageStream(
    reader,
    (error) => new ModelError(JSON.stringify(error), { status: 500, type: "x" }),
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) stream.feed(bytes.subarray(at, at + pieceBytes));
  stream.end();
  return { events: stream.take(), warnings };
}

function check(expected: string, ...events: Frames): void {
  expect(transcript(read(frames(STARTED, ...events, STOPPED)).events)).toBe(`model m | ${expected}`);
}

const USAGE = "usage 3/0/0 2/0";

describe("a message", () => {
  test("has texts, whose blocks are one message", () =>
    check(
      `Hé\u{1F600}. So. | ${USAGE} | stop`,
      textBlock(0, "Hé", "\u{1F600}."),
      textBlock(1, " So."),
      ended("end_turn"),
    ));
  test("is read alike wherever its bytes are split", () => {
    const text = frames(
      STARTED,
      { type: "ping" },
      thoughtBlock(0, "Hé", "sig"),
      textBlock(1, "\u{1F600}"),
      callBlock(2, "look", '{"a":', '"é"}'),
      ended("tool_use"),
      STOPPED,
    );
    const whole = transcript(read(text).events);
    expect(whole).toBe(
      'model m | think: Hé | seal: {"signature":"sig"} | message_finished | \u{1F600} | look#toolu_2({"a":"é"}) | ' +
        `${USAGE} | stop`,
    );
    for (const size of [1, 2, 3, 7, 64]) expect(transcript(read(text, size).events)).toBe(whole);
    expect(transcript(read(text.replaceAll("\n", "\r\n")).events)).toBe(whole);
  });
  test("that is not streamed gives the same", () => {
    const reader = new MessageReader({ toolNames: namesOf(), onWarning: () => {} });
    const stream = new MessageStream(reader, () => new ModelError("x", { status: 500, type: "x" }));
    const content = [
      { type: "thinking", thinking: "Hm", signature: "sig" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "toolu_1", name: "look", input: { a: 1 } },
    ];
    const usage = { input_tokens: 3, output_tokens: 2 };
    stream.readWhole({ id: "msg_1", model: "m", content, usage, stop_reason: "tool_use" });
    expect(transcript(stream.take())).toBe(
      'model m | think: Hm | seal: {"signature":"sig"} | message_finished | seal: {"data":"d"} | message_finished | ' +
        `Hi | look#toolu_1({"a":1}) | ${USAGE} | stop`,
    );
  });
  test("names its id", () =>
    expect(read(frames(STARTED, ended("end_turn"), STOPPED)).events[0]).toEqual({
      type: "model_resolved",
      model: "m",
      answerId: "msg_1",
    }));
});

describe("thinking", () => {
  test("has the last of its signatures", () =>
    check(
      `think: Hm | seal: {"signature":"two"} | message_finished | ${USAGE} | stop`,
      thoughtBlock(0, "Hm", "one", "two"),
      ended("end_turn"),
    ));
  test("may have no text, or no signature", () =>
    check(
      `seal: {"signature":"s"} | message_finished | think: Hm | message_finished | ${USAGE} | stop`,
      thoughtBlock(0, "", "s"),
      thoughtBlock(1, "Hm"),
      ended("end_turn"),
    ));
});

describe("calls", () => {
  test("come one after the other, with their servers", () =>
    check(
      `look#toolu_0({"a":1}) | @sea.find#toolu_1({}) | ${USAGE} | stop`,
      callBlock(0, "look", "", '{"a"', ":1}"),
      callBlock(1, "sea__find"),
      ended("tool_use"),
    ));
  test("of custom tools have their input", () =>
    check(
      `~run#toolu_0(ls "x") | ${USAGE} | stop`,
      callBlock(0, "run", '{"inp', 'ut":"ls \\"', 'x\\""}'),
      ended("tool_use"),
    ));
  test("of the client's tool search are one event", () =>
    check(
      `search#toolu_0({"q":"x"}) | ${USAGE} | stop`,
      callBlock(0, "tool_search", '{"q":', '"x"}'),
      ended("tool_use"),
    ));
  test("that the limit of tokens cuts are cut", () => {
    check(`look#toolu_0({"a":… cut) | ${USAGE} | length`, callBlock(0, "look", '{"a":'), ended("max_tokens"));
    check(`look#toolu_0({"a":1}) | ${USAGE} | length`, callBlock(0, "look", '{"a":1}'), ended("max_tokens"));
  });
});

describe("ends", () => {
  test.each([
    ["end_turn", "stop"],
    ["tool_use", "stop"],
    ["a_new_reason", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
  ])("%s", (reason, finish) => check(`Hi | ${USAGE} | ${finish}`, textBlock(0, "Hi"), ended(reason)));
  test("at a stop sequence tell which", () =>
    check(`Hi | stops at END | ${USAGE} | stop`, textBlock(0, "Hi"), ended("stop_sequence", { stop_sequence: "END" })));
  test("by a refusal tell why", () => {
    check(`Hi | ${USAGE} | content_filter`, textBlock(0, "Hi"), ended("refusal", { stop_details: null }));
    check(
      `Hi | refuse: No. | ${USAGE} | content_filter`,
      textBlock(0, "Hi"),
      ended("refusal", { stop_details: { type: "refusal", explanation: "No." } }),
    );
  });
  test("by a pause are told as a warning", () => {
    const { events, warnings } = read(frames(STARTED, textBlock(0, "Hi"), ended("pause_turn"), STOPPED));
    expect(transcript(events)).toBe(`model m | Hi | ${USAGE} | stop`);
    expect(warnings).toEqual([expect.stringContaining("pause_turn")]);
  });
});

test("tokens from the cache count among those of the input", () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 30,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 4 },
  };
  check("Hi | usage 240/200/30 7/4 | stop", textBlock(0, "Hi"), ended("end_turn", {}, usage));
  const partly = { output_tokens: 7, input_tokens: null, cache_read_input_tokens: null };
  check("Hi | usage 3/0/0 7/0 | stop", textBlock(0, "Hi"), ended("end_turn", {}, partly));
});

test("citations of web pages are annotations of the text that they stand behind", () => {
  const cited = { type: "web_search_result_location", url: "https://sea.test/", title: "Sea", cited_text: "x" };
  const { events } = read(
    frames(
      STARTED,
      textBlock(0, "So: "),
      block(
        1,
        { type: "text", text: "" },
        { type: "citations_delta", citation: { type: "char_location", cited_text: "y" } },
        { type: "citations_delta", citation: cited },
        { type: "text_delta", text: "high." },
      ),
      ended("end_turn"),
      STOPPED,
    ),
  );
  expect(events.filter(({ type }) => type === "annotation")).toEqual([
    {
      type: "annotation",
      annotation: { type: "url_citation", start_index: 4, end_index: 9, title: "Sea", url: "https://sea.test/" },
    },
  ]);
});

test("blocks of tools that were not asked for are left out with a warning", () => {
  const server = block(
    0,
    { type: "server_tool_use", id: "s", name: "web_search", input: {} },
    {
      type: "input_json_delta",
      partial_json: "{}",
    },
  );
  const { events, warnings } = read(frames(STARTED, server, textBlock(1, "Hi"), ended("end_turn"), STOPPED));
  expect(transcript(events)).toBe(`model m | Hi | ${USAGE} | stop`);
  expect(warnings).toEqual([expect.stringContaining("server_tool_use")]);
});

describe("a broken stream fails", () => {
  test.each<[string, string, string]>([
    ["without an end", frames(STARTED, textBlock(0, "Hi")), "broke off"],
    ["with a piece of no block", frames(STARTED, { type: "content_block_delta", index: 0, delta: {} }), "not open"],
    [
      "with a piece of another block",
      frames(
        STARTED,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "x" } },
      ),
      "not open",
    ],
    ["with a call without a name", frames(STARTED, block(0, { type: "tool_use", id: "a" })), "without saying which"],
    ["with data that is no object", "data: oops\n\n", "no event of a message"],
    ["with an error", frames(STARTED, { type: "error", error: { message: "Overloaded" } }), "Overloaded"],
  ])("%s", (_name, text, message) => expect(() => read(text)).toThrow(message));
  test("but not if only its last event is missing", () =>
    expect(transcript(read(frames(STARTED, textBlock(0, "Hi"), ended("end_turn"))).events)).toBe(
      `model m | Hi | ${USAGE} | stop`,
    ));
});

import type { DialectStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { validateDialectStreamEvent } from "@antiphon/contracts/responses-api/validators.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkCreate, MODEL, wrongValue } from "./check-refusal.ts";
import { readResponse, readStream } from "./read-stream.ts";

const SCENARIO = JSON.stringify({
  scenarios: [
    {
      when: { input_contains: "everything" },
      events: [
        { reasoning_summary: ["Hm", "So"] },
        { text: { chunks: ["Hel", "lo"] } },
        { refusal: "No" },
        { call: { name: "f", call_id: "call_1", arguments: { a: 1 }, chunks: 2 } },
        { custom_call: { name: "c", call_id: "call_2", input: "free", chunks: 2 } },
      ],
    },
    {
      when: { input_contains: "broken" },
      events: [
        { text: "So" },
        { error: { status: 500, type: "server_error", code: "server_error", message: "It broke." } },
      ],
    },
  ],
});
const TOOLS = [
  { type: "function", name: "f", strict: false, parameters: {} },
  { type: "custom", name: "c" },
];

/** Events of the reference that have other names in the extension dialect. */
const RENAMED: Readonly<Record<string, string>> = {
  "response.function_call_arguments.delta": "response.tool_call.delta",
  "response.function_call_arguments.done": "response.tool_call.done",
  "response.custom_tool_call_input.delta": "response.tool_call.delta",
  "response.custom_tool_call_input.done": "response.tool_call.done",
  error: "response.error",
};

/** Members that the reference would refuse; each makes a request use the extension dialect. */
const EXTENSIONS: Readonly<Record<string, object>> = {
  "stream_options.obfuscation": { stream_options: { obfuscation: true } },
  "stream_options.channels": {
    stream_options: { channels: ["output_text", "output_audio", "tool_call", "refusal", "reasoning"] },
  },
  "an array of instructions": { instructions: [{ type: "input_text", text: "Be brief." }] },
  "reasoning.enable_chain_of_thought": { reasoning: { enable_chain_of_thought: true } },
  "an input_text in input": { input: [{ type: "input_text", text: "everything" }] },
};

const CHANNELS: Readonly<Record<string, RegExp>> = {
  output_text: /^response\.output_text\./,
  tool_call: /^response\.tool_call\./,
  refusal: /^response\.refusal\./,
  reasoning: /^response\.reasoning_summary_text\./,
  output_audio: /^response\.output_audio\./,
};
const LIFECYCLE =
  /^response\.(created|in_progress|completed|output_item\.\w+|content_part\.\w+|reasoning_summary_part\.\w+)$/;

describe("the extension dialect", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const ask = (members: object): Promise<Response> =>
    server.post("/v1/responses", { model: MODEL, input: "everything", tools: TOOLS, stream: true, ...members });

  const read = async (members: object): Promise<DialectStreamEvent[]> => {
    const reply = await ask(members);
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    const names = text
      .split("\n")
      .flatMap((line) => (line.startsWith("event: ") ? [line.slice("event: ".length)] : []));
    const events = dataLines(text).map((line) => {
      const event: unknown = JSON.parse(line);
      if (!validateDialectStreamEvent(event)) throw new Error(`not an event of the dialect: ${line}`);
      return event;
    });
    expect(events.map(({ type }) => type)).toEqual(names);
    return events;
  };

  verifies("dialect.scope.extension-request-opts-in", "dialect.map.tool-call-events", "dialect.map.rest-unchanged");
  verifies(
    "dialect.map.numbers-and-payload-stay",
    "dialect.channels.absent-means-all",
    "extensions.streaming.obfuscation-alias",
  );
  test.each(Object.entries(EXTENSIONS))(
    "is spoken to a request that uses %s, and only renames",
    async (_title, members) => {
      const canonical = await readStream(await ask({}));
      const events = await read(members);
      expect(events.map(({ type }) => type)).toEqual(canonical.events.map(({ type }) => RENAMED[type] ?? type));
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
      for (const [index, event] of events.entries()) {
        expect(Object.keys(event).toSorted()).toEqual(Object.keys(canonical.events[index] ?? {}).toSorted());
        if ("delta" in event) expect(canonical.events[index]).toMatchObject({ delta: event.delta });
      }
    },
  );

  test("is never used for a request that the reference would accept", async () => {
    verifies("dialect.scope.reference-request-gets-reference");
    const plain = {
      store: true,
      stream_options: { include_obfuscation: true },
      instructions: "Be brief.",
      reasoning: { summary: "auto" },
    };
    for (const members of [{}, plain]) {
      const types = (await readStream(await ask(members))).events.map(({ type }) => type);
      expect(types).toContain("response.function_call_arguments.delta");
      expect(
        types.filter((type) => /tool_call\.|output_audio|response\.error/.test(type) && !/custom/.test(type)),
      ).toEqual([]);
    }
  });

  test("makes the error flat and still ends in response.failed", async () => {
    verifies("dialect.map.flat-error-event");
    const events = await read({ input: "broken", stream_options: { obfuscation: false } });
    const error = events.at(-2);
    const number = events.length - 2;
    expect(error).toEqual({
      type: "response.error",
      sequence_number: number,
      code: "server_error",
      message: "It broke.",
      param: null,
    });
    expect(events.at(-1)).toMatchObject({ type: "response.failed", sequence_number: number + 1 });
  });

  verifies("dialect.channels.select-families", "dialect.channels.skipped-numbers-not-reused");
  test.each(Object.entries(CHANNELS))(
    "carries of the families only %s where that channel is chosen",
    async (channel, family) => {
      const all = await read({ stream_options: { obfuscation: true } });
      const chosen = await read({ stream_options: { channels: [channel] } });
      const kept = all.filter(({ type }) => LIFECYCLE.test(type) || family.test(type));
      expect(chosen.map(({ type, sequence_number }) => [sequence_number, type])).toEqual(
        kept.map(({ type, sequence_number }) => [sequence_number, type]),
      );
    },
  );

  test("has only the events of the whole run if no channel is chosen", async () => {
    const chosen = await read({ stream_options: { channels: [] } });
    for (const { type } of chosen) expect(type).toMatch(LIFECYCLE);
  });

  test("has five channels", async () => {
    verifies("dialect.channels.unknown-name-is-400");
    const supported = "'output_text', 'output_audio', 'tool_call', 'refusal', and 'reasoning'";
    await checkCreate(
      server,
      { stream_options: { channels: ["video"] } },
      wrongValue("stream_options.channels[0]", "video", supported),
    );
  });

  test("pads unless obfuscation is off", async () => {
    const isPadded = async (obfuscation: boolean): Promise<boolean> =>
      (await read({ stream_options: { obfuscation } })).some((event) => "obfuscation" in event);
    expect(await isPadded(true)).toBe(true);
    expect(await isPadded(false)).toBe(false);
  });

  test("leaves plain bodies unchanged", async () => {
    const members = { model: MODEL, input: "everything", tools: TOOLS };
    const plain = await readResponse(await server.post("/v1/responses", members));
    const extended = await readResponse(
      await server.post("/v1/responses", { ...members, stream_options: { obfuscation: true } }),
    );
    expect(Object.keys(extended)).toEqual(Object.keys(plain));
    expect(extended.output.map(({ type }) => type)).toEqual(plain.output.map(({ type }) => type));
  });
});

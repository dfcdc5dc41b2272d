import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";

const MODEL = "antiphon-built-in";
const DEPTH = 10_000;
/** Shallow enough to reach the code behind the parser. */
const DEPTH_TAKEN = 480;
const ELEMENTS = 100_000;
const CHARACTERS = 1_000_000;

/** How long another client may wait while the server handles such a body, in milliseconds. */
const STALL_MS_MAX = 8_000;

const HOLE = '"HOLE"';
const MESSAGE = { role: "user", content: "Say hello" };
const CALL = { type: "function_call", call_id: "call_1", name: "f" };
const OUTPUT = { type: "function_call_output", call_id: "call_1" };
const FUNCTION = { type: "function", name: "f", parameters: null, strict: false };
const FORMAT = { type: "json_schema", name: "s", schema: {}, strict: false };

/** Bodies with a hole that any value can fill. */
const PLACES: Readonly<Record<string, string>> = {
  "the body itself": HOLE,
  input: withHole({ input: "HOLE" }),
  "an element of input": withHole({ input: ["HOLE"] }),
  "the content of a message": withHole({ input: [{ ...MESSAGE, content: "HOLE" }] }),
  "an unknown member": withHole({ zzz: "HOLE" }),
  metadata: withHole({ metadata: "HOLE" }),
  "a value of metadata": withHole({ metadata: { k: "HOLE" } }),
  "the parameters of a function": withHole({ tools: [{ ...FUNCTION, parameters: "HOLE" }] }),
  "the parameters of a strict function": withHole({ tools: [{ ...FUNCTION, strict: true, parameters: "HOLE" }] }),
  "the schema of the answer": withHole({ text: { format: { ...FORMAT, schema: "HOLE" } } }),
  "the strict schema of the answer": withHole({ text: { format: { ...FORMAT, strict: true, schema: "HOLE" } } }),
  "the output of a tool": withHole({
    input: [MESSAGE, { ...CALL, arguments: "{}" }, { type: "tool_result", call_id: "call_1", output: "HOLE" }],
  }),
  "the arguments of a tool search": withHole({ input: [MESSAGE, { type: "tool_search_call", arguments: "HOLE" }] }),
  "a choice of tools": withHole({ tool_choice: { type: "allowed_tools", mode: "auto", tools: ["HOLE"] } }),
  "the variables of a prompt": withHole({ prompt: { id: "pmpt_x", variables: "HOLE" } }),
};

/** Values that nest: each contains itself in the place of HOLE. */
const NESTS: Readonly<Record<string, string>> = {
  arrays: `[${HOLE}]`,
  objects: `{"a":${HOLE}}`,
  "schemas of arrays": `{"type":"array","items":${HOLE}}`,
  "schemas of objects": `{"type":"object","properties":{"a":${HOLE}},"required":["a"],"additionalProperties":false}`,
  "schemas of choices": `{"anyOf":[${HOLE},{"type":"null"}]}`,
};

const LONG: Readonly<Record<string, unknown>> = {
  "100,000 messages": { input: repeat(MESSAGE) },
  "100,000 elements of no kind": { input: repeat({}) },
  "100,000 parts of a message": { input: [{ role: "user", content: repeat({ type: "input_text", text: "x" }) }] },
  "100,000 calls without output": { input: repeat({ ...CALL, arguments: "{}" }) },
  "100,000 references": { input: repeat({ type: "item_reference", id: "msg_x" }) },
  "100,000 tools": { tools: repeat(FUNCTION) },
  "100,000 things to include": { include: repeat("reasoning.encrypted_content") },
  "100,000 unknown members": Object.fromEntries(Array.from({ length: ELEMENTS }, (_, index) => [`k${index}`, index])),
  "100,000 pairs of metadata": {
    metadata: Object.fromEntries(Array.from({ length: ELEMENTS }, (_, index) => [`k${index}`, "v"])),
  },
  "100,000 properties of a schema": { text: { format: { ...FORMAT, schema: manyProperties() } } },
  "100,000 choices of a schema": { text: { format: { ...FORMAT, schema: { anyOf: repeat({ type: "string" }) } } } },
  "a name of a model of 1 M characters": { model: text() },
  "an input of 1 M characters": { input: text() },
  "an input of 1 M halves of pairs": { input: "\ud800".repeat(CHARACTERS) },
  "an input of 1 M digits": { input: `What is ${"9".repeat(CHARACTERS)} + 1?` },
  "instructions of 1 M characters": { instructions: text() },
  "a key of 1 M characters": { metadata: { [text()]: "v" } },
  "a value of 1 M characters": { metadata: { k: text() } },
  "an unknown member of 1 M characters": { [text()]: 1 },
  "an id of 1 M characters": { previous_response_id: `resp_${text()}` },
  "a name of a function of 1 M characters": { tools: [{ ...FUNCTION, name: text() }] },
  "a description of 1 M characters": { tools: [{ ...FUNCTION, description: text() }] },
  "a pattern of 1 M characters": { text: { format: { ...FORMAT, schema: { type: "string", pattern: text() } } } },
  "an image of 1 M characters": {
    input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${text()}` }] }],
  },
  "arguments 10,000 deep": {
    input: [MESSAGE, { ...CALL, arguments: nested("arrays", DEPTH) }, { ...OUTPUT, output: "x" }],
  },
  "an output 10,000 deep": {
    input: [MESSAGE, { ...CALL, arguments: "{}" }, { ...OUTPUT, output: nested("objects", DEPTH) }],
  },
  "an input 10,000 deep": { input: nested("arrays", DEPTH) },
};

describe("a body that is deep or long", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  /**
   * Sends a body. Fails if another client waits for too long meanwhile, or if the reply is neither an answer nor an
   * error of the caller.
   */
  async function check(body: string, title: string): Promise<Response> {
    const waits = watchHealth(server);
    try {
      const reply = await server.fetch("/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      const copy = reply.clone();
      if (reply.status === 200) expect(await copy.text(), title).toMatch(/"status": "(?:completed|incomplete)"/);
      else expect([400, 404], title).toContain((await errorOf(copy)).status);
      return reply;
    } finally {
      expect(await waits.stop(), title).toBeLessThan(STALL_MS_MAX);
    }
  }

  test.each(Object.keys(PLACES))("gets 400 for 10,000 levels of nesting in %s", async (place) => {
    verifies("transport.faults.no-request-ends-the-process");
    for (const nest of Object.keys(NESTS)) {
      const reply = await check(fill(PLACES[place] ?? "", nested(nest, DEPTH)), nest);
      expect(await errorOf(reply), nest).toMatchObject({ status: 400, code: "invalid_json" });
    }
  });

  test.each(Object.keys(PLACES))("is answered or refused for 480 levels of nesting in %s", async (place) => {
    for (const nest of Object.keys(NESTS))
      await check(
        fill(PLACES[place] ?? "", nested(nest, nest.startsWith("schemas") ? DEPTH_TAKEN / 2 : DEPTH_TAKEN)),
        nest,
      );
  });

  test.each(Object.keys(LONG))("is answered or refused with %s", async (name) => {
    verifies("transport.faults.no-request-ends-the-process");
    const body = LONG[name];
    await check(JSON.stringify({ model: MODEL, input: "Say hello", ...(typeof body === "object" ? body : {}) }), name);
  });

  test("gets 400 for brackets that never close", async () => {
    for (const bracket of ["[", "{", '{"a":', "[{", '["']) {
      expect(await errorOf(await check(bracket.repeat(CHARACTERS), bracket))).toMatchObject({ code: "invalid_json" });
    }
  });
});

function withHole(members: object): string {
  return JSON.stringify({ model: MODEL, input: "Say hello", ...members });
}

function fill(body: string, value: string): string {
  return body.replace(HOLE, () => value);
}

function nested(nest: string, depth: number): string {
  const [before = "", after = ""] = (NESTS[nest] ?? "").split(HOLE);
  return before.repeat(depth) + "{}" + after.repeat(depth);
}

function repeat<T>(element: T): readonly T[] {
  return Array.from({ length: ELEMENTS }, () => element);
}

function text(): string {
  return "x".repeat(CHARACTERS);
}

function manyProperties(): object {
  return {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: ELEMENTS }, (_, index) => [`k${index}`, { type: "string" }])),
  };
}

/** Calls the health check again and again; returns the longest wait in milliseconds. */
function watchHealth(server: TestServer): { stop(): Promise<number> } {
  let watching = true;
  let longest = 0;
  const watch = async (): Promise<number> => {
    while (watching) {
      const askedAt = performance.now();
      await (await fetch(`${server.url}/healthz`)).text();
      longest = Math.max(longest, performance.now() - askedAt);
    }
    return longest;
  };
  const watched = watch();
  return {
    stop: () => {
      watching = false;
      return watched;
    },
  };
}

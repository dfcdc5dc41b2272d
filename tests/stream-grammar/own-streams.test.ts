import { misjudgedMutations } from "@antiphon/stream-grammar/check-mutations.fixture.ts";
import { type Dialect, lintText } from "@antiphon/stream-grammar/index.ts";
import type { SampleEvent } from "@antiphon/stream-grammar/sample-streams.fixture.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { serveVoice } from "../voices/serve-voice.ts";

const MODEL = "antiphon-built-in";

/** What the model says, as in scenario files, and further members of the request. */
interface Kind {
  readonly says: readonly object[];
  readonly members?: object;
}

const two = { chunks: ["Hel", "lo"] };
const cite = { type: "url_citation", start_index: 0, end_index: 3, url: "https://example.com/a", title: "A" };
const BROKE = { error: { status: 500, type: "server_error", code: "server_error", message: "Broke." } };
const f = { type: "function", name: "f", strict: false, parameters: { type: "object", properties: {} } };
const withTools = { tools: [f, { type: "custom", name: "c" }] };
const call = (id: string): object => ({ call: { name: "f", call_id: id, arguments: { a: id }, chunks: 3 } });

const KINDS: Readonly<Record<string, Kind>> = {
  "a text": { says: [{ text: two }] },
  "a text without a word": { says: [{ message: {} }, { finish: "stop" }] },
  "a text with citations": { says: [{ text: two }, { annotation: cite }, { text: two }, { annotation: cite }] },
  "a refusal": { says: [{ refusal: { chunks: ["I can", "not."] } }] },
  "a text and a refusal": { says: [{ text: two }, { refusal: { chunks: ["No."] } }] },
  "commentary and answer": {
    says: [{ message: { phase: "commentary" } }, { text: two }, { message: { phase: "final_answer" } }, { text: two }],
  },
  "reasoning with a summary": {
    says: [{ reasoning_summary: ["First thought", "Second thought"] }, { text: two }],
    members: { reasoning: { summary: "detailed" }, include: ["reasoning.encrypted_content"] },
  },
  "open reasoning": { says: [{ reasoning: { chunks: ["Hm", "m"] } }, { text: two }] },
  "a function call": { says: [call("1")], members: withTools },
  "parallel calls": { says: [call("1"), call("2"), call("3")], members: withTools },
  "a call without arguments": { says: [{ call: { name: "f", arguments: {} } }], members: withTools },
  "a custom tool call": { says: [{ custom_call: { name: "c", input: "print(1)", chunks: 2 } }], members: withTools },
  "an incomplete text": { says: [{ text: two }, { finish: "length" }] },
  "an incomplete call": { says: [call("1"), { finish: "length" }], members: withTools },
  "a failure in mid-text": { says: [{ text: two }, BROKE] },
  "a failure before the first word": { says: [BROKE] },
  "an answer that breaks off": { says: [{ text: two }, { finish: "none" }] },
  "a response of the background": { says: [{ text: two }], members: { background: true } },
  "a failure in the background": { says: [BROKE], members: { background: true } },
  "an answer that is compacted": {
    says: [{ text: two }],
    members: {
      context_management: [{ type: "compaction", compact_threshold: 1000 }],
      instructions: "word ".repeat(1100),
    },
  },
};

const SCENARIO = JSON.stringify({
  scenarios: Object.entries(KINDS).map(([kind, { says }]) => ({ when: { input_contains: `<${kind}>` }, events: says })),
});

describe("our stream of", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const create = async (kind: string, members: object = {}): Promise<string> => {
    const body = { model: MODEL, input: `<${kind}>`, stream: true, ...KINDS[kind]?.members, ...members };
    const reply = await server.post("/v1/responses", body);
    expect(reply.status).toBe(200);
    return await reply.text();
  };

  test.each(Object.keys(KINDS))(
    "%s follows the grammar, and each mutation of it breaks the rule that is named",
    async (kind) => {
      verifies("contract.parity.stream-grammar");
      const text = await create(kind);
      expectLegal(text);
      const { tried, misjudged } = misjudgedMutations(eventsOf(text));
      expect(misjudged).toEqual([]);
      expect(tried).toBeGreaterThan(25);
    },
  );

  test("a replayed response follows the grammar", async () => {
    const first = await create("a response of the background");
    const [report] = lintText(first);
    const again = await server.fetch(`/v1/responses/${report?.responseId}?stream=true`);
    expectLegal(await again.text());
  });

  test.each(["a function call", "a custom tool call", "a failure in mid-text"])(
    "%s follows it under the names of the extension dialect",
    async (kind) => {
      const text = await create(kind, { stream_options: { obfuscation: false } });
      expectLegal(text, "extension");
      expect(lintText(text)[0]?.faults[0]?.rule).toBe("known-type");
    },
  );
});

test("a spoken answer follows the grammar under the names of the extension dialect", async () => {
  const voice = await serveVoice();
  const server = await startTestServer({ env: voice.env });
  const reply = await server.post("/v1/responses", {
    model: MODEL,
    input: "Say hello",
    stream: true,
    output_audio: {},
  });
  const text = await reply.text();
  expect(text).toContain("response.output_audio.delta");
  expectLegal(text, "extension");
});

test("a cancelled response follows the grammar", async () => {
  const says = [{ text: two }, { delay_ms: 600_000 }, { text: two }];
  const server = await startTestServer({ scenario: JSON.stringify({ scenarios: [{ events: says }] }) });
  const reply = await server.post("/v1/responses", { model: MODEL, input: "x", stream: true, background: true });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of reply.body ?? []) {
    const isFirstDelta = !text.includes(".delta");
    text += decoder.decode(chunk, { stream: true });
    const id = /"id":"(resp_\w+)"/.exec(text)?.[1] ?? "";
    if (isFirstDelta && text.includes(".delta")) await server.post(`/v1/responses/${id}/cancel`, {});
  }
  expect(text).toContain('"status":"cancelled"');
  expectLegal(text);
});

function expectLegal(text: string, dialect: Dialect = "reference"): void {
  const reports = lintText(text, dialect);
  expect(reports.map(({ faults }) => faults)).toEqual([[]]);
}

function eventsOf(text: string): readonly SampleEvent[] {
  return dataLines(text).map((line): SampleEvent => JSON.parse(line));
}

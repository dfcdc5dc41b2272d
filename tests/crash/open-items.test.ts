import { expect, test } from "vitest";
import { Antiphon } from "../../src/client/index.ts";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import type { ChildServer } from "../child-server.ts";
import { delta, toolDelta } from "../responses/behind-upstream.ts";
import { type ReadStream, readStream } from "../responses/read-stream.ts";
import { someCases } from "../some-cases.ts";
import { verifies } from "../verifies.ts";
import { dataFolder, start } from "./lives.ts";

const TEST_TIMEOUT_MS = 60_000;

const THINKS = [delta({ reasoning_content: "So it " }), delta({ reasoning_content: "is. " })];
const SAYS = [textChunk("Well "), textChunk("done"), textChunk(", all of it.")];
const CALLS = [
  toolDelta(0, { id: "call_a", type: "function", function: { name: "look", arguments: "" } }),
  toolDelta(0, { function: { arguments: '{"at":' } }),
  toolDelta(0, { function: { arguments: '"sea"}' } }),
];
const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];

interface Moment {
  /** All that the model says, and how much of it before the server is killed. */
  readonly says: readonly unknown[];
  readonly until: number;
  /** The event after which the server is killed. */
  readonly seen: string;
  readonly output: readonly object[];
  readonly notes: readonly string[];
}

const WHOLE_MESSAGE = { type: "message", status: "completed", content: [{ text: "Well done, all of it." }] };
const WHOLE_CALL = { type: "function_call", status: "completed", arguments: '{"at":"sea"}', call_id: "call_a" };
const [CONTINUED, NONE] = [["interrupted server", "continued output"], ["interrupted server"]];

const MOMENTS: Readonly<Record<string, Moment>> = {
  "before the model has said anything": {
    says: [...SAYS, lastChunk("stop")],
    until: 0,
    seen: "response.in_progress",
    output: [WHOLE_MESSAGE],
    notes: NONE,
  },
  "in its reasoning": {
    says: [...THINKS, ...SAYS, lastChunk("stop")],
    until: 1,
    seen: '"delta":"So it "',
    output: [{ type: "reasoning" }, { type: "reasoning" }, WHOLE_MESSAGE],
    notes: NONE,
  },
  "in a text": {
    says: [...SAYS, lastChunk("stop")],
    until: 2,
    seen: '"delta":"done"',
    output: [WHOLE_MESSAGE],
    notes: CONTINUED,
  },
  "after a whole text": {
    says: [...SAYS, lastChunk("stop")],
    until: 3,
    seen: '"delta":", all of it."',
    output: [WHOLE_MESSAGE],
    notes: CONTINUED,
  },
  "in the arguments of a call": {
    says: [...CALLS, lastChunk("tool_calls")],
    until: 2,
    seen: '"delta":"{\\"at\\":"',
    output: [WHOLE_CALL],
    notes: CONTINUED,
  },
};

test.each(someCases(Object.entries(MOMENTS), 2))(
  "a background response whose server is killed %s completes, and its reader sees one stream",
  async (_name, { says, until, seen, output, notes }) => {
    verifies("state.crash.open-items-go-on", "state.notes.of-what-happened");
    let turns = 0;
    const model = await serveChat((response, { body }) => {
      const isTurn = body.includes('"stream":true');
      if (!isTurn) return void response.writeHead(400).end("{}"); // It goes on with no answer.
      turns += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      if (turns > 1) response.end(sse(...says, "[DONE]"));
      else if (until > 0) response.write(sse(...says.slice(0, until)));
    });
    const [folder, url] = [await dataFolder(), `${model.origin}/v1`];
    const first = await start(folder, url, { NODE_NAME: "first" });
    const create = { model: "m", input: "Hi", background: true, stream: true, tools: TOOLS };
    const begun = await readUntil(await first.post("/v1/responses", create), seen);
    const id = /"id":"(resp_[0-9a-f]+)"/.exec(begun)?.[1] ?? "";

    await first.kill();
    const second = await start(folder, url, { NODE_NAME: "second" });
    const stream = await readOn(second, id, begun);

    expect(stream.final).toMatchObject({ status: "completed", error: null, output });
    expect(stream.events.map((event) => event.sequence_number)).toEqual(stream.events.map((_, index) => index));
    const replayed = await readStream(await second.fetch(`/v1/responses/${id}?stream=true`));
    expect(replayed.events).toEqual(stream.events);
    expect(turns).toBe(2);
    const client = new Antiphon({ baseUrl: second.url, apiKey: second.apiKey });
    const told = (await client.listResponseExchanges(id)).notes;
    expect(told.map(({ kind, what }) => `${kind} ${what}`)).toEqual(notes);
    for (const { node } of told) expect(node).toBe("second");
    const metrics = await (await second.fetch("/metrics")).text();
    expect(metrics).toMatch(/^antiphon_runs_interrupted_total\{by="crash"\} 1$/m);
  },
  TEST_TIMEOUT_MS,
);

/** Reads whole events, until one of them holds `seen`. */
async function readUntil(reply: Response, seen: string): Promise<string> {
  let text = "";
  for await (const piece of (reply.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
    if (whole.includes(seen)) return whole;
  }
  throw new Error(`the stream ended without ${seen}: ${text}`);
}

/** The rest of a stream, behind what was read of it. */
async function readOn(server: ChildServer, id: string, begun: string): Promise<ReadStream> {
  const last = [...begun.matchAll(/"sequence_number":(\d+)/g)].at(-1)?.[1] ?? "0";
  const rest = await server.fetch(`/v1/responses/${id}?stream=true&starting_after=${last}`);
  return await readStream(new Response(begun + (await rest.text()), { status: rest.status }));
}

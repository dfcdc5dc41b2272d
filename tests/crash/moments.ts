import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { readUntil } from "../kit/event-stream.ts";
import { COUNTS, delta, toolDelta } from "../responses/behind-upstream.ts";
import { type ReadStream, readStream } from "../responses/read-stream.ts";

const THINKS = [delta({ reasoning_content: "So it " }), delta({ reasoning_content: "is. " })];
const SAYS = [textChunk("Well "), textChunk("done"), textChunk(", all of it.")];
const CALLS = [
  toolDelta(0, { id: "call_a", type: "function", function: { name: "look", arguments: "" } }),
  toolDelta(0, { function: { arguments: '{"at":' } }),
  toolDelta(0, { function: { arguments: '"sea"}' } }),
];
const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];

export interface Moment {
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

/** By their names, which are the inputs of the responses. */
export const MOMENTS: Readonly<Record<string, Moment>> = {
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

/** A model server that stops at the moment that the input names, and says all when it is asked again. */
export async function serveMoments() {
  const asked: string[] = [];
  const model = await serveChat((response, { body }) => {
    const isTurn = body.includes('"stream":true');
    if (!isTurn) return void response.writeHead(400).end("{}"); // It goes on with no answer.
    const [name, moment] = Object.entries(MOMENTS).find(([input]) => body.includes(`"${input}"`)) ?? [];
    if (name === undefined || moment === undefined) throw new Error(`the input names no moment: ${body}`);
    const { says, until } = moment;
    const isFirst = !asked.includes(name);
    asked.push(name);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    if (!isFirst) response.end(sse(...says, COUNTS, "[DONE]"));
    else if (until > 0) response.write(sse(...says.slice(0, until)));
  });
  return { url: `${model.origin}/v1`, turns: (input: string) => asked.filter((name) => name === input).length };
}

/** Begins the response of a moment. Resolves when its stream has come there, to the text of the stream. */
export async function beginMoment(server: ChildServer, input: string): Promise<{ id: string; begun: string }> {
  const create = { model: "m", input, background: true, stream: true, tools: TOOLS };
  const begun = await readUntil(await server.post("/v1/responses", create), MOMENTS[input]?.seen ?? "");
  return { id: /"id":"(resp_[0-9a-f]+)"/.exec(begun)?.[1] ?? "", begun };
}

/** The whole stream of a response: what was read of it, and the rest. */
export async function readOn(server: ChildServer, id: string, begun: string): Promise<ReadStream> {
  const last = [...begun.matchAll(/"sequence_number":(\d+)/g)].at(-1)?.[1] ?? "0";
  const rest = await server.fetch(`/v1/responses/${id}?stream=true&starting_after=${last}`);
  return await readStream(new Response(begun + (await rest.text()), { status: rest.status }));
}

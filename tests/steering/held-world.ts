import type {
  Response as ResponseBody,
  ResponseSteer,
  ResponseSteerList,
} from "@antiphon/contracts/responses-api/types.ts";
import { expect } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { sendJson } from "../kit/http-answers.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { plainTool, startScripted, toolList } from "../tools/mcp/mcp-servers.ts";

/** A message as the model server was sent it: its role and its text. */
type Sent = readonly [role: string, content: unknown];

/** A model that calls a tool as often as the question says, such as `2 times`, and the tool, which a test holds. */
export interface HeldWorld {
  readonly modelUrl: string;
  /** Settings of a server of this world. */
  readonly env: Readonly<Record<string, string>>;
  /** A create request whose model calls the tool so often before it answers. */
  ask(times: number, more?: object): object;
  /** The tool when each of its calls needs an approval. */
  readonly approvedTools: readonly object[];
  /** Makes the model wait before it answers, until `speak`. */
  think(): void;
  speak(): void;
  /** The messages of each turn that the model was asked for, oldest first. */
  readonly turns: readonly (readonly Sent[])[];
  /** How many calls the tool has begun. */
  readonly begun: () => number;
  /** Ends the calls that have begun, and all that follow until `hold`. */
  release(): void;
  hold(): void;
}

/** The tool is held at first. Model and tool end with the test. */
export async function heldWorld(): Promise<HeldWorld> {
  const turns: Sent[][] = [];
  let calls = 0;
  let gate = Promise.withResolvers<void>();
  let thought = Promise.resolve();
  let speak: () => void = () => {};
  const model = await serveChat(async (response, { path, body }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    const { messages }: { messages: { role: string; content: unknown }[] } = JSON.parse(body);
    turns.push(messages.map(({ role, content }): Sent => [role, content]));
    await thought;
    const times = Number(/(\d+) times/.exec(body)?.[1] ?? 0);
    const results = messages.filter(({ role }) => role === "tool").length;
    const isCall = results < times;
    const call = { id: `call_${results}`, type: "function", function: { name: "books__read", arguments: "{}" } };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const said = isCall ? toolDelta(0, call) : textChunk("Herons.");
    return response.end(sse(said, lastChunk(isCall ? "tool_calls" : "stop"), "[DONE]"));
  });
  const { url } = await startScripted({
    "tools/list": () => toolList([plainTool("read", { annotations: { readOnlyHint: false } })]),
    "tools/call": ({ id }, response) => {
      calls += 1;
      const result = { content: [{ type: "text", text: `Book ${calls}.` }] };
      void gate.promise.then(() => sendJson(response, { jsonrpc: "2.0", id, result }));
    },
  });
  const tools = [{ type: "mcp", server_label: "books", server_url: url, require_approval: "never" }];
  const modelUrl = `${model.origin}/v1`;
  return {
    modelUrl,
    env: { MODEL_BASE_URL: modelUrl, EGRESS_ALLOW: "127.0.0.1" },
    ask: (times, more = {}) => ({ model: "m", background: true, input: `Read ${times} times`, tools, ...more }),
    approvedTools: tools.map((tool) => ({ ...tool, require_approval: "always" })),
    think: () => {
      const thinking = Promise.withResolvers<void>();
      [thought, speak] = [thinking.promise, thinking.resolve];
    },
    speak: () => speak(),
    turns,
    begun: () => calls,
    release: () => gate.resolve(),
    hold: () => {
      gate = Promise.withResolvers();
    },
  };
}

/** The calls of a test on one server. */
export type Door = Pick<ChildServer, "fetch" | "post">;

export async function begin(server: Door, body: object): Promise<string> {
  return (await readResponse(await server.post("/v1/responses", body))).id;
}

export async function find(server: Door, id: string): Promise<ResponseBody> {
  return await readResponse(await server.fetch(`/v1/responses/${id}`));
}

/** Resolves to the response once it has ended. */
export async function ended(server: Door, id: string): Promise<ResponseBody> {
  await expect.poll(async () => (await find(server, id)).status).not.toMatch(/queued|in_progress/);
  return await find(server, id);
}

/** Resolves once the response is paused and nobody holds it. */
export async function paused(server: Door, id: string): Promise<void> {
  await expect.poll(async () => (await find(server, id)).pause?.status).toBe("paused");
}

export async function change(server: Door, id: string, what: "pause" | "resume" | "cancel"): Promise<ResponseBody> {
  return await readResponse(await server.post(`/v1/responses/${id}/${what}`, {}));
}

/** Adds input to a response. */
export async function steer(server: Door, id: string, input: unknown): Promise<ResponseSteer> {
  const reply = await server.post(`/v1/responses/${id}/steer`, { input });
  const text = await reply.text();
  expect(reply.status, text).toBe(202);
  return JSON.parse(text);
}

export async function list(server: Door, id: string): Promise<readonly ResponseSteer[]> {
  const { data }: ResponseSteerList = JSON.parse(await (await server.fetch(`/v1/responses/${id}/steer`)).text());
  return data;
}

/** The inputs of a response once all of them have this status. */
export async function steers(
  server: Door,
  id: string,
  status: ResponseSteer["status"],
): Promise<readonly ResponseSteer[]> {
  await expect.poll(async () => [...new Set((await list(server, id)).map((one) => one.status))]).toEqual([status]);
  return await list(server, id);
}

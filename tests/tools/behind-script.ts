import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import OpenAI from "openai";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { toolDelta, usageChunk } from "../responses/behind-upstream.ts";
import { type Journal, newJournal, scriptedMcp } from "./scripted-tools.ts";

/** A message, call or tool as the chat server gets it. */
export interface ChatRequest {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description?: string } }[];
  readonly tool_choice?: unknown;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

/** What the model says in one turn: a list of chunks. It waits wherever one of them is a promise. */
export type Said = readonly unknown[];

/** The whole server with an MCP server of the test and a chat server that says one of these turns after the other. */
export interface BehindScript {
  readonly server: TestServer;
  readonly client: OpenAI;
  readonly journal: Journal;
  /** The bodies that the chat server got. */
  readonly asked: readonly ChatRequest[];
  readonly create: (members?: object, signal?: AbortSignal) => Promise<Response>;
}

export const MCP = { type: "mcp", server_label: "lab", server_url: "https://lab.test/mcp", require_approval: "never" };

/** After its last turn the model repeats it. `tools` stand in for those of the server: by default, the MCP server. */
export async function serveScript(
  turns: readonly Said[],
  env: Readonly<Record<string, string>> = {},
  tools?: readonly HostedTool[],
): Promise<BehindScript> {
  const asked: ChatRequest[] = [];
  const journal = newJournal();
  const upstream = await serveChat(async (response, { path, body }) => {
    // Before a summary it is asked for its window and for counts of tokens.
    if (!path.endsWith("/chat/completions")) return void response.writeHead(404).end();
    const said = turns[Math.min(asked.length, turns.length - 1)] ?? [];
    asked.push(JSON.parse(body));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let rest = said; rest.some(isPromise); ) {
      const place = rest.findIndex(isPromise);
      response.write(sse(...rest.slice(0, place)));
      await rest[place];
      rest = rest.slice(place + 1);
    }
    response.end(sse(...said.slice(said.findLastIndex(isPromise) + 1), "[DONE]"));
  });
  const settings = { MODEL_BASE_URL: `${upstream.origin}/v1`, WEB_SEARCH_PROVIDER: "none", ...env };
  const server = await startTestServer({ env: settings, tools: tools ?? [scriptedMcp(journal)] });
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  const create: BehindScript["create"] = (members = {}, signal) =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi", tools: [MCP], ...members }),
      signal: signal ?? null,
    });
  return { server, client, journal, asked, create };
}

function isPromise(chunk: unknown): boolean {
  return chunk instanceof Promise;
}

const USAGE = usageChunk({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });

export function saysText(text: string): Said {
  return [textChunk(text), lastChunk("stop"), USAGE];
}

/** Calls, each in two pieces. A name without `_` is one of the scripted server, unless it is one of ours. */
export function calls(...made: readonly (readonly [name: string, args: string])[]): Said {
  const pieces = made.flatMap(([name, args], index) => {
    const half = Math.floor(args.length / 2);
    const called = { id: `call_${index}`, type: "function", function: { name: flat(name), arguments: "" } };
    return [
      toolDelta(index, called),
      toolDelta(index, { function: { arguments: args.slice(0, half) } }),
      toolDelta(index, { function: { arguments: args.slice(half) } }),
    ];
  });
  return [...pieces, lastChunk("tool_calls"), USAGE];
}

const OWN_FUNCTIONS: ReadonlySet<string> = new Set(["shell", "program"]);

function flat(name: string): string {
  return name.includes("_") || OWN_FUNCTIONS.has(name) ? name : `lab__${name}`;
}

import { counterFor } from "@antiphon/tokenizers/count-texts.ts";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { toolDelta, usageChunk } from "../responses/behind-upstream.ts";
import { plainTool, startScripted, toolList } from "../tools/mcp/mcp-servers.ts";

export interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** A call that the model makes: the name of its function, and its arguments. */
export type Made = readonly [name: string, args: object];

/** A model server with a window, which refuses what is longer. */
export interface WindowedModel {
  /** What it was asked, oldest first. */
  readonly asked: readonly ChatBody[];
  /** The tokens of each of them. */
  readonly sizes: readonly number[];
  /** What it says in each turn, from now on: calls made together, or a text. It repeats the last turn. */
  play(turns: readonly (readonly Made[] | string)[]): void;
}

/** A text of a chat server, without its message. */
export function textOf({ content }: { readonly content: unknown }): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** The texts that the model was shown as results in its latest turn, oldest first. */
export function resultsIn(body: ChatBody | undefined): readonly string[] {
  return (body?.messages ?? []).filter(({ role }) => role === "tool").map(textOf);
}

export async function countTokens(text: string): Promise<number> {
  const count = await counterFor("o200k_base");
  return (text.match(/[^]{1,200}/g) ?? []).reduce((sum, piece) => sum + count(piece), 0);
}

/** `factor`: how many tokens the server counts for one of the estimate. */
export async function serveWindow(window: number, factor = 1): Promise<WindowedModel & { readonly url: string }> {
  const asked: ChatBody[] = [];
  const sizes: number[] = [];
  let turns: readonly (readonly Made[] | string)[] = [];
  const upstream = await serveChat(async (response, { path, body }) => {
    if (!path.endsWith("/chat/completions")) return void response.writeHead(404).end();
    const said = turns[0] ?? "";
    if (turns.length > 1) turns = turns.slice(1);
    const chat: ChatBody = JSON.parse(body);
    const texts = [...chat.messages.map(textOf), ...(chat.tools ?? []).map((tool) => JSON.stringify(tool))];
    const tokens = Math.ceil((await countTokens(texts.join("\n"))) * factor);
    asked.push(chat);
    sizes.push(tokens);
    if (tokens > window) {
      response.writeHead(400, { "content-type": "application/json" });
      return void response.end(JSON.stringify(tooLong(tokens, window)));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const usage = usageChunk({ prompt_tokens: tokens, completion_tokens: 5, total_tokens: tokens + 5 });
    response.end(sse(...chunksOf(said), usage, "[DONE]"));
  });
  const play: WindowedModel["play"] = (next) => {
    turns = next;
    asked.length = 0;
    sizes.length = 0;
  };
  return { url: `${upstream.origin}/v1`, asked, sizes, play };
}

function chunksOf(said: readonly Made[] | string): readonly unknown[] {
  if (typeof said === "string") return [textChunk(said), lastChunk("stop")];
  const called = said.map(([name, args], index) =>
    toolDelta(index, { id: `call_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } }),
  );
  return [...called, lastChunk("tool_calls")];
}

function tooLong(tokens: number, window: number): object {
  return {
    error: {
      message: `This model's maximum context length is ${window} tokens. However, your request has ${tokens} input tokens.`,
      type: "BadRequestError",
      param: "input_tokens",
      code: 400,
    },
  };
}

/** A page of the web, and a search server that finds nothing else. */
export async function servePage(text: string): Promise<{ readonly url: string; readonly env: Record<string, string> }> {
  const server = await serveHttp((request, response) => {
    const isPage = request.url?.startsWith("/page") === true;
    response.setHeader("content-type", isPage ? "text/plain" : "application/json");
    response.end(isPage ? text : JSON.stringify({ results: [] }));
  });
  const env = { WEB_SEARCH_BASE_URL: server.url, WEB_SEARCH_PROVIDER: "searxng", EGRESS_ALLOW: "127.0.0.1" };
  return { url: `${server.url}/page`, env };
}

/** An MCP server with one tool, `read`, that returns this text. */
export async function serveReader(text: string): Promise<object> {
  const { url } = await startScripted({
    "tools/list": () => toolList([plainTool("read", { annotations: { readOnlyHint: true } })]),
    "tools/call": () => ({ result: { content: [{ type: "text", text }] } }),
  });
  return { type: "mcp", server_label: "books", server_url: url, require_approval: "never" };
}

/** The whole server in front of this model. */
export async function serverFor(
  model: { readonly url: string },
  env: Readonly<Record<string, string>>,
): Promise<TestServer> {
  return await startTestServer({ env: { MODEL_BASE_URL: model.url, WEB_SEARCH_PROVIDER: "none", ...env } });
}

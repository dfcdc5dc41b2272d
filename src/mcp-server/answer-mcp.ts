import { randomUUID } from "node:crypto";
import { EventFrames, FRAME_END, frameOf } from "@antiphon/base/event-frames.ts";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Reply } from "@antiphon/http-kit/handler.ts";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { Admission } from "../responses-api/access/admission.ts";
import type { Caller } from "../responses-api/access/caller.ts";
import type { McpServing } from "./mcp-serving.ts";
import { type RunningCalls, SESSION_HEADER } from "./running-calls.ts";
import { serveHostedTools } from "./served-tools.ts";
import { serveStoredResponses } from "./stored-responses.ts";

const OK = 200;
const ACCEPTED = 202;
const BAD_REQUEST = 400;
const INTERNAL_ERROR = -32_603;
const INVALID_REQUEST = -32_600;
/** Headers that are about the transfer, which is ours. */
const TRANSFER_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);
/** The methods that count against the limits of a key. */
const COUNTED: ReadonlySet<unknown> = new Set(["tools/call", "resources/read"]);

const TOO_MANY = "This project has too many requests under way. Ask again when one has ended.";
const INSTRUCTIONS =
  "Tools of an Antiphon server. Search files with file_search in the vector stores that list_vector_stores names. Run Python with code_interpreter; pass on the container_id of its answer to keep variables and files. Stored responses are resources, too.";

/** Answers one message of a client. Throws the 429 error if its key has no requests left. */
export async function answerMcp(
  serving: McpServing,
  calls: RunningCalls,
  caller: Caller,
  message: unknown,
): Promise<Reply> {
  if (!isRecord(message)) return { status: BAD_REQUEST, body: rpcRefusal("Send one message; batches are not read.") };
  const { method, id } = message;
  if (method === "notifications/cancelled") calls.cancel(caller, message);
  const headers = COUNTED.has(method) ? (await Admission.open(serving.limiter, caller.principal)).headers : {};
  const call = calls.begin(caller, id);
  if (call === null) return { status: OK, headers, body: { ...rpcRefusal(TOO_MANY, INTERNAL_ERROR), id: id ?? null } };
  const session = method === "initialize" ? { [SESSION_HEADER]: randomUUID() } : {};
  try {
    const response = await askServer(serving, { ...caller, signal: call.signal }, message);
    return await replyOf(response, { ...headers, ...session }, call.end);
  } catch (error) {
    call.end();
    throw error;
  }
}

async function askServer(serving: McpServing, caller: Caller, message: object): Promise<Response> {
  const { fetch } = createMcpHandler(() => mcpServer(serving, caller), {
    keepAliveMs: 0, // The transport sends them.
    maxSubscriptions: 0,
    onerror: (error) => caller.log.debug({ err: error }, "refused message of an MCP client"),
  });
  const { signal } = caller;
  const request = new Request("http://localhost/mcp", { method: "POST", headers: headersOf(caller), signal });
  return await fetch(request, { parsedBody: message });
}

function mcpServer(serving: McpServing, caller: Caller): McpServer {
  const { version } = serving;
  const server = new McpServer({ name: "antiphon", title: "Antiphon", version }, { instructions: INSTRUCTIONS });
  serveHostedTools(server, serving, caller);
  serveStoredResponses(server, serving, caller);
  return server;
}

function headersOf({ peer }: Caller): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(peer.headers))
    if (typeof value === "string" && !TRANSFER_HEADERS.has(name)) headers.set(name, value);
  return headers;
}

/** `onEnd` is called once the answer is whole, or its stream is no longer read. */
async function replyOf(
  response: Response,
  headers: Readonly<Record<string, string>>,
  onEnd: () => void,
): Promise<Reply> {
  const { status, body } = response;
  const type = response.headers.get("content-type") ?? "";
  if (body !== null && type.startsWith("text/event-stream"))
    return { status, headers, events: new EventFrames(wholeFrames(body, onEnd), FORM) };
  const text = await response.text();
  onEnd();
  if (text === "") return { status: status === OK ? ACCEPTED : status, headers };
  return type.startsWith("application/json")
    ? { status, headers, body: readJson(text) }
    : { status, headers, text, contentType: type };
}

const FORM = {
  end: null,
  errorFrame: () =>
    frameOf("message", JSON.stringify(rpcRefusal("The answer of this server broke off.", INTERNAL_ERROR))),
};

/** The stream in pieces of whole frames. */
async function* wholeFrames(body: ReadableStream<Uint8Array>, onEnd: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const piece of body) {
      rest += decoder.decode(piece, { stream: true });
      const end = rest.lastIndexOf(FRAME_END);
      if (end === -1) continue;
      yield rest.slice(0, end + FRAME_END.length);
      rest = rest.slice(end + FRAME_END.length);
    }
  } finally {
    onEnd();
  }
}

function rpcRefusal(message: string, code = INVALID_REQUEST): object {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}

import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatRequest } from "../../context/chat-wire.ts";
import { chatTexts, templateTokens } from "../../context/estimate-chat-tokens.ts";
import { askServer, isNotOffered, type ServerAddress, type ServerReply } from "../../model-server/ask-server.ts";
import { isList } from "../../model-server/json-values.ts";

/** A count usually takes a fraction of a second; the answer waits for it. */
const COUNT_MS_MAX = 5000;
/** How long a server without a counting endpoint is not called again. */
const RETRY_ABSENT_MS = 10 * 60_000;
/** How long a server that failed to reply is not called again. */
const RETRY_FAILED_MS = 60_000;
/** Enough for several million tokens, each a number in the reply. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

/** The turn to count, as our request if available, and as a chat-completions request. */
export interface CountedTurn {
  readonly request: ModelRequest | null;
  readonly chat: ChatRequest;
}

/** The count; `absent` if the server has no such endpoint; `failed` if it failed this time. */
type Outcome = number | "absent" | "failed";
interface CountMethod {
  /** Whether the count includes images, files and recordings. */
  readonly countsAttachments: boolean;
  /** Whether the server applied its chat template. */
  readonly isExact: boolean;
  readonly ask: (server: ServerAddress, turn: CountedTurn, signal: AbortSignal) => Promise<Outcome>;
}

/** The model server's own count of a turn. */
export interface ServerCount {
  readonly tokens: number;
  readonly countsAttachments: boolean;
  readonly isExact: boolean;
}

/** What is known of a server before it is asked. */
export interface CountingServer {
  /** The reference has one method and is not tested for others. */
  readonly isReference: boolean;
  /** Whether it counts what the format of the answer and the choice of tools add to the prompt. */
  readonly countsShapes: boolean;
}

/** Requests the tokens of a turn from a model server. Remembers the methods that the server has and lacks. */
export class ServerTokenCount {
  readonly #server: ServerAddress;
  readonly #methods: readonly CountMethod[];
  #method: CountMethod | null = null;
  /** When each missing or failed method may be retried. */
  readonly #retryAt = new Map<CountMethod, number>();
  #searching: Promise<unknown> | null = null;

  constructor(server: ServerAddress, kind: CountingServer) {
    this.#server = server;
    this.#methods = methodsOf(kind);
  }

  /** The count of a turn, or null if the server does not count. */
  async count(turn: CountedTurn, signal: AbortSignal): Promise<ServerCount | null> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS_MAX)]);
    while (this.#searching !== null) await this.#searching; // Concurrent counts share the findings.
    if (this.#method !== null) return await this.#ask(this.#method, turn, deadline);
    const search = this.#search(turn, deadline);
    const over = (): void => {
      this.#searching = null;
    };
    this.#searching = search.then(over, over);
    return await search;
  }

  /** The same, but calls the server only if it is known to count such a turn. */
  async countAsKnown(turn: CountedTurn, signal: AbortSignal): Promise<ServerCount | null> {
    if (this.#method === null || (turn.request === null && this.#method === BY_RESPONSES)) return null;
    return await this.#ask(this.#method, turn, AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS_MAX)]));
  }

  async #search(turn: CountedTurn, signal: AbortSignal): Promise<ServerCount | null> {
    for (const method of this.#methods) {
      if (performance.now() < (this.#retryAt.get(method) ?? 0)) continue;
      const count = await this.#ask(method, turn, signal);
      if (count !== null) return count;
    }
    return null;
  }

  async #ask(method: CountMethod, turn: CountedTurn, signal: AbortSignal): Promise<ServerCount | null> {
    const outcome = await method.ask(this.#server, turn, signal);
    const { countsAttachments, isExact } = method;
    if (typeof outcome === "number") {
      this.#method = method;
      return { tokens: outcome, countsAttachments, isExact };
    }
    if (outcome === "absent" && this.#method === method) this.#method = null;
    if (!signal.aborted && this.#method !== method)
      this.#retryAt.set(method, performance.now() + (outcome === "failed" ? RETRY_FAILED_MS : RETRY_ABSENT_MS));
    return null;
  }
}

function methodsOf({ isReference, countsShapes }: CountingServer): readonly CountMethod[] {
  if (countsShapes) return [BY_SHAPES];
  return isReference ? [BY_RESPONSES] : [BY_CHAT_TOKENIZER, BY_TEMPLATE, BY_RESPONSES, BY_EXTRAS];
}

const BY_CHAT_TOKENIZER: CountMethod = { ask: countByChatTokenizer, countsAttachments: false, isExact: true };
const BY_SHAPES: CountMethod = { ask: countWithShapes, countsAttachments: false, isExact: true };
const BY_TEMPLATE: CountMethod = { ask: countByTemplate, countsAttachments: false, isExact: true };
const BY_RESPONSES: CountMethod = { ask: countByResponses, countsAttachments: true, isExact: true };
const BY_EXTRAS: CountMethod = { ask: countByExtras, countsAttachments: false, isExact: false };

/** The embedded model: `/tokenize` takes all that changes the prompt. */
function countWithShapes(server: ServerAddress, { chat }: CountedTurn, signal: AbortSignal): Promise<Outcome> {
  const { model, messages, tools, tool_choice, response_format } = chat;
  return countMessages(server, { model, messages, tools, tool_choice, response_format }, signal);
}

/** vLLM: `/tokenize` applies the chat template to the messages and counts. */
function countByChatTokenizer(server: ServerAddress, { chat }: CountedTurn, signal: AbortSignal): Promise<Outcome> {
  const { model, messages, tools } = chat;
  const body = { model, messages, add_generation_prompt: true, ...(tools === undefined ? {} : { tools }) };
  return countMessages(server, body, signal);
}

async function countMessages(server: ServerAddress, body: object, signal: AbortSignal): Promise<Outcome> {
  const reply = await askServer(
    server,
    { path: `${server.rootPath}/tokenize`, body, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  // llama.cpp has the same path for plain text. Its reply has no `count`.
  return countOutcome(reply, (value) => (isRecord(value) ? (countOf(value["count"]) ?? "absent") : "absent"));
}

/** llama.cpp: `/apply-template` makes the prompt, and `/tokenize` splits it. */
async function countByTemplate(server: ServerAddress, { chat }: CountedTurn, signal: AbortSignal): Promise<Outcome> {
  const { stream: _stream, stream_options: _options, ...turn } = chat;
  const templateReply = await askServer(
    server,
    { path: `${server.rootPath}/apply-template`, body: turn, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  const prompt =
    templateReply !== null && templateReply.status === 200 && isRecord(templateReply.body)
      ? templateReply.body["prompt"]
      : null;
  if (typeof prompt !== "string") return countOutcome(templateReply, () => "absent");
  const body = { model: chat.model, content: prompt, add_special: true, parse_special: true };
  const reply = await askServer(
    server,
    { path: `${server.rootPath}/tokenize`, body, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  return countOutcome(reply, (value) =>
    isRecord(value) && isList(value["tokens"]) ? value["tokens"].length : "absent",
  );
}

/** Servers of the Responses API: `/responses/input_tokens` counts. */
async function countByResponses(
  server: ServerAddress,
  { request }: CountedTurn,
  signal: AbortSignal,
): Promise<Outcome> {
  if (request === null) return "failed";
  const { model, instructions, items, tools } = request;
  const input = items.map((item) => (item.type === "message" ? { ...item, id: undefined } : item));
  const body = {
    model,
    input,
    ...(instructions === null ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools }),
  };
  const reply = await askServer(
    server,
    { path: `${server.apiPath}/responses/input_tokens`, body, replyBytesMax: 4096 },
    signal,
  );
  return countOutcome(reply, (value) => (isRecord(value) ? (countOf(value["input_tokens"]) ?? "absent") : "absent"));
}

/** llama-cpp-python: `/extras/tokenize/count` counts one text, without the chat template. */
async function countByExtras(server: ServerAddress, { chat }: CountedTurn, signal: AbortSignal): Promise<Outcome> {
  const body = { model: chat.model, input: (await chatTexts(chat)).join("\n") };
  const path = `${server.rootPath}/extras/tokenize/count`;
  const reply = await askServer(server, { path, body, replyBytesMax: 4096 }, signal);
  return countOutcome(reply, (value) => {
    const tokens = isRecord(value) ? countOf(value["count"]) : null;
    return tokens === null ? "absent" : tokens + templateTokens(chat);
  });
}

function countOutcome(reply: ServerReply | null, read: (body: unknown) => Outcome): Outcome {
  if (reply === null) return "failed";
  if (reply.status === 200) return read(reply.body);
  return isNotOffered(reply) ? "absent" : "failed";
}

function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

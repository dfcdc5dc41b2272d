import { isRecord } from "../../../base/json/records.ts";
import type { ModelRequest } from "../../../runs/ports.ts";
import { askServer, isNotOffered, type ServerAddress, type ServerReply } from "../ask-server.ts";
import { isList } from "../json-values.ts";
import type { ChatRequest } from "../request/chat-wire.ts";

/** A count takes a fraction of a second where it is offered; the answer waits for it. */
const COUNT_MS_MAX = 5000;
/** How long it is remembered that a server offers nothing: it may be replaced by another. */
const FORGET_MS = 10 * 60_000;
/** The same where it only failed to answer. */
const FORGET_FAILURE_MS = 60_000;
/** A token is a number of at most seven digits in the reply. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

/** The turn to count, in both forms. */
export interface CountedTurn {
  readonly request: ModelRequest;
  readonly chat: ChatRequest;
}

/** `absent`: this server has no such thing. `failed`: not this time. */
type Outcome = number | "absent" | "failed";
interface Way {
  /** Whether pictures, files and recordings are in its count; otherwise texts and little more. */
  readonly countsAttachments: boolean;
  readonly ask: (server: ServerAddress, turn: CountedTurn, signal: AbortSignal) => Promise<Outcome>;
}

/** Tokens of a prompt by the model server's own count. */
export interface ServerCount {
  readonly tokens: number;
  readonly countsAttachments: boolean;
}

/** Asks a model server how many tokens a turn takes. What a server offers is found out once. */
export class ServerTokenCount {
  readonly #server: ServerAddress;
  readonly #ways: readonly Way[];
  #known: Way | null = null;
  #noneUntilMs = 0;

  /** `isReference`: the reference's own hosts have one way, and are not asked for others'. */
  constructor(server: ServerAddress, isReference: boolean) {
    this.#server = server;
    this.#ways = isReference ? [BY_RESPONSES] : [BY_CHAT_TOKENIZER, BY_TEMPLATE, BY_RESPONSES];
  }

  /** Null where the server does not tell. */
  async count(turn: CountedTurn, signal: AbortSignal): Promise<ServerCount | null> {
    if (this.#known === null && performance.now() < this.#noneUntilMs) return null;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS_MAX)]);
    const ways = this.#known === null ? this.#ways : [this.#known];
    let isAnyUnsure = false;
    for (const way of ways) {
      const outcome = await way.ask(this.#server, turn, limited);
      if (typeof outcome === "number") {
        this.#known = way;
        return { tokens: outcome, countsAttachments: way.countsAttachments };
      }
      if (outcome === "absent" && this.#known === way) this.#known = null;
      isAnyUnsure ||= outcome === "failed";
    }
    if (this.#known === null && !signal.aborted)
      this.#noneUntilMs = performance.now() + (isAnyUnsure ? FORGET_FAILURE_MS : FORGET_MS);
    return null;
  }
}

const BY_CHAT_TOKENIZER: Way = { ask: countByChatTokenizer, countsAttachments: false };
const BY_TEMPLATE: Way = { ask: countByTemplate, countsAttachments: false };
const BY_RESPONSES: Way = { ask: countByResponses, countsAttachments: true };

/** vLLM: `/tokenize` with messages applies the chat template and counts. */
async function countByChatTokenizer(
  server: ServerAddress,
  { chat }: CountedTurn,
  signal: AbortSignal,
): Promise<Outcome> {
  const { model, messages, tools } = chat;
  const body = { model, messages, add_generation_prompt: true, ...(tools === undefined ? {} : { tools }) };
  const reply = await askServer(
    server,
    { path: `${server.rootPath}/tokenize`, body, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  // llama.cpp has the same path for plain text, finds none and counts nothing; it does not say `count`.
  return outcomeOf(reply, (value) => (isRecord(value) ? (countOf(value["count"]) ?? "absent") : "absent"));
}

/** llama.cpp: `/apply-template` makes the prompt, `/tokenize` splits it. */
async function countByTemplate(server: ServerAddress, { chat }: CountedTurn, signal: AbortSignal): Promise<Outcome> {
  const { stream: _stream, stream_options: _options, ...turn } = chat;
  const made = await askServer(
    server,
    { path: `${server.rootPath}/apply-template`, body: turn, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  const prompt = made !== null && made.status === 200 && isRecord(made.body) ? made.body["prompt"] : null;
  if (typeof prompt !== "string") return outcomeOf(made, () => "absent");
  const body = { model: chat.model, content: prompt, add_special: true, parse_special: true };
  const reply = await askServer(
    server,
    { path: `${server.rootPath}/tokenize`, body, replyBytesMax: REPLY_BYTES_MAX },
    signal,
  );
  return outcomeOf(reply, (value) => (isRecord(value) && isList(value["tokens"]) ? value["tokens"].length : "absent"));
}

/** Servers of the Responses API count its requests. */
async function countByResponses(
  server: ServerAddress,
  { request }: CountedTurn,
  signal: AbortSignal,
): Promise<Outcome> {
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
  return outcomeOf(reply, (value) => (isRecord(value) ? (countOf(value["input_tokens"]) ?? "absent") : "absent"));
}

function outcomeOf(reply: ServerReply | null, read: (body: unknown) => Outcome): Outcome {
  if (reply === null) return "failed";
  if (reply.status === 200) return read(reply.body);
  return isNotOffered(reply) ? "absent" : "failed";
}

function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

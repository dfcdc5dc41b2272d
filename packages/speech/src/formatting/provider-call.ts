import { readJson } from "@antiphon/base/json/read-json.ts";
import { createParser } from "eventsource-parser";
import { Agent, type Dispatcher, request } from "undici";
import { ProviderError } from "./chat-provider.ts";

export interface ProviderAddress {
  /** Host and port, for messages to people. */
  readonly host: string;
  readonly apiKey: string | null;
  /** Limit of one whole call, in milliseconds. */
  readonly timeoutMs: number;
}

const CONNECT_MS_MAX = 5000;
const REPLY_CHARACTERS_MAX = 8 * 1024 * 1024;
const CONNECTIONS_MAX = 32;

const dispatcher = new Agent({ connections: CONNECTIONS_MAX, connect: { timeout: CONNECT_MS_MAX } });

/**
 * Calls a provider and yields its reply as JSON values: one per event of an event stream, or one for a plain body.
 * Throws `ProviderError`.
 */
export async function* callProvider(
  address: ProviderAddress,
  call: { readonly url: string; readonly body: object | null },
  signal: AbortSignal,
): AsyncGenerator {
  const { host, timeoutMs } = address;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const reply = await sendToProvider(address, call, AbortSignal.any([signal, limit]));
    checkStatus(reply, host);
    if (String(reply.headers["content-type"]).startsWith("text/event-stream")) yield* eventsOf(reply.body, host);
    else yield readJson(await wholeText(reply.body, host));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    if (limit.aborted) throw new ProviderError("timeout", `${host} did not answer in time`, error);
    if (error instanceof SyntaxError) throw new ProviderError("failed", `${host} sent a reply that is not JSON`, error);
    throw new ProviderError("unreachable", `${host} cannot be reached`, error);
  }
}

function sendToProvider(
  { apiKey }: ProviderAddress,
  { url, body }: { readonly url: string; readonly body: object | null },
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  return request(url, {
    method: body === null ? "GET" : "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: body === null ? null : JSON.stringify(body),
    headersTimeout: 0, // The signal limits the whole call.
    bodyTimeout: 0,
    dispatcher,
    signal,
  });
}

function checkStatus({ statusCode, body }: Dispatcher.ResponseData, host: string): void {
  if (statusCode >= 200 && statusCode < 300) return;
  body.on("error", () => {}).destroy(); // The body is not read, because it may repeat the text or the key.
  if (statusCode === 401 || statusCode === 403)
    throw new ProviderError("unauthorized", `${host} refused the key (status ${statusCode})`);
  throw new ProviderError("failed", `${host} answered with status ${statusCode}`);
}

async function* eventsOf(body: AsyncIterable<unknown>, host: string): AsyncGenerator {
  const ready: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => ready.push(data), maxBufferSize: REPLY_CHARACTERS_MAX });
  for await (const text of texts(body, host)) {
    parser.feed(text);
    for (const data of ready.splice(0)) if (data !== "[DONE]") yield readJson(data);
  }
}

async function wholeText(body: AsyncIterable<unknown>, host: string): Promise<string> {
  let whole = "";
  for await (const text of texts(body, host)) whole += text;
  return whole;
}

async function* texts(body: AsyncIterable<unknown>, host: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let characters = 0;
  for await (const bytes of body) {
    if (!(bytes instanceof Uint8Array)) continue;
    const text = decoder.decode(bytes, { stream: true });
    characters += text.length;
    if (characters > REPLY_CHARACTERS_MAX) throw new ProviderError("failed", `${host} sent a reply that is too long`);
    yield text;
  }
}

import { joinChunks, readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";
import { retryAfterSeconds } from "@antiphon/base/limits/retry-after.ts";
import { type Dispatcher, request } from "undici";
import { type Embedder, EmbeddingFailed, type EmbeddingPurpose } from "../ports/vectors.ts";
import { pauseBeforeRepeat } from "./patience.ts";
import { type EmbeddingPrefixes, prefixedModelName, splitModelName } from "./prefixes.ts";
import { VectorLengths } from "./vector-lengths.ts";
import { vectorsIn } from "./vectors-in.ts";

export interface EmbeddingServerOptions {
  /** Usually ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  readonly prefixes: EmbeddingPrefixes;
  /** The time limit of one request in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum retries of a request while the server is busy. */
  readonly repeatsMax: number;
}

const TEXTS_AT_ONCE_MAX = 64;
/** 64 vectors of 16,384 numbers with 20 digits, and the frame. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024;
/** The server is overloaded, starting, or unreachable behind a proxy. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The server refuses a text. Some servers answer 500 to a text that is too long. */
const REFUSED_TEXTS: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** Turns texts into vectors by `/embeddings`. Source: OpenAI's API reference, Embeddings. */
export class EmbeddingServer implements Embedder {
  readonly modelName: string;
  readonly textsTogether = TEXTS_AT_ONCE_MAX;
  readonly #options: EmbeddingServerOptions;
  readonly #lengths = new VectorLengths("The embedding server");

  constructor(options: EmbeddingServerOptions) {
    this.modelName = prefixedModelName(options.model, options.prefixes);
    this.#options = options;
  }

  async embed(
    modelName: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const { model, prefixes } = splitModelName(modelName);
    const vectors: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE_MAX) {
      const some = texts.slice(start, start + TEXTS_AT_ONCE_MAX).map((text) => prefixes[purpose] + text);
      vectors.push(...(await this.#embedSome(model, some, signal)));
    }
    return vectors;
  }

  async dimensionsOf(modelName: string, signal: AbortSignal): Promise<number> {
    const earlier = this.#lengths.find(splitModelName(modelName).model);
    if (earlier !== null) return earlier;
    const [vector] = await this.embed(modelName, ["dimensions"], "passage", signal);
    return vector?.length ?? 0;
  }

  async #embedSome(model: string, texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const answer = await this.#askPatiently(JSON.stringify({ model, input: texts, encoding_format: "float" }), signal);
    return this.#lengths.checked(model, vectorsIn(answer, texts.length));
  }

  async #askPatiently(body: string, signal: AbortSignal): Promise<unknown> {
    const { repeatsMax } = this.#options;
    for (let repeats = 0; ; repeats++) {
      const reply = await this.#ask(body, signal);
      if (reply.type === "answer") return reply.answer;
      if (repeats >= repeatsMax) throw reply.failure;
      await pauseBeforeRepeat(repeats, reply.pauseMs, signal);
    }
  }

  async #ask(body: string, signal: AbortSignal): Promise<Reply> {
    const { baseUrl, apiKey, timeoutMs } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    const key: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    try {
      const response = await request(`${baseUrl.replace(/\/+$/, "")}/embeddings`, {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", ...key },
        body,
        signal: AbortSignal.any([signal, deadline]),
      });
      return await replyOf(response);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EmbeddingFailed) throw error;
      if (deadline.aborted) throw new EmbeddingFailed("The embedding server did not answer in time.", { cause: error });
      const failure = new EmbeddingFailed("The embedding server cannot be reached.", { cause: error });
      return { type: "busy", failure, pauseMs: null };
    }
  }
}

type Reply =
  | { readonly type: "answer"; readonly answer: unknown }
  /** May be retried, after the server's own delay if it gave one. */
  | { readonly type: "busy"; readonly failure: EmbeddingFailed; readonly pauseMs: number | null };

async function replyOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Reply> {
  if (statusCode === 200) return { type: "answer", answer: await jsonOf(body) };
  await body.dump({ limit: 64 * 1024 });
  const failure = new EmbeddingFailed(sentenceOf(statusCode), { dependsOnTexts: REFUSED_TEXTS.has(statusCode) });
  if (!BUSY.has(statusCode)) throw failure;
  const seconds = retryAfterSeconds(headers, Date.now());
  return { type: "busy", failure, pauseMs: seconds !== null && seconds > 0 ? seconds * 1000 : null };
}

function sentenceOf(status: number): string {
  if (status === 401 || status === 403) return "The embedding server refused this server's key.";
  if (status === 400 || status === 413 || status === 422)
    return `The embedding server refused the texts (${status}). Smaller chunks may help: it may take fewer tokens at once.`;
  if (status === 404) return "The embedding server does not have the model, or has no embeddings at this address.";
  if (status === 429) return "The embedding server takes no more texts for now.";
  return `The embedding server failed with status ${status}.`;
}

async function jsonOf(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > REPLY_BYTES_MAX) throw new EmbeddingFailed("The answer of the embedding server is too large.");
    chunks.push(chunk);
  }
  try {
    return await readJsonInSlices([joinChunks(chunks)]);
  } catch (error) {
    throw new EmbeddingFailed("The embedding server sent no JSON that could be read.", { cause: error });
  }
}

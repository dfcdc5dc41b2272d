import { text as textOf } from "node:stream/consumers";
import { serveHttp } from "../kit/http-server.ts";

/** An embeddings server that makes the same vector of the same words always. */
export interface EmbeddingsServer {
  /** Ends in `/v1`. */
  readonly url: string;
  /** How many texts each request had. */
  readonly requests: number[];
  /** The texts of all requests, in their order. */
  readonly texts: string[];
  /** Takes the place of the usual answers. */
  answer: ((asked: Asked) => Answer | Promise<Answer>) | null;
}

export interface Asked {
  readonly model: string;
  readonly input: readonly string[];
}

/** `never` leaves the request without an answer. */
export type Answer =
  | "never"
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string };

const DIMENSIONS = 64;

/** Models whose names end in a number have so many dimensions. */
export async function serveEmbeddings(): Promise<EmbeddingsServer> {
  const served: Omit<EmbeddingsServer, "url"> = { requests: [], texts: [], answer: null };
  const { url } = await serveHttp((request, response) => {
    void textOf(request).then(async (body) => {
      const asked: Asked = JSON.parse(body);
      served.requests.push(asked.input.length);
      served.texts.push(...asked.input);
      const answer = await (served.answer ?? embedded)(asked);
      if (answer === "never") return;
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
      response.end(answer.body);
    });
  });
  return Object.assign(served, { url: `${url}/v1` });
}

export function embedded({ model, input }: Asked): Answer {
  const dimensions = Number(/\d+$/.exec(model)?.[0] ?? DIMENSIONS);
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: hashed(text, dimensions) }));
  return { body: JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }) };
}

function hashed(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0.01);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const sign of word) hash = (hash * 31 + (sign.codePointAt(0) ?? 0)) % 1_000_003;
    vector[hash % dimensions] = (vector[hash % dimensions] ?? 0) + 1;
  }
  return vector;
}

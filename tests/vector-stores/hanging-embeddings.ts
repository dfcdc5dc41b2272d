import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { serveHttp } from "../kit/http-server.ts";

/** An embedding server that gives every text the same vector. */
export interface HangingEmbeddings {
  /** The settings of a server that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** How many requests had the marker. The first of them is never answered. */
  readonly marked: () => number;
}

/** Serves until the test is done. `marker` is a text of the request that hangs. */
export async function hangingEmbeddings(marker: string): Promise<HangingEmbeddings> {
  let marked = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const piece of request) body += String(piece);
    if (body.includes(marker)) {
      marked += 1;
      if (marked === 1) return;
    }
    const { input }: { readonly input: readonly string[] } = JSON.parse(body);
    const data = input.map((_, index) => ({ object: "embedding", index, embedding: [1, 0] }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
  };
  const { url } = await serveHttp((request, response) => void answer(request, response), onTestFinished);
  return { env: { EMBEDDING_BASE_URL: `${url}/v1`, EMBEDDING_MODEL: "e" }, marked: () => marked };
}

import { request } from "undici";

const WAIT_MS = 300;

/** Whether a SearXNG answers there within 300 ms. Never rejects. */
export async function isSearxng(baseUrl: string): Promise<boolean> {
  try {
    const reply = await request(`${baseUrl.replace(/\/+$/, "")}/config`, { signal: AbortSignal.timeout(WAIT_MS) });
    const start = await readStart(reply.body);
    return reply.statusCode === 200 && /"(?:engines|categories)"/.test(start);
  } catch {
    return false; // Nothing listens there, or it is no SearXNG.
  }
}

const START_BYTES = 262_144;

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of body) {
    text += chunk.toString("latin1");
    if (text.length > START_BYTES) break;
  }
  return text;
}

import { readBodyStart } from "@antiphon/base/limits/read-body-start.ts";
import { request } from "undici";

const WAIT_MS = 300;
const START_BYTES = 262_144;

/** Whether a SearXNG responds there within 300 ms. Never rejects. */
export async function isSearxng(baseUrl: string): Promise<boolean> {
  try {
    const reply = await request(`${baseUrl.replace(/\/+$/, "")}/config`, { signal: AbortSignal.timeout(WAIT_MS) });
    const start = await readBodyStart(reply.body, START_BYTES);
    return reply.statusCode === 200 && /"(?:engines|categories)"/.test(start);
  } catch {
    return false; // Nothing listens there, or it is not a SearXNG.
  }
}

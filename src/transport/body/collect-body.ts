import type { IncomingMessage } from "node:http";
import type { HeldBytes } from "../../base/limits/byte-budget.ts";
import { type BodyFaults, type BodyLimits, decodeBody } from "./decode-body.ts";

/**
 * The whole body, decompressed, in the chunks in which it came. The limit holds for the bytes on the wire and for those
 * they become; these count as held until whoever gave `held` lets go.
 */
export async function collectBody(
  request: IncomingMessage,
  limits: BodyLimits,
  held: HeldBytes,
  faults: BodyFaults,
): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of decodeBody(request, limits, faults)) {
    if (!held.add(chunk.length)) throw faults.noRoomForBody();
    chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  }
  return chunks;
}

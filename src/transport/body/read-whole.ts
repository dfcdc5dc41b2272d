import type { IncomingMessage } from "node:http";
import type { Faults } from "../faults.ts";
import type { TransportOptions } from "../options.ts";
import { BODY_BYTES_PER_SECOND_MIN } from "./body-chunks.ts";
import { collectBody } from "./collect-body.ts";

/** How long a body may be on its way that stays in memory; forms have the time of the options. */
const WHOLE_BODY_TIMEOUT_MS = 15 * 60_000;

type WholeBodyOptions = Pick<
  TransportOptions,
  "bodyBytesMax" | "bodyIdleTimeoutMs" | "bodyTotalTimeoutMs" | "incoming"
>;

/** Has `read` make something of a body while its bytes count as held. */
export async function readWhole<T>(
  request: IncomingMessage,
  { bodyBytesMax, bodyIdleTimeoutMs, bodyTotalTimeoutMs, incoming }: WholeBodyOptions,
  faults: Faults,
  read: (chunks: readonly Buffer[]) => T | Promise<T>,
): Promise<T> {
  const limits = {
    bytesMax: bodyBytesMax,
    idleTimeoutMs: bodyIdleTimeoutMs,
    bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN,
    totalTimeoutMs: Math.min(bodyTotalTimeoutMs, WHOLE_BODY_TIMEOUT_MS),
  };
  const held = incoming.open();
  try {
    return await read(await collectBody(request, limits, held, faults));
  } finally {
    held.release();
  }
}

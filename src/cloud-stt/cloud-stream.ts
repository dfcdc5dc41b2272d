import type { CloudServerMessage } from "../../generated/local-stt/types.ts";
import { runStream, type SessionParts, type StreamCall } from "../local-stt/run-session.ts";
import type { CloudCaller } from "./authenticate-key.ts";
import { CLOUD_PROTOCOL } from "./cloud-protocol.ts";
import { rateLimited } from "./errors.ts";
import { MeteredMessages } from "./metered-messages.ts";
import type { StreamRates } from "./ports.ts";

export interface CloudParts {
  readonly sessions: SessionParts;
  readonly rates: StreamRates;
}

/** Counts a stream that somebody wants to open. Rejects with the 429 of who has to wait. */
export async function countStream(rates: StreamRates, { keyId }: CloudCaller): Promise<void> {
  const waitMs = await rates.takeStream(keyId);
  if (waitMs !== null) throw rateLimited(waitMs);
}

/** Throws the `ApiError` with which an upgrade would be refused now, and counts nothing. */
export async function refuseAsUpgrade({ sessions, rates }: CloudParts, { keyId }: CloudCaller): Promise<void> {
  const waitMs = await rates.waitMs(keyId);
  if (waitMs !== null) throw rateLimited(waitMs);
  sessions.places.check();
}

/**
 * Begins a stream of `/stt/v1/stream`; what is to be sent comes out of the iteration, which throws the `ApiError` that
 * ends it.
 */
export function openCloudStream(
  { sessions, rates }: CloudParts,
  messages: AsyncIterable<unknown>,
  { keyId }: CloudCaller,
  call: StreamCall,
): AsyncIterable<CloudServerMessage> {
  const metered = new MeteredMessages(messages, (ms) => rates.takeSound(keyId, ms));
  call.log.info({ requestId: call.requestId, keyId }, "a cloud stream was opened");
  return runStream({ ...sessions, protocol: CLOUD_PROTOCOL }, metered, call);
}

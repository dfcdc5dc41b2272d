import type { CloudServerMessage } from "@antiphon/contracts/local-stt/types.ts";
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

/** Counts the opening of a stream. Rejects with a 429 if the key has to wait. */
export async function countStream(rates: StreamRates, { keyId }: CloudCaller): Promise<void> {
  const waitMs = await rates.takeStream(keyId);
  if (waitMs !== null) throw rateLimited(waitMs);
}

/** Rejects with the `ApiError` that an upgrade would get now. Counts nothing. */
export async function refuseAsUpgrade({ sessions, rates }: CloudParts, { keyId }: CloudCaller): Promise<void> {
  const waitMs = await rates.waitMs(keyId);
  if (waitMs !== null) throw rateLimited(waitMs);
  sessions.places.check();
}

/**
 * Starts a stream of `/stt/v1/stream` and returns the messages to send. Their iteration throws the `ApiError` that ends
 * the stream.
 */
export function openCloudStream(
  { sessions, rates }: CloudParts,
  messages: AsyncIterable<unknown>,
  { keyId }: CloudCaller,
  call: StreamCall,
): AsyncIterable<CloudServerMessage> {
  const meteredMessages = new MeteredMessages(messages, (ms) => rates.takeSound(keyId, ms));
  call.log.info({ requestId: call.requestId, keyId }, "cloud stream opened");
  return runStream({ ...sessions, protocol: CLOUD_PROTOCOL }, meteredMessages, call);
}

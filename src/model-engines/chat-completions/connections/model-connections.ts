import { Agent, type Dispatcher } from "undici";
import { resendFresh } from "./fresh-resend.ts";

export interface ConnectionOptions {
  /** Maximum number of connections. Each carries one call at a time; further calls wait. */
  readonly connectionsMax: number;
  readonly connectMs: number;
}

/**
 * Keeps connections to model servers open between calls. A call that meets a connection which the server has closed is
 * sent again on a new one, which is closed after it.
 */
export function openConnections({ connectionsMax, connectMs }: ConnectionOptions): Dispatcher {
  const options = { connections: connectionsMax, connect: { timeout: connectMs } };
  return new Agent(options).compose(resendFresh(new Agent({ ...options, pipelining: 0 })));
}

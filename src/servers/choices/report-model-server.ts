import { once } from "node:events";
import { connect } from "node:net";
import type { Logger } from "@antiphon/base/logger.ts";
import { explainTransportError } from "../../model-engines/model-server/errors/transport-error.ts";

/** Long enough for a server in another country. */
const CONNECT_MS_MAX = 5000;

/** Logs one line if the model server does not accept connections now. `place` has its address. Never rejects. */
export async function reportModelServer(baseUrl: string, log: Logger, place = "MODEL_BASE_URL"): Promise<void> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const standardPort = protocol === "https:" ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, ""); // The brackets of an IPv6 address.
  const socket = connect({ host, port: port === "" ? standardPort : Number(port) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_MS_MAX) });
  } catch (error) {
    const { message } = explainTransportError(isTimeout(error) ? TOO_SLOW : error, CONNECT_MS_MAX);
    log.warn({}, `${message} Requests fail until it responds. Its address is ${place}.`);
  } finally {
    socket.destroy();
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

const TOO_SLOW = Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" });

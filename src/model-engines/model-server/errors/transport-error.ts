import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import { tooSlow, unreachable, untrustedServer } from "./model-errors.ts";

/** Errors of a connection that the model server closed. */
const CLOSED_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "HPE_INVALID_EOF_STATE"]);
const CLOSED = "it closed the connection";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "its host name is unknown",
  EAI_AGAIN: "its host name could not be looked up",
  EHOSTUNREACH: "no route leads to it",
  ENETUNREACH: "no route leads to it",
};

const UNTRUSTED_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** Whether the model server closed the connection of a call. */
export function closedConnection(error: unknown): boolean {
  return CLOSED_CODES.has(codeOf(error));
}

/** Explains a failure below HTTP, without the address that was called. */
export function explainTransportError(error: unknown, idleMs: number): ModelError {
  const code = codeOf(error);
  switch (code) {
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return tooSlow("did not accept the connection in time", error);
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return tooSlow(`sent nothing for ${idleMs / 1000} s`, error);
    default:
      if (UNTRUSTED_REASONS[code] !== undefined) return untrustedServer(UNTRUSTED_REASONS[code], error);
      if (CLOSED_CODES.has(code)) return unreachable(CLOSED, error);
      return unreachable(REASONS[code] ?? (code === "" ? "the call failed" : `the call failed (${code})`), error);
  }
}

/** The first error code found in the error, its causes or its aggregated errors; empty if there is none. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== "") ?? "";
  return codeOf(error.cause);
}

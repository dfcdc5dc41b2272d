import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../caller.ts";
import type { Faults } from "../faults.ts";
import type { ReplyHeaders } from "../handler.ts";
import type { InFlight } from "../in-flight.ts";

/** Who may come in, as the interface says. */
export interface Admission<P> {
  /** Whose request it is; throws an `ApiError` (401). Asked for operations that need a key. */
  authenticate(headers: IncomingHttpHeaders): Promise<P>;
  /** Headers of every reply to a caller who was let in. */
  headersFor?(principal: P): ReplyHeaders;
  /** What the access log says of a caller who was let in; no secrets. */
  logFieldsFor?(principal: P): object;
  /** Who calls an operation that needs no key. */
  readonly anonymous: P;
  /** Throws an `ApiError` for callers that get nothing at all, whatever the path. */
  admit?(caller: Caller): void;
}

const CLIENT_REQUEST_ID = /^[\x20-\x7e]{0,512}$/;

/**
 * What every request and every upgrade must pass before anything else; throws the `ApiError` of the door that stays
 * shut.
 */
export function admitCaller<P>(caller: Caller, admission: Admission<P>, inFlight: InFlight, faults: Faults): void {
  if (inFlight.draining) throw faults.shuttingDown();
  admission.admit?.(caller);
  const clientRequestId = caller.headers["x-client-request-id"];
  const isValid = clientRequestId === undefined || CLIENT_REQUEST_ID.test(String(clientRequestId));
  if (!isValid) throw faults.invalidClientRequestId();
}

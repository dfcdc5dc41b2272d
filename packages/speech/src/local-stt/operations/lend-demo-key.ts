import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { LoopbackConnection } from "../connection-owner.ts";
import type { SttContext } from "../context.ts";
import { keyNotFound, keyNotLent, originNotAllowed, userNotAllowed } from "../errors.ts";

/** The data for the page, and the checks before it. */
export interface KeyLending {
  /** False if a setting switches it off. */
  readonly isOn: boolean;
  /** Base URL of the Responses API of this machine. */
  readonly baseUrl: string;
  /** The key created by the Responses API at its first start; null if there is none. */
  readonly readKey: () => Promise<string | null>;
  /** The user of this server; null if the system has no user numbers. */
  readonly ownUser: number | null;
  /** The user whose program opened a connection; null if unknown. */
  readonly findUser: (connection: LoopbackConnection) => Promise<number | null>;
}

/** `POST /demo/key`: gives the page of this server the key of the same machine. */
export function lendDemoKey(lending: KeyLending): LocalSttHandlers<SttContext>["lendDemoKey"] {
  return async (_request, { peer, log }) => {
    if (!lending.isOn) throw keyNotLent();
    // Other pages of this machine may use the speech server, but not the key. Browsers send Origin with every POST.
    const { host, origin, "sec-fetch-site": site } = peer.headers;
    if (typeof host !== "string" || origin !== `http://${host}` || site !== "same-origin") throw originNotAllowed();
    const user = await lending.findUser(peer);
    if (user === null || user !== lending.ownUser) throw userNotAllowed();
    const key = await lending.readKey();
    if (key === null) throw keyNotFound();
    log.info({}, "chat lab got the key of the Responses API");
    return { status: 200, headers: { "cache-control": "no-store" }, body: { base_url: lending.baseUrl, api_key: key } };
  };
}

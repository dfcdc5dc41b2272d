import { foreignHost } from "../errors/request-errors.ts";
import { isLoopbackAddress, namesProxy } from "./local-peer.ts";

/** The part of a request that the guard checks. */
export interface AddressedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly remoteAddress: string;
  /** The local port of the connection. */
  readonly localPort: number;
}

/**
 * Names that no stranger can point at this machine: single labels, such as a container's, and names below `localhost`.
 */
const OWN_NAME = /^(?:[^.]*|.+\.localhost)$/i;
/** Addresses: `127.0.0.1` or `[::1]`. A page loaded by address comes from this address. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;
/** Pages have no key for these, or they check access themselves. */
const UNCHECKED_PATH = /^\/(?:v1\/|metrics$)/;

/**
 * Rejects requests without a key that a local browser makes for a foreign page whose owner has pointed its name at this
 * machine (DNS rebinding). Such a page uses the server's own port, unlike a proxy that forwards a site's name.
 * `isListed`: whether pages of an origin may call.
 */
export function createHostGuard(isListed: (origin: string) => boolean): (request: AddressedRequest) => void {
  return ({ path, headers, remoteAddress, localPort }) => {
    const { host } = headers;
    if (typeof host !== "string" || UNCHECKED_PATH.test(path) || !isLoopbackAddress(remoteAddress)) return;
    const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
    if (OWN_NAME.test(name) || ADDRESS.test(name)) return;
    const isOwnPort = Number(port ?? USUAL_PORT) === localPort;
    if (!isOwnPort && namesProxy(headers)) return;
    if (!isListed(`http://${host}`) && !isListed(`https://${host}`)) throw foreignHost();
  };
}

const USUAL_PORT = 80;

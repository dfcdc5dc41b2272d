import { foreignHost } from "../errors/request-errors.ts";
import { isLoopbackAddress, namesProxy } from "./local-peer.ts";

/** The part of a request that the guard checks. */
export interface AddressedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly remoteAddress: string;
  /** The port that the request came to. */
  readonly localPort: number;
}

/** Names that no stranger can point at this machine: those of one label, such as a container's, and of `localhost`. */
const OWN_NAME = /^(?:[^.]*|.+\.localhost)$/i;
/** Addresses: `127.0.0.1` or `[::1]`. A page that is found by its address comes from there. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;
/** A page has no key for these, or they decide by themselves. */
const UNCHECKED_PATH = /^\/(?:v1\/|metrics$)/;

/**
 * Rejects requests without a key that a browser of this machine makes for a foreign page, whose own name the page's
 * owner has pointed at this machine (DNS rebinding). Such a page names the server's own port, which a proxy that passes
 * on the name of a site does not. `isListed`: whether pages of an origin may call.
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

import { lookup as lookupAll } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { EgressError } from "./egress-error.ts";
import type { EgressRules } from "./egress-rules.ts";
import { parseAddress } from "./ip-address.ts";

/** One address of a host name, as text. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Looks up a host name, once. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

const ADDRESSES_MAX = 16;
const NOT_PUBLIC =
  "The URL leads to an address that this server does not call: it is not public, or its port is not usual. The operator can allow it with EGRESS_ALLOW";

/** Uses the system's resolver. */
export const resolveHost: ResolveHost = async (host) => {
  const addresses = await lookupAll(host, { all: true, verbatim: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * Finds the addresses of this URL with one lookup, and checks all of them: if one is refused, the call is refused. A
 * nonexistent name gets the same error, so that callers cannot probe a network's names.
 */
export async function findRoute(
  url: URL,
  rules: EgressRules,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
): Promise<readonly ResolvedAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const addresses = await addressesOf(host, resolve);
  const isPermitted = addresses.every(({ address }) => {
    const bytes = parseAddress(address);
    return bytes !== null && rules.permits({ host, address: bytes, port });
  });
  if (addresses.length === 0 || !isPermitted) throw new EgressError("forbidden", NOT_PUBLIC);
  return addresses.slice(0, ADDRESSES_MAX);
}

async function addressesOf(
  host: string,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
): Promise<readonly ResolvedAddress[]> {
  if (parseAddress(host) !== null) return [{ address: host, family: isIPv6(host) ? 6 : 4 }];
  try {
    return await resolve(host);
  } catch (error) {
    throw new EgressError("forbidden", NOT_PUBLIC, error);
  }
}

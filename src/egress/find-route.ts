import { lookup as lookupAll } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { EgressError } from "./egress-error.ts";
import type { EgressRules } from "./egress-rules.ts";
import { parseAddress } from "./ip-address.ts";

/** An address that a name stands for, in text. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Looks a host name up, once. */
export type ResolveHost = (host: string) => Promise<readonly ResolvedAddress[]>;

const ADDRESSES_MAX = 16;
const NOT_PUBLIC =
  "The URL leads to an address that this server does not call: it is not public, or its port is not usual. The operator can allow it with EGRESS_ALLOW";

/** Asks the resolver of the system. */
export const resolveHost: ResolveHost = async (host) => {
  const found = await lookupAll(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * The addresses that a call to this URL may use, found with one look-up and all of them checked: if a single one is
 * refused, so is the host. A name that does not exist is refused in the same words, so that no one learns the names of
 * a network from outside.
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

import { assert } from "../base/assert.ts";
import { type AddressBytes, isWithin, parseAddress } from "./ip-address.ts";

/**
 * `metadata` addresses hand out credentials of the machine itself; they are link-local, or play that part at some
 * provider of machines.
 */
export type AddressKind = "public" | "private" | "metadata";

interface Network {
  readonly address: AddressBytes;
  readonly bits: number;
}

/** Clouds' metadata services, and what is link-local. */
const METADATA: readonly Network[] = networks(
  "169.254.0.0/16", // Link-local; 169.254.169.254 and 169.254.170.2 among them.
  "168.63.129.16/32", // Azure, in the midst of public space.
  "100.100.100.200/32", // Alibaba.
  "192.0.0.192/32", // Oracle.
  "fe80::/10", // Link-local.
  "fd00:ec2::254/128", // AWS.
  "fd20:ce::254/128", // Google.
);

/** What IANA's registries of special addresses call not globally reachable. */
const PRIVATE_IPV4: readonly Network[] = networks(
  "0.0.0.0/8", // "This network": reaches the machine itself on many systems.
  "10.0.0.0/8",
  "100.64.0.0/10", // Carriers' own.
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24", // Documentation, here and below.
  "192.88.99.0/24", // Relays of 6to4.
  "192.168.0.0/16",
  "198.18.0.0/15", // Benchmarks.
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // Multicast.
  "240.0.0.0/4", // Reserved, and broadcast.
);

/** IPv6 has one public block; within it these are not public. */
const PUBLIC_IPV6: readonly Network[] = networks("2000::/3");
const PRIVATE_IPV6: readonly Network[] = networks(
  "2001::/23", // Protocols, Teredo among them.
  "2001:db8::/32", // Documentation, here and below.
  "3fff::/20",
);

/** IPv6 addresses that lead to an IPv4 address, which stands in 4 of their bytes. */
const EMBEDDING: readonly (Network & { readonly at: number })[] = [
  ...networks("64:ff9b::/96").map((network) => ({ ...network, at: 12 })), // NAT64.
  ...networks("2002::/16").map((network) => ({ ...network, at: 2 })), // 6to4.
];

export function addressKind(address: AddressBytes): AddressKind {
  const embedded = embeddedAddress(address);
  if (embedded !== null) return addressKind(embedded);
  const isIn = (list: readonly Network[]): boolean => list.some(({ address: of, bits }) => isWithin(address, of, bits));
  if (isIn(METADATA)) return "metadata";
  if (address.length === 4) return isIn(PRIVATE_IPV4) ? "private" : "public";
  return isIn(PUBLIC_IPV6) && !isIn(PRIVATE_IPV6) ? "public" : "private";
}

/** The IPv4 address that an IPv6 address is translated to on its way, or null. */
export function embeddedAddress(address: AddressBytes): AddressBytes | null {
  const found = EMBEDDING.find(({ address: of, bits }) => isWithin(address, of, bits));
  return found === undefined ? null : address.slice(found.at, found.at + 4);
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map((text) => {
    const [written = "", bits = ""] = text.split("/");
    const address = parseAddress(written);
    assert(address !== null, `${text} is a network`);
    return { address, bits: Number(bits) };
  });
}

import { assert } from "@antiphon/base/assert.ts";
import { type AddressBytes, isUnicast, isWithin, parseAddress } from "./ip-address.ts";

/**
 * `metadata` addresses may serve credentials of the machine itself: link-local addresses, and the metadata addresses of
 * cloud providers.
 */
export type AddressKind = "public" | "private" | "metadata";

interface Network {
  readonly address: AddressBytes;
  readonly bits: number;
}

/** Metadata services of cloud providers, and link-local addresses. */
const METADATA = networks(
  "169.254.0.0/16", // Link-local, such as 169.254.169.254 and 169.254.170.2.
  "168.63.129.16/32", // Azure; within the public range.
  "100.100.100.200/32", // Alibaba.
  "192.0.0.192/32", // Oracle.
  "fe80::/10", // Link-local.
  "fd00:ec2::254/128", // AWS.
  "fd20:ce::254/128", // Google.
);

/** The one public block of IPv6. */
const PUBLIC_IPV6 = networks("2000::/3");

/** IPv6 networks whose addresses embed an IPv4 address in the 4 bytes from `at`. */
const EMBEDDING: readonly (Network & { readonly at: number })[] = [
  ...networks("64:ff9b::/96").map((network) => ({ ...network, at: 12 })), // NAT64.
  ...networks("2002::/16").map((network) => ({ ...network, at: 2 })), // 6to4.
];

/** An address is public if it is neither in the library's registries of special addresses nor in the lists above. */
export function addressKind(address: AddressBytes): AddressKind {
  const inner = embeddedAddress(address);
  if (inner !== null) return addressKind(inner);
  const isIn = (list: readonly Network[]): boolean => list.some(({ address: of, bits }) => isWithin(address, of, bits));
  if (isIn(METADATA)) return "metadata";
  if (!isUnicast(address)) return "private";
  return address.length === 4 || isIn(PUBLIC_IPV6) ? "public" : "private";
}

/** The IPv4 address that an IPv6 address is translated to, or null. */
export function embeddedAddress(address: AddressBytes): AddressBytes | null {
  const network = EMBEDDING.find(({ address: of, bits }) => isWithin(address, of, bits));
  return network === undefined ? null : address.slice(network.at, network.at + 4);
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map((text) => {
    const [addressText = "", bits = ""] = text.split("/");
    const address = parseAddress(addressText);
    assert(address !== null, `${text} is a network`);
    return { address, bits: Number(bits) };
  });
}

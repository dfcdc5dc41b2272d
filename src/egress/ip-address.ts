import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The bytes of an address, most significant first: 4 of IPv4, 16 of IPv6. */
export type AddressBytes = readonly number[];

/**
 * Reads an address as it is usually written; brackets and a zone are dropped, and an IPv4 address mapped into IPv6 is
 * the IPv4 address. Null for anything else.
 */
export function parseAddress(text: string): AddressBytes | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIP(bare) === 0) return null; // The library also reads 127.1, 017700000001 and 0x7f000001.
  const unmapped = bare.replace(/^::(?=\d+\.)/, "0::"); // To the library ::1.2.3.4 is ::ffff:1.2.3.4.
  return ipaddr.process(unmapped).toByteArray();
}

/** Whether the first `bits` of an address are those of `network`. Addresses of different families never match. */
export function isWithin(address: AddressBytes, network: AddressBytes, bits: number): boolean {
  return address.length === network.length && read(address).match(read(network), bits);
}

/** Whether an address is in none of the ranges that the library knows as special. */
export function isUnicast(address: AddressBytes): boolean {
  return read(address).range() === "unicast";
}

function read(address: AddressBytes): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.fromByteArray([...address]);
}

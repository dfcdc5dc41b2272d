import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The bytes of an address in network order: 4 for IPv4, 16 for IPv6. */
export type AddressBytes = readonly number[];

/**
 * Parses an address in its standard form. Drops brackets and a zone; an IPv4-mapped IPv6 address becomes the IPv4
 * address. Null for anything else.
 */
export function parseAddress(text: string): AddressBytes | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIP(bare) === 0) return null; // The library also accepts 127.1, 017700000001 and 0x7f000001.
  const plainAddress = bare.replace(/^::(?=\d+\.)/, "0::"); // The library reads ::1.2.3.4 as ::ffff:1.2.3.4.
  return ipaddr.process(plainAddress).toByteArray();
}

/** Whether the first `bits` of an address are those of `network`. Addresses of different families never match. */
export function isWithin(address: AddressBytes, network: AddressBytes, bits: number): boolean {
  return address.length === network.length && read(address).match(read(network), bits);
}

/** Whether the library lists the address in no special range. */
export function isUnicast(address: AddressBytes): boolean {
  return read(address).range() === "unicast";
}

function read(address: AddressBytes): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.fromByteArray([...address]);
}

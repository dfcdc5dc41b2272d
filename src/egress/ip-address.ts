import { isIPv4, isIPv6 } from "node:net";

/** The bytes of an address, most significant first: 4 of IPv4, 16 of IPv6. */
export type AddressBytes = readonly number[];

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Reads an address as it is usually written; brackets and a zone are dropped, and an IPv4 address mapped into IPv6 is
 * the IPv4 address. Null for anything else.
 */
export function parseAddress(text: string): AddressBytes | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIPv4(bare)) return bare.split(".").map(Number);
  if (!isIPv6(bare)) return null;
  const bytes = ipv6Bytes(bare);
  return startsWith(bytes, MAPPED_PREFIX) ? bytes.slice(12) : bytes;
}

/** Whether the first `bits` of an address are those of `network`. Addresses of different families never match. */
export function isWithin(address: AddressBytes, network: AddressBytes, bits: number): boolean {
  if (address.length !== network.length) return false;
  return network.every((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - kept)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}

function startsWith(bytes: AddressBytes, prefix: AddressBytes): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function ipv6Bytes(text: string): AddressBytes {
  const [head = "", tail] = text.split("::");
  const first = groupBytes(head);
  if (tail === undefined) return first;
  const last = groupBytes(tail);
  return [...first, ...Array.from({ length: 16 - first.length - last.length }, () => 0), ...last];
}

function groupBytes(groups: string): number[] {
  if (groups === "") return [];
  return groups.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

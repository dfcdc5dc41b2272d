import { networkInterfaces } from "node:os";

/** All addresses of this machine that anything can listen at, of version 4; 127.0.0.1 is one. */
export function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

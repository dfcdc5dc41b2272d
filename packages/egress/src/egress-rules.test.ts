import { describe, expect, test } from "vitest";
import { type EgressPolicy, EgressRules } from "./egress-rules.ts";
import { parseAddress } from "./ip-address.ts";

const PUBLIC: EgressPolicy = { mode: "public", allow: [], deny: [], ports: [80, 443] };

function permits(policy: Partial<EgressPolicy>, host: string, address: string, port = 443): boolean {
  return new EgressRules({ ...PUBLIC, ...policy }).permits({ host, address: parseAddress(address) ?? [], port });
}

type Case = readonly [
  what: string,
  policy: Partial<EgressPolicy>,
  target: readonly [host: string, address: string, port: number],
  expected: boolean,
];

const CASES: readonly Case[] = [
  ["a public address", {}, ["a.test", "8.8.8.8", 443], true],
  ["a public address at an unusual port", {}, ["a.test", "8.8.8.8", 25], false],
  ["a private address", {}, ["a.test", "10.0.0.1", 443], false],
  ["a host that is allowed, though private, at any port", { allow: ["a.test"] }, ["a.test", "10.0.0.1", 9000], true],
  ["a host that is allowed, in capitals and with a dot", { allow: ["A.test"] }, ["a.TEST.", "10.0.0.1", 443], true],
  ["another host", { allow: ["a.test"] }, ["b.test", "10.0.0.1", 443], false],
  ["a host below one that is allowed", { allow: ["a.test"] }, ["x.a.test", "10.0.0.1", 443], false],
  ["a host under a pattern", { allow: ["*.a.test"] }, ["x.y.a.test", "10.0.0.1", 443], true],
  ["the host above a pattern", { allow: ["*.a.test"] }, ["a.test", "10.0.0.1", 443], false],
  ["a host with the same ending", { allow: ["*.a.test"] }, ["evila.test", "10.0.0.1", 443], false],
  ["an allowed host at its port", { allow: ["a.test:9000"] }, ["a.test", "10.0.0.1", 9000], true],
  ["an allowed host at another port", { allow: ["a.test:9000"] }, ["a.test", "10.0.0.1", 9001], false],
  ["an allowed host that leads to metadata", { allow: ["a.test"] }, ["a.test", "169.254.169.254", 80], false],
  ["metadata that is allowed by its address", { allow: ["169.254.169.254"] }, ["m", "169.254.169.254", 80], true],
  ["an address that is allowed", { allow: ["127.0.0.1"] }, ["localhost", "127.0.0.1", 5000], true],
  ["the same address, mapped", { allow: ["127.0.0.1"] }, ["localhost", "::ffff:127.0.0.1", 5000], true],
  ["the next address", { allow: ["127.0.0.1"] }, ["localhost", "127.0.0.2", 5000], false],
  ["an address at its port", { allow: ["127.0.0.1:5000"] }, ["localhost", "127.0.0.1", 5000], true],
  ["an address at another port", { allow: ["127.0.0.1:5000"] }, ["localhost", "127.0.0.1", 5001], false],
  ["an IPv6 address at its port", { allow: ["[::1]:5000"] }, ["localhost", "::1", 5000], true],
  ["an IPv6 address at another port", { allow: ["[::1]:5000"] }, ["localhost", "::1", 5001], false],
  ["an address in an allowed network", { allow: ["10.0.0.0/8"] }, ["a.test", "10.9.9.9", 443], true],
  ["an address in an allowed IPv6 network", { allow: ["fd12::/16"] }, ["a.test", "fd12::1", 443], true],
  ["an address outside of an allowed IPv6 network", { allow: ["fd12::/16"] }, ["a.test", "fd13::1", 443], false],
  ["a private address that NAT64 leads to", { allow: ["10.0.0.0/8"] }, ["a.test", "64:ff9b::a00:1", 443], false],
  ["a host that is denied", { deny: ["a.test"] }, ["a.test", "8.8.8.8", 443], false],
  ["a host that is denied and allowed", { allow: ["a.test"], deny: ["*.test"] }, ["a.test", "8.8.8.8", 443], false],
  ["an address that is denied", { deny: ["8.8.0.0/16"] }, ["a.test", "8.8.8.8", 443], false],
  ["an address that is denied, through NAT64", { deny: ["8.8.8.8"] }, ["a.test", "64:ff9b::808:808", 443], false],
  ["a public address in the mode listed", { mode: "listed" }, ["a.test", "8.8.8.8", 443], false],
  ["an allowed host in the mode listed", { mode: "listed", allow: ["a.test"] }, ["a.test", "8.8.8.8", 443], true],
  ["an allowed host in the mode off", { mode: "off", allow: ["a.test"] }, ["a.test", "8.8.8.8", 443], false],
];

describe("the rules of outgoing calls", () => {
  test.each(CASES)("%s", (_what, policy, target, expected) => expect(permits(policy, ...target)).toBe(expected));

  test.each([
    "",
    "a b",
    "http://a.test",
    "10.0.0.0/33",
    "::/129",
    "a.test:99999",
    "*",
    "*.",
    "a.*.test",
    "-a",
    "1.2.3.4/x",
  ])("%j is rejected as a rule", (entry) =>
    expect(() => new EgressRules({ ...PUBLIC, allow: [entry] })).toThrow(RangeError),
  );
});

import { type AddressKind, addressKind, embeddedAddress } from "./address-kind.ts";
import { type AddressBytes, isWithin, parseAddress } from "./ip-address.ts";

/**
 * `public`: calls may go to public addresses and to allowed destinations. `listed`: only to allowed destinations.
 * `off`: nowhere.
 */
export type EgressMode = "public" | "listed" | "off";

/** The configured destinations of calls that clients cause. */
export interface EgressPolicy {
  readonly mode: EgressMode;
  /**
   * Allowed hosts (`cdn.example.com`, `*.example.com`), addresses and networks (`10.0.0.0/8`). Hosts and addresses may
   * have a port, which limits the rule to it. Private ones are possible.
   */
  readonly allow: readonly string[];
  /** Denied destinations, in the same form. They override `allow`. */
  readonly deny: readonly string[];
  /** Allowed ports of destinations that are not in `allow`. */
  readonly ports: readonly number[];
}

type Rule =
  | { readonly type: "network"; readonly address: AddressBytes; readonly bits: number; readonly port: number | null }
  | { readonly type: "host"; readonly name: string; readonly port: number | null };

/** A possible destination: a host by name or address, one of its addresses, and the port. */
export interface Destination {
  readonly host: string;
  readonly address: AddressBytes;
  readonly port: number;
}

/** The parsed policy. */
export class EgressRules {
  readonly mode: EgressMode;
  readonly #allow: readonly Rule[];
  readonly #deny: readonly Rule[];
  readonly #ports: ReadonlySet<number>;

  /** Throws `RangeError` for an entry that is neither a host nor a network, and for an invalid port. */
  constructor({ mode, allow, deny, ports }: EgressPolicy) {
    this.mode = mode;
    this.#allow = allow.map(parseRule);
    this.#deny = deny.map(parseRule);
    const invalid = ports.find((port) => !isPort(port));
    if (invalid !== undefined) throw new RangeError("a port is a whole number from 1 to 65535");
    this.#ports = new Set(ports);
  }

  permits(destination: Destination): boolean {
    if (this.mode === "off" || this.#deny.some((rule) => matchesRule(rule, destination, true))) return false;
    const kind = addressKind(destination.address);
    if (this.#allow.some((rule) => matchesRule(rule, destination, false) && mayReach(rule, kind))) return true;
    return this.mode === "public" && kind === "public" && this.#ports.has(destination.port);
  }
}

/** Rules by host name may lead to private addresses, but metadata addresses must be allowed by address. */
function mayReach(rule: Rule, kind: AddressKind): boolean {
  return rule.type === "network" || kind !== "metadata";
}

function matchesRule(rule: Rule, { host, address, port }: Destination, includesEmbedded: boolean): boolean {
  if (rule.port !== null && rule.port !== port) return false;
  if (rule.type === "host") return matchesName(rule.name, host);
  const inner = includesEmbedded ? embeddedAddress(address) : null;
  return isWithin(address, rule.address, rule.bits) || (inner !== null && isWithin(inner, rule.address, rule.bits));
}

function matchesName(name: string, host: string): boolean {
  const plainHost = host.toLowerCase().replace(/\.$/, "");
  return name.startsWith("*.") ? plainHost.endsWith(name.slice(1)) : plainHost === name;
}

function parseRule(text: string): Rule {
  const network = /^(\[[\d:a-f.]+\]|[\d.]+|[\da-f:]+:[\d:a-f.]*)(?:\/(\d{1,3}))?$/i.exec(text);
  const withPort = /^(\[[\d:a-f.]+\]|[\w.*-]+)(?::(\d{1,5}))$/i.exec(text);
  const rule = networkRule(network?.[1], network?.[2], null) ?? rulesWithPort(withPort?.[1] ?? text, withPort?.[2]);
  if (rule === null) throw new RangeError(`'${text}' is neither a host nor a network`);
  return rule;
}

function rulesWithPort(host: string, port: string | undefined): Rule | null {
  const number = port === undefined ? null : Number(port);
  if (number !== null && !isPort(number)) return null;
  const network = networkRule(host, undefined, number);
  if (network !== null) return network;
  if (!/^(?:\*\.)?[a-z\d_](?:[a-z\d._-]*[a-z\d_])?$/i.test(host)) return null;
  return { type: "host", name: host.toLowerCase(), port: number };
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

function networkRule(addressText: string | undefined, bits: string | undefined, port: number | null): Rule | null {
  const address = addressText === undefined ? null : parseAddress(addressText);
  if (address === null) return null;
  const size = address.length * 8;
  const prefix = bits === undefined ? size : Number(bits);
  return prefix > size ? null : { type: "network", address, bits: prefix, port };
}

import type { LookupFunction } from "node:net";
import { Agent } from "undici";
import type { ResolvedAddress } from "./find-route.ts";

const AGENTS_MAX = 64;
const CONNECTIONS_PER_AGENT_MAX = 256;
const HEADER_BYTES_MAX = 32 * 1024;

/**
 * Idle connections for later calls, each to a checked address. A call gets only connections to addresses from its own
 * check.
 */
export class AddressPool {
  readonly #connectTimeoutMs: number;
  readonly #agents = new Map<string, Agent>();

  constructor(connectTimeoutMs: number) {
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  agent(origin: string, addresses: readonly ResolvedAddress[]): Agent {
    const key = [origin, ...addresses.map(({ address }) => address).toSorted()].join(" ");
    const earlier = this.#agents.get(key);
    const agent = earlier ?? this.#newAgent(addresses);
    this.#agents.delete(key); // Orders the map by last use.
    this.#agents.set(key, agent);
    if (earlier === undefined) this.#makeRoom();
    return agent;
  }

  #newAgent(addresses: readonly ResolvedAddress[]): Agent {
    return new Agent({
      connections: CONNECTIONS_PER_AGENT_MAX,
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: 0, // The signal of each call sets its limit.
      bodyTimeout: 0,
      connect: { timeout: this.#connectTimeoutMs, lookup: pinnedLookup(addresses) },
    });
  }

  /** Calls of the removed agent continue to their end. */
  #makeRoom(): void {
    const [oldest] = this.#agents;
    if (this.#agents.size <= AGENTS_MAX || oldest === undefined) return;
    this.#agents.delete(oldest[0]);
    void oldest[1].close().catch(() => {});
  }
}

/** Answers every look-up with these addresses. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  const [first] = addresses;
  return (_host, options, callback) => {
    if (first === undefined) callback(new Error("no address"), "");
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

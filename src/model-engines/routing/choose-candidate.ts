import { LRUCache } from "lru-cache";
import type { Candidate, Route } from "./route-table.ts";

/** Conversations whose server is remembered, and how long their prefix may stay cached there, in milliseconds. */
const CONVERSATIONS_MAX = 20_000;
const PREFIX_MS = 15 * 60_000;
/** Requests under way more than elsewhere for which a server with a cached prefix is still preferred. */
const SLACK = 8;

/** Which candidate a conversation had, by the start of its prompt. */
export class Affinities {
  readonly #servers = new LRUCache<string, string>({ max: CONVERSATIONS_MAX, ttl: PREFIX_MS });

  serverOf(conversation: string): string | null {
    return this.#servers.get(conversation) ?? null;
  }

  remember(conversation: string, server: string): void {
    this.#servers.set(conversation, server);
  }
}

/**
 * The candidate to ask next; null if each one asked for a pause. Servers whose breaker is open come last: they are
 * asked rather than nobody. `cachedAt` names the server with the prefix of the conversation.
 */
export function chooseCandidate(
  { spread }: Pick<Route, "spread">,
  candidates: readonly Candidate[],
  cachedAt: string | null,
): Candidate | null {
  const first = spread ? undefined : candidates.find(isFree);
  if (first !== undefined) return first;
  const willing = candidates.filter(({ server: { health } }) => health.pauseMs === 0);
  const working = willing.filter(({ server: { health } }) => health.state !== "open");
  const free = working.filter(isFree);
  const queued = working.filter(({ server: { health } }) => health.isFull && health.hasRoomToWait);
  for (const group of [free, queued]) {
    const chosen = spread ? leastBusy(group, cachedAt) : group[0];
    if (chosen !== undefined) return chosen;
  }
  return willing.find(({ server: { health } }) => !health.isFull || health.hasRoomToWait) ?? null;
}

function isFree({ server: { health } }: Candidate): boolean {
  return health.pauseMs === 0 && health.state !== "open" && !health.isFull;
}

function leastBusy(candidates: readonly Candidate[], cachedAt: string | null): Candidate | undefined {
  const loadOf = ({ server: { health }, weight }: Candidate): number =>
    (health.underWay + health.queueLength + 1) / Math.max(weight, Number.MIN_VALUE);
  const least = candidates.reduce<Candidate | undefined>(
    (best, candidate) => (best === undefined || loadOf(candidate) < loadOf(best) ? candidate : best),
    undefined,
  );
  const cached = candidates.find(({ server }) => server.name === cachedAt);
  if (cached === undefined || least === undefined) return least;
  return cached.server.health.underWay <= least.server.health.underWay + SLACK ? cached : least;
}

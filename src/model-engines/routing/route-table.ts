import type { EngineKind } from "@antiphon/base/ledger/ledger-note.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { LRUCache } from "lru-cache";
import type { ServerHealth } from "./server-health.ts";

/** A model server that routes lead to. */
export interface RoutedServer {
  readonly name: string;
  readonly engine: ModelEngine;
  /** The engine's column in the field ledger. */
  readonly kind: EngineKind;
  readonly health: ServerHealth;
  /** How long the first piece of an answer may take if another server could answer, in milliseconds. */
  readonly firstEventMs: number;
}

/** A server and the name that it has for the model. */
export interface Candidate {
  readonly server: RoutedServer;
  readonly model: string;
  readonly weight: number;
}

/** A model's name, or a pattern with one `*`, and who answers for it. */
export interface RouteEntry {
  readonly name: string;
  /** The preferred one first. A model of null stands for the asked name; a `*` for what the pattern's `*` matched. */
  readonly steps: readonly { readonly server: RoutedServer; readonly model: string | null; readonly weight: number }[];
  /** Whether requests are spread by weight and load. */
  readonly spread: boolean;
  /** In tokens; null for what the servers say. */
  readonly window: number | null;
  readonly listed: boolean;
  /** Who may use it, as organizations and projects; null for everybody. */
  readonly owners: readonly string[] | null;
}

/** Who answers for an asked name. */
export interface Route extends Pick<RouteEntry, "spread" | "window" | "owners"> {
  readonly candidates: readonly [Candidate, ...Candidate[]];
  /** What every candidate reads, because each may be the one that answers. */
  readonly abilities: ModelAbilities;
}

/** The most asked names whose routes are remembered. */
const FOUND_MAX = 1_000;

/** Finds routes: by the exact name first, then by the pattern with the longest text, then the default. */
export class RouteTable {
  readonly servers: readonly RoutedServer[];
  readonly entries: readonly RouteEntry[];
  readonly #exact: ReadonlyMap<string, RouteEntry>;
  readonly #patterns: readonly RouteEntry[];
  readonly #default: RouteEntry | null;
  readonly #found = new LRUCache<string, Route>({ max: FOUND_MAX });

  constructor(servers: readonly RoutedServer[], entries: readonly RouteEntry[], defaultModel: string | null) {
    this.servers = servers;
    this.entries = entries;
    this.#exact = new Map(entries.filter(({ name }) => !isPattern(name)).map((entry) => [entry.name, entry]));
    this.#patterns = entries.filter(({ name }) => isPattern(name)).toSorted((a, b) => b.name.length - a.name.length);
    this.#default = entries.find(({ name }) => name === defaultModel) ?? null;
  }

  /** Null if no name, pattern or default leads anywhere. */
  find(model: string): Route | null {
    const earlier = this.#found.get(model);
    if (earlier !== undefined) return earlier;
    const route = this.#search(model);
    if (route !== null) this.#found.set(model, route);
    return route;
  }

  /** Whether a name or a pattern leads somewhere. What only the default answers for does not count. */
  names(model: string): boolean {
    return this.#exact.has(model) || this.#patterns.some(({ name }) => matchOf(name, model) !== null);
  }

  #search(model: string): Route | null {
    const exact = this.#exact.get(model);
    if (exact !== undefined) return routeOf(exact, model, "");
    for (const entry of this.#patterns) {
      const matched = matchOf(entry.name, model);
      if (matched !== null) return routeOf(entry, model, matched);
    }
    return this.#default === null || model === "" ? null : routeOf(this.#default, this.#default.name, "");
  }
}

export function isPattern(name: string): boolean {
  return name.includes("*");
}

/** What the `*` of a pattern stands for in a name; null if the name does not match. */
export function matchOf(pattern: string, name: string): string | null {
  const [before = "", after = ""] = pattern.split("*");
  const fits = name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
  return fits ? name.slice(before.length, name.length - after.length) : null;
}

function routeOf({ steps, spread, window, owners }: RouteEntry, asked: string, matched: string): Route | null {
  const [first, ...others] = steps.map(({ server, model, weight }) => ({
    server,
    weight,
    model: model === null ? asked : model.replace("*", matched),
  }));
  if (first === undefined) return null;
  const candidates: Route["candidates"] = [first, ...others];
  return { candidates, spread, window, owners, abilities: commonAbilities(candidates) };
}

function commonAbilities(candidates: Route["candidates"]): ModelAbilities {
  const all = candidates.map(({ server, model }) => server.engine.abilitiesOf(model));
  return {
    images: all.every(({ images }) => images),
    imageUrls: all.every(({ imageUrls }) => imageUrls),
    files: all.every(({ files }) => files),
    audioFormats: (all[0]?.audioFormats ?? []).filter((format) =>
      all.every(({ audioFormats }) => audioFormats.includes(format)),
    ),
  };
}

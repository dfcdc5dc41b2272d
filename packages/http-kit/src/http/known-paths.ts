import type { Contract } from "../contract.ts";

/** The sources of an interface's fixed paths. */
export interface KnownPaths {
  readonly contract: Pick<Contract, "routes">;
  readonly assetPaths: readonly string[];
  readonly upgradePaths: readonly string[];
}

const READING = ["GET", "HEAD"];

/**
 * The methods of each path without parameters. Such a path is never matched as an id: `/v1/responses/compact` is not a
 * response.
 */
export function fixedPaths({
  contract,
  assetPaths,
  upgradePaths,
}: KnownPaths): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map<string, Set<string>>();
  const add = (path: string, names: readonly string[]): void => {
    methods.set(path, new Set([...(methods.get(path) ?? []), ...names]));
  };
  for (const { path, method } of contract.routes) {
    if (!path.includes(":")) add(path, method === "get" ? READING : [method.toUpperCase()]);
  }
  for (const path of assetPaths) add(path, READING);
  // If the path also serves plain requests, their methods stay.
  for (const path of upgradePaths) if (!methods.has(path)) add(path, ["GET"]);
  return methods;
}

/** The value of the header `Allow`. */
export function allowHeader(methods: Iterable<string>): string {
  return [...new Set([...methods, "OPTIONS"])].toSorted().join(", ");
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { parse, parseAllDocuments } from "yaml";
import { SETTINGS } from "../../src/config/settings.ts";

export const ROOT = join(import.meta.dirname, "../..");

/** Settings that are not in the table yet, and those of the programs that nodes run with. */
const OTHER_VARIABLES = ["NODE_ENV", "MALLOC_ARENA_MAX"];
const KNOWN: ReadonlySet<string> = new Set([...Object.values(SETTINGS).map(({ name }) => name), ...OTHER_VARIABLES]);

export function readRoot(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** One YAML document, with its anchors and merges. */
export function readYaml(text: string): unknown {
  return parse(text, { merge: true });
}

/** All documents of a text that are not empty. */
export function readManifests(text: string): readonly unknown[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((value) => value !== null);
}

/** The member at a path such as `spec.template`; a number is a place in a list. Undefined if it is not there. */
export function at(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, name) => (Array.isArray(inner) ? inner[Number(name)] : isRecord(inner) ? inner[name] : undefined),
      value,
    );
}

/** The one manifest of a kind. */
export function manifestOf(manifests: readonly unknown[], kind: string): unknown {
  const found = manifests.filter((manifest) => at(manifest, "kind") === kind);
  if (found.length !== 1) throw new Error(`${found.length} manifests are of the kind ${kind}`);
  return found[0];
}

/** Names that no setting has. A misspelt one would be ignored in silence. */
export function unknownVariables(names: readonly string[]): readonly string[] {
  return names.filter((name) => !KNOWN.has(name));
}

/** Reads `10s` and `310s`, as this project's settings, HAProxy and Compose write durations. */
export function secondsOf(text: unknown): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h)$/.exec(String(text)) ?? [];
  const factor = { ms: 0.001, s: 1, m: 60, h: 3600 }[unit ?? ""];
  if (count === undefined || factor === undefined) throw new Error(`${String(text)} is no duration`);
  return Number(count) * factor;
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repository } from "./contracts.ts";

/** A generated file: its path from the repository's root and its text. */
export interface Output {
  readonly path: string;
  readonly text: string;
}

export interface Difference {
  readonly path: string;
  readonly state: "same" | "changed" | "new" | "stale";
  readonly bytes: number;
}

/** Compares generated/ with the outputs. `kept` lists files that could not be generated and stay unchanged. */
export function compareOutputs(outputs: readonly Output[], kept: readonly string[]): readonly Difference[] {
  const wanted = new Set([...outputs.map(({ path }) => path), ...kept]);
  const stale = filesUnder("generated").filter((path) => !wanted.has(path));
  return [
    ...outputs.map((output) => ({ path: output.path, state: stateOf(output), bytes: Buffer.byteLength(output.text) })),
    ...stale.map((path) => ({ path, state: "stale" as const, bytes: 0 })),
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Writes changed files and deletes stale ones. An unchanged file keeps its modification time. */
export function applyDifferences(outputs: readonly Output[], differences: readonly Difference[]): void {
  const texts = new Map(outputs.map(({ path, text }) => [path, text]));
  for (const { path, state } of differences) {
    const file = join(repository, path);
    if (state === "stale") rmSync(file);
    if (state !== "new" && state !== "changed") continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, texts.get(path) ?? "");
  }
}

function stateOf({ path, text }: Output): "same" | "changed" | "new" {
  const present = readIfPresent(join(repository, path));
  if (present === null) return "new";
  return present === text ? "same" : "changed";
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function filesUnder(folder: string): readonly string[] {
  if (!existsSync(join(repository, folder))) return [];
  const entries = readdirSync(join(repository, folder), { recursive: true, withFileTypes: true });
  const prefix = repository.length;
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(prefix));
}

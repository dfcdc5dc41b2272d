import type { Module } from "./import-graph.ts";

/** Folders of one level, below `parent`, that import each other in a circle, sorted by name. */
export interface Knot {
  readonly parent: string;
  readonly folders: readonly string[];
}

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

const TEST = /[.](test|fixture)[.]tsx?$/;

/** All knots of the folders below these roots, the largest first. Tests and fixtures do not count. */
export function findKnots(modules: readonly Module[], roots: readonly string[]): Knot[] {
  const files = modules.filter(({ path }) => roots.some((root) => path.startsWith(`${root}/`)) && !TEST.test(path));
  const parents = new Set(files.flatMap(({ path }) => ancestorsOf(path)));
  return [...parents]
    .flatMap((parent) => circles(arrowsBelow(parent, files)).map((folders) => ({ parent, folders })))
    .toSorted((one, other) => other.folders.length - one.folders.length || one.parent.localeCompare(other.parent));
}

function ancestorsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join("/"));
}

/** Which folders directly below the parent import which. */
function arrowsBelow(parent: string, files: readonly Module[]): Arrows {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const from = folderBelow(parent, path);
    if (from === null) continue;
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    for (const { to } of imports) {
      const target = TEST.test(to) ? null : folderBelow(parent, to);
      if (target !== null && target !== from) targets.add(target);
    }
  }
  return arrows;
}

function folderBelow(parent: string, path: string): string | null {
  if (!path.startsWith(`${parent}/`)) return null;
  const [folder, ...others] = path.slice(parent.length + 1).split("/");
  return folder === undefined || others.length === 0 ? null : folder;
}

/** The sets of two and more folders of which each reaches each other. */
function circles(arrows: Arrows): string[][] {
  const reached = new Map([...arrows.keys()].map((folder) => [folder, reachedFrom(folder, arrows)]));
  const reaches = (from: string, to: string): boolean => reached.get(from)?.has(to) === true;
  const found = new Map<string, string[]>();
  for (const folder of arrows.keys()) {
    const circle = [...arrows.keys()].filter((other) => reaches(folder, other) && reaches(other, folder)).toSorted();
    if (circle.length > 1) found.set(circle.join(" "), circle);
  }
  return [...found.values()];
}

function reachedFrom(start: string, arrows: Arrows): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const target of arrows.get(folder) ?? [])
      if (!reached.has(target)) {
        reached.add(target);
        open.push(target);
      }
  return reached;
}

import { findKnots } from "./find-knots.ts";
import type { Import, Module } from "./import-graph.ts";
import type { ImportRule } from "./import-rule.ts";
import { IMPORT_RULES } from "./import-rules.ts";

export interface ImportFault {
  readonly rule: string;
  readonly sentence: string;
  /** `src/runs/a.ts:3 imports npm:koa` */
  readonly what: string;
}

/** A folder of packages/, such as `packages/base`, and what its manifest names. */
export interface Workspace {
  readonly folder: string;
  readonly dependencies: readonly string[];
  /** Only tests and types may need them. */
  readonly devDependencies: readonly string[];
}

export interface ImportGraph {
  readonly modules: readonly Module[];
  /** The runtime dependencies of our package. */
  readonly dependencies: readonly string[];
  readonly workspaces: readonly Workspace[];
}

type RuleOf<Kind extends ImportRule["kind"]> = Extract<ImportRule, { kind: Kind }>;

const OURS = /^(src|packages|generated|tests|contract-tests|scripts|web)\//;

/** All broken rules, in the order of the rules. */
export function findImportFaults(graph: ImportGraph): ImportFault[] {
  return IMPORT_RULES.flatMap((rule) =>
    findFaults(rule, graph).map((what) => ({ rule: rule.name, sentence: rule.sentence, what })),
  );
}

function findFaults(rule: ImportRule, graph: ImportGraph): string[] {
  switch (rule.kind) {
    case "may-import-only":
      return badImports(graph, rule.from, ({ to }) => OURS.test(to) && !rule.to.test(to));
    case "never-imports":
      return badImports(graph, rule.from, ({ to }) => rule.to.test(to));
    case "ships-what-it-imports":
      return badImports(graph, rule.from, (found) => isUndeclared(found, graph.dependencies));
    case "declares-what-it-imports":
      return graph.workspaces.flatMap((workspace) => findUndeclared(workspace, graph));
    case "never-mixes":
      return findMixing(rule, graph);
    case "never-uses":
      return findUses(rule, graph);
    case "is-reached":
      return findUnreached(rule, graph);
    case "has-no-cycles":
      return findCycles(graph);
    case "has-no-knots":
      return findKnots(graph.modules, rule.roots).map(({ parent, folders }) => `${parent}: ${folders.join(", ")}`);
  }
}

function badImports({ modules }: ImportGraph, from: RegExp, isBad: (found: Import) => boolean): string[] {
  return modules
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, imports }) => imports.filter(isBad).map(({ to, line }) => `${path}:${line} imports ${to}`));
}

/** Types are erased, so a package that is only imported for types need not be a dependency. */
function isUndeclared({ to, isType }: Import, dependencies: readonly string[]): boolean {
  return to.startsWith("npm:") && !isType && !dependencies.includes(to.slice("npm:".length));
}

const TEST = /[.](test|fixture)[.]ts$/;
/** The name of the workspace of a file. */
const WORKSPACE = /^(?:packages\/([^/]+)|(generated))\//;

/**
 * Names of other workspaces, and of npm's packages outside tests. The published client is compiled with the workspaces
 * that it imports, so it may name them for development only.
 */
function findUndeclared({ folder, dependencies, devDependencies }: Workspace, { modules }: ImportGraph): string[] {
  const named = [...dependencies, ...devDependencies];
  const isUnnamed = ({ to }: Import): boolean =>
    WORKSPACE.test(to) && !to.startsWith(`${folder}/`) && !named.includes(workspaceName(to));
  return modules
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .flatMap(({ path, imports }) =>
      imports
        .filter((found) => isUnnamed(found) || (!TEST.test(path) && isUndeclared(found, dependencies)))
        .map(({ to, line }) => `${path}:${line} imports ${to}`),
    );
}

function workspaceName(path: string): string {
  const [, name, generated] = WORKSPACE.exec(path) ?? [];
  return `@antiphon/${generated === undefined ? name : "contracts"}`;
}

function findMixing({ folder }: RuleOf<"never-mixes">, graph: ImportGraph): string[] {
  return graph.modules.flatMap(({ path, imports }) => {
    const own = folder.exec(path)?.[1];
    if (own === undefined) return [];
    const others = imports.filter(({ to }) => folder.test(to) && folder.exec(to)?.[1] !== own);
    return others.map(({ to, line }) => `${path}:${line} imports ${to}`);
  });
}

function findUses({ from, use }: RuleOf<"never-uses">, { modules }: ImportGraph): string[] {
  return modules
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, uses }) =>
      uses.filter(({ name }) => use.test(name)).map(({ name, line }) => `${path}:${line} uses ${name}`),
    );
}

function findUnreached({ what, roots }: RuleOf<"is-reached">, { modules }: ImportGraph): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reached = new Set<string>();
  const waiting = modules.map(({ path }) => path).filter((path) => roots.test(path));
  if (waiting.length === 0 && modules.some(({ path }) => what.test(path)))
    return [`no file is a root: ${roots.source}`];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(byPath.get(path)?.imports.map(({ to }) => to) ?? []));
  }
  return modules.filter(({ path }) => what.test(path) && !reached.has(path)).map(({ path }) => path);
}

/** Finds cycles depth first, one for each module that closes one: `a.ts → b.ts → a.ts`. */
function findCycles({ modules }: ImportGraph): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
      return;
    }
    for (const { to } of byPath.get(path)?.imports ?? []) if (byPath.has(to)) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const { path } of modules) visit(path, []);
  return cycles;
}

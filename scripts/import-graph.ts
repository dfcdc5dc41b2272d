import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import { type Node, type Program, parseSync, Visitor, type VisitorObject } from "oxc-parser";

export interface SourceFile {
  /** From the repository's root. */
  readonly path: string;
  readonly code: string;
}

export interface Import {
  /** `src/runs/start-run.ts` for a file of ours, `node:http` for a part of Node, `npm:koa` for a package. */
  readonly to: string;
  readonly line: number;
  readonly isType: boolean;
}

/** A global that a rule may forbid, such as `process.env`, `new Date` or `setTimeout`. */
export interface Use {
  readonly name: string;
  readonly line: number;
}

export interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  readonly uses: readonly Use[];
}

type Place = { readonly start: number };
type Follow = (specifier: string, place: Place, isType: boolean) => void;
type Report = (name: string, place: Place) => void;

const OBJECTS_WATCHED: ReadonlySet<string> = new Set([
  "process",
  "Date",
  "Math",
  "crypto",
  "performance",
  "navigator",
  "window",
  "globalThis",
]);
const CONNECTIONS_WATCHED = /^(EventSource|WebSocket|XMLHttpRequest)$/;
const FUNCTIONS_WATCHED = /^(fetch|queueMicrotask|setImmediate|setInterval|setTimeout)$/;

/** Reads the imports of a file, types included, and the watched globals it uses. */
export function readModule({ path, code }: SourceFile): Module {
  const program = parseProgram({ path, code });
  const lineOf = (place: Place): number => code.slice(0, place.start).split("\n").length;
  const imports: Import[] = [];
  const uses: Use[] = [];
  const follow: Follow = (to, place, isType) => imports.push({ to: resolve(path, to), line: lineOf(place), isType });
  const report: Report = (name, place) => uses.push({ name, line: lineOf(place) });
  new Visitor(importVisitor(follow)).visit(program);
  new Visitor(useVisitor(report)).visit(program);
  return { path, imports, uses };
}

/** The names of the functions at the top level of a file, exported or not. */
export function readFunctionNames(file: SourceFile): string[] {
  return parseProgram(file).body.flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type === "FunctionDeclaration") return nameOf(declaration.id) ?? [];
    if (declaration?.type !== "VariableDeclaration") return [];
    return declaration.declarations.flatMap(({ id, init }) =>
      init?.type === "ArrowFunctionExpression" || init?.type === "FunctionExpression" ? (nameOf(id) ?? []) : [],
    );
  });
}

function parseProgram({ path, code }: SourceFile): Program {
  const { program, errors } = parseSync(path, code);
  const [fault] = errors;
  if (fault !== undefined) throw new Error(`${path} cannot be parsed: ${fault.message}`);
  return program;
}

function importVisitor(follow: Follow): VisitorObject {
  return {
    ImportDeclaration: (node) => follow(node.source.value, node, node.importKind === "type"),
    ExportAllDeclaration: (node) => follow(node.source.value, node, node.exportKind === "type"),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) follow(node.source.value, node, node.exportKind === "type");
    },
    ImportExpression: (node) => {
      const specifier = textOf(node.source);
      if (specifier !== null) follow(specifier, node, false);
    },
    TSImportType: (node) => follow(node.source.value, node, true),
    NewExpression: (node) => {
      // new URL("worker.ts", import.meta.url) names a file that another process or thread runs.
      const [name, base] = node.arguments;
      if (nameOf(node.callee) !== "URL" || base?.type !== "MemberExpression" || base.object.type !== "MetaProperty")
        return;
      const file = textOf(name);
      if (file?.endsWith(".ts") === true) follow(file.startsWith(".") ? file : `./${file}`, node, false);
    },
  };
}

function useVisitor(report: Report): VisitorObject {
  return {
    MemberExpression: (node) => {
      const object = nameOf(node.object);
      const property = node.computed ? textOf(node.property) : nameOf(node.property);
      if (object !== null && property !== null && OBJECTS_WATCHED.has(object)) report(`${object}.${property}`, node);
    },
    VariableDeclarator: (node) => {
      const object = nameOf(node.init);
      if (object === null || !OBJECTS_WATCHED.has(object) || node.id.type !== "ObjectPattern") return;
      for (const property of node.id.properties) {
        const key = property.type === "Property" ? nameOf(property.key) : null;
        if (key !== null) report(`${object}.${key}`, node);
      }
    },
    CallExpression: (node) => {
      const callee = nameOf(node.callee);
      if (callee !== null && FUNCTIONS_WATCHED.test(callee)) report(callee, node);
    },
    NewExpression: (node) => {
      const name = nameOf(node.callee);
      if (name === "Date" && node.arguments.length === 0) report("new Date", node);
      if (name !== null && CONNECTIONS_WATCHED.test(name)) report(`new ${name}`, node);
    },
  };
}

function nameOf(node: Node | null): string | null {
  return node?.type === "Identifier" ? node.name : null;
}

function textOf(node: Node | undefined): string | null {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

/** `@antiphon/base/ids.ts`, by the name of its workspace. */
const WORKSPACE_FILE = /^@antiphon\/([^/]+)\/(.+)$/;

function resolve(path: string, specifier: string): string {
  if (specifier.startsWith(".")) return join(dirname(path), specifier);
  const [, workspace, file = ""] = WORKSPACE_FILE.exec(specifier) ?? [];
  if (workspace !== undefined) return join(workspace === "contracts" ? "generated" : `packages/${workspace}/src`, file);
  if (isBuiltin(specifier)) return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
  const [scope = "", name = ""] = specifier.split("/");
  return `npm:${scope.startsWith("@") ? `${scope}/${name}` : scope}`;
}

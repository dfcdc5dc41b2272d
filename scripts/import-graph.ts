import { isBuiltin } from "node:module";
import { dirname, join } from "node:path/posix";
import { type Node, parseSync, type VisitorObject, Visitor } from "oxc-parser";

export interface SourceFile {
  /** From the repository's root. */
  readonly path: string;
  readonly code: string;
}

export interface Import {
  /** `src/base/ids.ts` for a file of ours, `node:http` for a part of Node, `npm:koa` for a package. */
  readonly to: string;
  readonly line: number;
  readonly isType: boolean;
}

/** A global that some rules care about, such as `process.env` or `setTimeout`. */
export interface Use {
  readonly name: string;
  readonly line: number;
}

export interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  readonly uses: readonly Use[];
}

const OBJECTS_WATCHED: ReadonlySet<string> = new Set(["process", "Date", "Math", "crypto", "performance"]);
const FUNCTIONS_WATCHED: ReadonlySet<string> = new Set([
  "fetch",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

/** What one file imports, types included, and which watched globals it uses. */
export function readModule({ path, code }: SourceFile): Module {
  const parsed = parseSync(path, code);
  const [fault] = parsed.errors;
  if (fault !== undefined) throw new Error(`${path} cannot be parsed: ${fault.message}`);
  const imports: Import[] = [];
  const uses: Use[] = [];
  const lineAt = (offset: number): number => code.slice(0, offset).split("\n").length;
  const follow = (specifier: string, node: { start: number }, isType = false): void => {
    imports.push({ to: resolve(path, specifier), line: lineAt(node.start), isType });
  };
  const use = (name: string, node: { start: number }): void => {
    uses.push({ name, line: lineAt(node.start) });
  };
  new Visitor({ ...importVisitor(follow), ...useVisitor(use) }).visit(parsed.program);
  return { path, imports, uses };
}

function importVisitor(follow: (specifier: string, node: { start: number }, isType?: boolean) => void): VisitorObject {
  return {
    ImportDeclaration: (node) => follow(node.source.value, node, node.importKind === "type"),
    ExportAllDeclaration: (node) => follow(node.source.value, node, node.exportKind === "type"),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) follow(node.source.value, node, node.exportKind === "type");
    },
    ImportExpression: (node) => followText(node.source, (specifier) => follow(specifier, node)),
    TSImportType: (node) => follow(node.source.value, node, true),
    NewExpression: (node) => {
      // new URL("./worker.ts", import.meta.url) is how a file names one that another process runs.
      const [first, second] = node.arguments;
      if (!isIdentifier(node.callee, "URL") || second?.type !== "MemberExpression" || first === undefined) return;
      if (second.object.type !== "MetaProperty") return;
      followText(first, (specifier) => {
        if (specifier.endsWith(".ts")) follow(specifier.startsWith(".") ? specifier : `./${specifier}`, node);
      });
    },
  };
}

function useVisitor(use: (name: string, node: { start: number }) => void): VisitorObject {
  return {
    MemberExpression: (node) => {
      if (node.object.type !== "Identifier" || !OBJECTS_WATCHED.has(node.object.name)) return;
      if (node.property.type === "Identifier") use(`${node.object.name}.${node.property.name}`, node);
      else followText(node.property, (name) => use(`${sourceName(node.object)}.${name}`, node));
    },
    VariableDeclarator: (node) => {
      if (node.id.type !== "ObjectPattern" || node.init?.type !== "Identifier") return;
      if (!OBJECTS_WATCHED.has(node.init.name)) return;
      for (const property of node.id.properties) {
        if (property.type === "Property" && property.key.type === "Identifier")
          use(`${node.init.name}.${property.key.name}`, node);
      }
    },
    CallExpression: (node) => {
      if (node.callee.type === "Identifier" && FUNCTIONS_WATCHED.has(node.callee.name)) use(node.callee.name, node);
    },
    NewExpression: (node) => {
      if (isIdentifier(node.callee, "Date") && node.arguments.length === 0) use("new Date", node);
    },
  };
}

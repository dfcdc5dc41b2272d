import { basename } from "node:path/posix";
import { parseSync } from "oxc-parser";
import type { TextFile } from "./text-file.ts";

/** The type annotation of a function that returns a generated handler. */
const HANDLER_TYPE = /^:\s*\w+Handlers<.*>\[/s;

/** Reports a file of operations that exports no handler, several, or one with a name other than the file's. */
export function operationFaults({ path, text }: TextFile): string[] {
  const expected = camelCase(basename(path, ".ts"));
  const found = exportedHandlers(path, text);
  if (found.length === 1 && found[0] === expected) return [];
  return [`${path} exports ${found.length === 0 ? "no handler" : found.join(" and ")} in place of ${expected}`];
}

function exportedHandlers(path: string, text: string): string[] {
  return parseSync(path, text).program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : null;
    if (declared?.type !== "FunctionDeclaration" || declared.id === null || declared.returnType == null) return [];
    const { start, end } = declared.returnType;
    return HANDLER_TYPE.test(text.slice(start, end)) ? [declared.id.name] : [];
  });
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

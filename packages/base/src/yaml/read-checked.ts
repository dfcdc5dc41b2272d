import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { describeFault } from "./file-values.ts";

/** What is wrong with a YAML text, and where. */
export interface YamlProblem {
  /** Such as `line 4, column 3: models.fast.route`. */
  readonly place: string;
  /** The rest of a sentence whose subject is the place. */
  readonly complaint: string;
}

/** The value of a YAML text that fits a schema, or what is wrong with it. */
export type CheckedYaml<Value> = { readonly value: Value } | { readonly problems: readonly YamlProblem[] };

/** Reads YAML and checks it. Places have line and column, as editors count them. */
export function readCheckedYaml<Schema extends z.ZodType>(text: string, schema: Schema): CheckedYaml<z.infer<Schema>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [fault] = document.errors;
  if (fault !== undefined)
    return { problems: [{ place: placeOfOffset(lines, fault.pos[0]), complaint: fault.message.split("\n")[0] ?? "" }] };
  const read = schema.safeParse(document.toJS(), { error: describeFault });
  if (read.success) return { value: read.data };
  return { problems: read.error.issues.flatMap((issue) => problemsOf(issue, document, lines)) };
}

function problemsOf(found: z.core.$ZodIssue, document: Document, lines: LineCounter): YamlProblem[] {
  const issue = closestIssue(found);
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path];
  return paths.map((steps) => {
    const name = nameOf(steps);
    const line = placeOfOffset(lines, offsetOf(document, steps));
    return { place: name === "" ? line : `${line}: ${name}`, complaint: issue.message };
  });
}

/** Of a value that may have several forms, the mistake in the form that it resembles most. */
function closestIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flatMap((issues) => issues.slice(0, 1)).map(closestIssue);
  const closest = inner.find(({ path, code }) => path.length > 0 || code === "unrecognized_keys");
  return closest === undefined ? issue : { ...closest, path: [...issue.path, ...closest.path] };
}

type Steps = readonly (string | number)[];

/** Where a value stands, or the nearest one around it that is there. */
function offsetOf(document: Document, steps: Steps): number {
  for (let length = steps.length; length > 0; length -= 1) {
    const above = document.getIn(steps.slice(0, length - 1), true);
    const step = steps[length - 1];
    const pair = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === step) : undefined;
    const node = pair?.key ?? document.getIn(steps.slice(0, length), true);
    if (hasRange(node)) return node.range[0];
  }
  return 0;
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}

function placeOfOffset(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `line ${Math.max(line, 1)}, column ${Math.max(col, 1)}`;
}

/** Such as `servers.local.url` and `models.fast.route[1]`. */
function nameOf(steps: Steps): string {
  return steps
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

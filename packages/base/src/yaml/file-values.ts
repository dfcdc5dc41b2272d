import { z } from "zod";
import { isRecord } from "../json/records.ts";

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: "a mapping",
  record: "a mapping",
  array: "a list",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

/** The rest of a sentence whose subject is a place in the file. */
export function expected(what: string) {
  return ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? `is missing; expected ${what}` : `should be ${what}, but is ${describeValue(input)}`;
}

function describeValue(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? `'${value.slice(0, 60)}'` : JSON.stringify(value);
}

/** What is wrong with a value, as such a sentence. For schemas without words of their own. */
export function describeFault(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys" && issue.inst instanceof z.ZodObject)
    return `is unknown; known keys are ${Object.keys(issue.inst.shape).join(", ")}`;
  if (issue.code === "invalid_type") return expected(TYPE_WORDS[issue.expected] ?? issue.expected)(issue);
  if (issue.code === "invalid_value") return expected(`one of ${issue.values.join(", ")}`)(issue);
  if (issue.code !== "invalid_union" || !Array.isArray(issue.options)) return undefined;
  return expected(`one of ${issue.options.join(", ")}`)({ input: isRecord(issue.input) ? issue.input["type"] : null });
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return z.custom<number>((value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max, {
    error: expected(`a whole number ${range}`),
  });
}

export const NAME = z.custom<string>((value) => typeof value === "string" && value !== "", {
  error: expected("a non-empty text"),
});

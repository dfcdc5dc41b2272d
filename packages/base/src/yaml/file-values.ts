import { isRecord } from "@antiphon/base/json/records.ts";
import { z } from "zod";

type Complaint = (issue: { readonly input?: unknown }) => string;

/** The rest of a sentence whose subject is a place in the file. */
export function expected(what: string): Complaint {
  return ({ input }) =>
    input === undefined ? `is missing; expected ${what}` : `should be ${what}, but is ${describeValue(input)}`;
}

function describeValue(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? `'${value.slice(0, 60)}'` : JSON.stringify(value);
}

/** A mapping that has no other keys than these. */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape) {
  const isNone = expected("a mapping");
  const isUnknown = `is unknown; known keys are ${Object.keys(shape).join(", ")}`;
  return z.strictObject(shape, { error: (issue) => (issue.code === "unrecognized_keys" ? isUnknown : isNone(issue)) });
}

/** Mappings of which the member `type` says which one is meant. */
export function byType<const Kinds extends readonly [z.ZodObject, ...z.ZodObject[]]>(kinds: Kinds) {
  return z.discriminatedUnion("type", kinds, {
    error: ({ code, input, options }) =>
      code === "invalid_union"
        ? expected(`one of ${String(options).replaceAll(",", ", ")}`)({
            input: isRecord(input) ? input["type"] : input,
          })
        : expected("a mapping")({ input }),
  });
}

export function manyOf<Element extends z.ZodType>(element: Element) {
  return z.array(element, { error: expected("a list") });
}

export function choiceOf<const Choice extends string>(choices: readonly Choice[]) {
  return z.enum(choices, { error: expected(`one of ${choices.join(", ")}`) });
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return z.custom<number>((value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max, {
    error: expected(`a whole number ${range}`),
  });
}

export const TEXT = z.string({ error: expected("a text") });
export const NAME = z.custom<string>((value) => typeof value === "string" && value !== "", {
  error: expected("a non-empty text"),
});
/** A mapping with any keys. */
export const RECORD = z.custom<Readonly<Record<string, unknown>>>(isRecord, { error: expected("a mapping") });

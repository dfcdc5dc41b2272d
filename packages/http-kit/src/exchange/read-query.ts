import type { QueryRefusal } from "@antiphon/base/query-refusal.ts";
import type { OperationRoute, QueryParameter, QueryScalar } from "../contract.ts";
import type { Faults } from "../faults.ts";

type QueryFaults = Pick<Faults, "invalidQuery">;
type Rule = QueryRefusal extends infer R ? (R extends QueryRefusal ? Omit<R, "name" | "value"> : never) : never;

/**
 * Reads the parameters that the contract declares and ignores others. If a single-valued parameter is repeated, the
 * last value counts.
 */
export function readQuery(
  table: OperationRoute["query"],
  search: string,
  faults: QueryFaults,
): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  const parameters = Object.entries(table);
  if (parameters.length === 0) return query;
  const searchParams = new URLSearchParams(search);
  for (const [name, parameter] of parameters) {
    const value =
      parameter.kind === "object" ? readPairs(name, searchParams) : readNamed(name, parameter, searchParams, faults);
    if (value !== undefined) query[name] = value;
  }
  return query;
}

/** The members of an object, which are sent as `name[member]=text`; undefined if there are none. */
function readPairs(name: string, searchParams: URLSearchParams): object | undefined {
  const start = `${name}[`;
  const pairs = [...searchParams].filter(([key]) => key.startsWith(start) && key.endsWith("]"));
  if (pairs.length === 0) return undefined;
  return Object.fromEntries(pairs.map(([key, text]) => [key.slice(start.length, -1), text]));
}

function readNamed(
  name: string,
  parameter: QueryParameter,
  searchParams: URLSearchParams,
  faults: QueryFaults,
): unknown {
  const values = [name, ...parameter.aliases].flatMap((alias) => searchParams.getAll(alias));
  return readParameter(name, parameter, values, faults);
}

function readParameter(
  name: string,
  parameter: QueryParameter,
  values: readonly string[],
  faults: QueryFaults,
): unknown {
  const last = values.at(-1);
  if (last === undefined) {
    if (parameter.required) throw faults.invalidQuery({ name, value: "", rule: "required" });
    return parameter.default;
  }
  const { maxItems } = parameter;
  if (parameter.array && maxItems !== undefined && values.length > maxItems) {
    throw faults.invalidQuery({
      name,
      value: values.join(","),
      rule: "maxItems",
      limit: maxItems,
      size: values.length,
    });
  }
  const read = (text: string): unknown => readValue(name, parameter, text, faults);
  return parameter.array ? values.map(read) : read(last);
}

function readValue(name: string, parameter: QueryParameter, text: string, faults: QueryFaults): unknown {
  const value = coerce(parameter.kind, text);
  const refusal = value === undefined ? wrongType(parameter.kind) : brokenRule(parameter, value);
  if (refusal !== null) throw faults.invalidQuery({ name, value: text, ...refusal });
  return value;
}

/** Undefined if the text is not a value of the kind. */
function coerce(kind: QueryParameter["kind"], text: string): QueryScalar | object | undefined {
  switch (kind) {
    case "string":
      return text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "integer":
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case "number":
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "object":
      return undefined; // Its members have names of their own.
  }
}

function wrongType(kind: QueryParameter["kind"]): Rule | null {
  return kind === "string" ? null : { rule: "type", kind };
}

function brokenRule(parameter: QueryParameter, value: QueryScalar | object): Rule | null {
  const choices = parameter.enum;
  if (choices?.every((one) => one !== value)) return { rule: "enum", choices: choices.map(String) };
  if (typeof value === "number") return brokenBound(parameter, value);
  return typeof value === "string" ? brokenText(parameter, value) : null;
}

function brokenBound({ kind, minimum, maximum }: QueryParameter, value: number): Rule | null {
  const integer = kind === "integer";
  if (minimum !== undefined && value < minimum) return { rule: "minimum", limit: minimum, integer };
  if (maximum !== undefined && value > maximum) return { rule: "maximum", limit: maximum, integer };
  return null;
}

function brokenText({ minLength, maxLength, pattern }: QueryParameter, value: string): Rule | null {
  const size = value.length;
  if (minLength !== undefined && size < minLength) return { rule: "minLength", limit: minLength, size };
  if (maxLength !== undefined && size > maxLength) return { rule: "maxLength", limit: maxLength, size };
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) return { rule: "pattern", pattern };
  return null;
}

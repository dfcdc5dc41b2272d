import type { ComparisonFilter, FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import { invalidType, outOfBounds } from "../errors/parameter-errors.ts";
import { typeWords } from "../errors/validation/validation-error.ts";

const LEVELS_MAX = 10;
const FILTERS_MAX = 100;
const VALUES_MAX = 1000;

/** The next part to check: a filter, its path in the request, and its depth, from 1. */
interface Place {
  readonly filter: FileSearchFilter;
  readonly param: string;
  readonly level: number;
}

/**
 * Checks rules that the schema cannot express: depth and size of a filter, and that each value suits its comparison.
 * `rootParam`: its path in the request. Throws an `ApiError`.
 */
export function checkFilter(root: FileSearchFilter, rootParam: string): void {
  const open: Place[] = [{ filter: root, param: rootParam, level: 1 }];
  let filters = 0;
  let values = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { filter, param, level } = place;
    if (level > LEVELS_MAX) throw tooMuch(rootParam, "levels", LEVELS_MAX);
    filters += 1;
    if (filters > FILTERS_MAX) throw tooMuch(rootParam, "conditions", FILTERS_MAX);
    if ("filters" in filter) {
      if (filter.filters.length > FILTERS_MAX) throw tooMuch(rootParam, "conditions", FILTERS_MAX);
      for (const [index, inner] of [...filter.filters.entries()].toReversed())
        open.push({ filter: inner, param: `${param}.filters[${index}]`, level: level + 1 });
      continue;
    }
    checkValue(filter, `${param}.value`);
    values += Array.isArray(filter.value) ? filter.value.length : 1;
    if (values > VALUES_MAX) throw tooMuch(rootParam, "values", VALUES_MAX);
  }
}

function checkValue({ type, value }: ComparisonFilter, param: string): void {
  const expectation = expectedWords(type, value);
  if (expectation !== null) throw invalidType(param, expectation, typeWords(value));
}

/** The operand type that the comparison needs, if it has another one; otherwise null. */
function expectedWords(type: ComparisonFilter["type"], value: ComparisonFilter["value"]): string | null {
  const isList = Array.isArray(value);
  if (type === "in" || type === "nin") return isList ? null : "an array";
  if (type === "eq" || type === "ne") return isList ? "one of a string or a decimal or a boolean" : null;
  return isList || typeof value === "boolean" ? "one of a string or a decimal" : null;
}

function tooMuch(param: string, what: string, max: number) {
  return outOfBounds("invalid_value", param, `too many ${what}. Expected a filter with at most ${max} ${what}.`);
}

import { isRecord } from "../../base/json/records.ts";
import { sizeError } from "./limit-error.ts";

/** Items of a request, each counted as often as it has parts: more would hold up others, and no model reads as many. */
export const ITEMS_MAX = 10_000;
/** Tools of a request, those of its namespaces and allowed tools each. The reference takes 128. */
export const TOOLS_MAX = 2_000;

/** Refuses lists that are too long, before anything goes through them. */
export function checkListSizes(body: Readonly<Record<string, unknown>>): void {
  for (const list of ["input", "conversation"]) checkSize(list, ITEMS_MAX, sum(body[list], partCount));
  checkSize("tools", TOOLS_MAX, sum(body["tools"], toolCount));
  const { tool_choice: choice } = body;
  if (isRecord(choice))
    checkSize(
      "tool_choice.tools",
      TOOLS_MAX,
      sum(choice["tools"], () => 1),
    );
}

function checkSize(param: string, max: number, size: number): void {
  if (size > max) throw sizeError("maxItems", param, max, size);
}

function sum(list: unknown, count: (element: unknown) => number): number {
  return Array.isArray(list) ? list.reduce<number>((total, element) => total + count(element), 0) : 0;
}

const PART_LISTS = ["content", "output", "summary", "tools"];

function partCount(item: unknown): number {
  if (!isRecord(item)) return 1;
  return Math.max(1, ...PART_LISTS.map((name) => lengthOf(item[name])));
}

function toolCount(tool: unknown): number {
  return isRecord(tool) ? Math.max(1, lengthOf(tool["tools"])) : 1;
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

/** The arguments of a call; null if they are not a JSON object. Empty text counts as an empty object. */
export function readArguments(text: string): Readonly<Record<string, unknown>> | null {
  const value = text.trim() === "" ? {} : jsonOrUndefined(text);
  return isRecord(value) ? value : null;
}

/** A text argument; null if it is missing or empty. */
export function textArgument(args: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = args[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { BatchError, CreateBatchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { InputLine } from "@antiphon/domain/batches/batch-work.ts";
import type { TextLine } from "./input-lines.ts";

/** The maximum characters of a `custom_id`. */
const CUSTOM_ID_MAX = 512;
/** Longer names of models are not shown. */
const MODEL_MAX = 512;

export type CheckedLine =
  | { readonly type: "line"; readonly line: InputLine; readonly model: string | null }
  | { readonly type: "fault"; readonly fault: BatchError };

/** Checks the form of a line; its request is checked when it is answered. `customIds`: the `custom_id`s so far. */
export function checkLine(
  { line, text }: TextLine,
  endpoint: CreateBatchRequest["endpoint"],
  customIds: Set<string>,
): CheckedLine {
  const fault = (code: string, param: string | null, message: string): CheckedLine => ({
    type: "fault",
    fault: { code, line, message, param },
  });
  const entry = jsonOrUndefined(text);
  if (!isRecord(entry)) return fault("invalid_json_line", null, "This line is no JSON object.");
  const { custom_id: customId, method, url, body } = entry;
  if (!isStorable(customId, CUSTOM_ID_MAX))
    return fault("invalid_value", "custom_id", `'custom_id' must be text of 1 to ${CUSTOM_ID_MAX} characters.`);
  if (customIds.has(customId))
    return fault("duplicate_custom_id", "custom_id", "Another line has the same 'custom_id'.");
  customIds.add(customId);
  if (method !== "POST") return fault("invalid_method", "method", "'method' must be POST.");
  if (url !== endpoint) return fault("mismatched_url", "url", `'url' must be the endpoint of the batch, ${endpoint}.`);
  if (!isRecord(body)) return fault("missing_required_parameter", "body", "'body' must be the object of a request.");
  const { model } = body;
  const input = { line, customId, body: JSON.stringify(body) };
  return { type: "line", line: input, model: isStorable(model, MODEL_MAX) ? model : null };
}

/** Whether it is text of 1 to this many characters that any database can keep. */
function isStorable(value: unknown, charactersMax: number): value is string {
  if (typeof value !== "string" || value === "" || value.length > charactersMax) return false;
  return value.isWellFormed() && !value.includes("\0");
}

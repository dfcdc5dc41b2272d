import { isRecord } from "@antiphon/base/json/records.ts";
import type { Annotation } from "@antiphon/contracts/responses-api/types.ts";
import { countOrZero, textOrNull } from "../../model-server/json-values.ts";

/** The annotation of a text; null if it is of an unknown kind, or points nowhere. */
export function readAnnotation(value: unknown): Annotation | null {
  if (!isRecord(value)) return null;
  const { type } = value;
  if (type === "url_citation") {
    const url = textOrNull(value["url"]);
    const title = textOrNull(value["title"]) ?? "";
    return url === null ? null : { type, ...readRange(value), title, url };
  }
  const fileId = textOrNull(value["file_id"]);
  if (fileId === null) return null;
  const filename = textOrNull(value["filename"]) ?? "";
  const index = countOrZero(value["index"]);
  if (type === "file_citation") return { type, file_id: fileId, filename, index };
  if (type === "file_path") return { type, file_id: fileId, index };
  if (type !== "container_file_citation") return null;
  const container = textOrNull(value["container_id"]) ?? "";
  return { type, container_id: container, ...readRange(value), file_id: fileId, filename };
}

function readRange(value: Readonly<Record<string, unknown>>): { start_index: number; end_index: number } {
  return { start_index: countOrZero(value["start_index"]), end_index: countOrZero(value["end_index"]) };
}

import type { Annotation } from "../../../../generated/responses-api/types.ts";
import { assertNever } from "../../../base/assert.ts";
import { isRecord } from "../../../base/json/records.ts";
import { readChoice, readInteger, readMapping, readText } from "./read-values.ts";
import type { Place } from "./scenario-error.ts";

const TYPES = ["url_citation", "file_citation", "container_file_citation", "file_path"] as const;

/** Reads an annotation, written as in the API. */
export function readAnnotation(value: unknown, place: Place): Annotation {
  const type = readChoice(isRecord(value) ? value["type"] : undefined, place.member("type"), TYPES);
  const text = (key: string): string => readText(member(key), place.member(key));
  const position = (key: string): number => readInteger(member(key), place.member(key), 0);
  const member = (key: string): unknown => (isRecord(value) ? value[key] : undefined);
  const only = (...keys: readonly string[]): unknown => readMapping(value, place, ["type", ...keys]);
  switch (type) {
    case "url_citation":
      only("start_index", "end_index", "url", "title");
      return {
        type,
        end_index: position("end_index"),
        start_index: position("start_index"),
        title: text("title"),
        url: text("url"),
      };
    case "file_citation":
      only("file_id", "filename", "index");
      return { type, file_id: text("file_id"), filename: text("filename"), index: position("index") };
    case "container_file_citation":
      only("container_id", "file_id", "filename", "start_index", "end_index");
      return {
        type,
        container_id: text("container_id"),
        end_index: position("end_index"),
        file_id: text("file_id"),
        filename: text("filename"),
        start_index: position("start_index"),
      };
    case "file_path":
      only("file_id", "index");
      return { type, file_id: text("file_id"), index: position("index") };
    default:
      return assertNever(type);
  }
}

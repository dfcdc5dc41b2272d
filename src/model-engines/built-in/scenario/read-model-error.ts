import { ModelError } from "../../../runs/ports/model-error.ts";
import { readInteger, readMapping, readName, readOptional } from "./read-values.ts";
import type { Place } from "./scenario-error.ts";

/** Reads an error. By default it is a server error with status 500. */
export function readModelError(value: unknown, place: Place): ModelError {
  const error = readMapping(value, place, ["status", "type", "code", "message", "param", "retry_after_seconds"]);
  const name = (key: string): string | null => readOptional(error[key], (text) => readName(text, place.member(key)));
  return new ModelError(readName(error["message"], place.member("message")), {
    status: readOptional(error["status"], (status) => readInteger(status, place.member("status"), 400, 599)) ?? 500,
    type: name("type") ?? "server_error",
    code: error["code"] === null ? null : (name("code") ?? "server_error"),
    param: name("param"),
    retryAfterSeconds: readOptional(error["retry_after_seconds"], (seconds) =>
      readInteger(seconds, place.member("retry_after_seconds"), 0),
    ),
  });
}

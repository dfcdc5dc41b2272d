import { isRecord } from "../base/json/records.ts";
import type { AudioErrorReason } from "./audio-error.ts";

/** What a decoding thread is given. */
export interface DecodeTask {
  readonly format: ThreadFormat;
  readonly bytes: Uint8Array;
}

/** Formats that are decoded in a thread of this process. */
export type ThreadFormat = "flac" | "ogg" | "webm";

/** What a decoding thread answers each time it is asked for more. */
export type DecodeAnswer =
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" }
  | { readonly type: "error"; readonly reason: AudioErrorReason; readonly message: string }
  /** A fault of the decoder itself. */
  | { readonly type: "fault"; readonly message: string };

export function isDecodeTask(value: unknown): value is DecodeTask {
  return isRecord(value) && typeof value["format"] === "string" && value["bytes"] instanceof Uint8Array;
}

export function isDecodeAnswer(value: unknown): value is DecodeAnswer {
  return isRecord(value) && typeof value["type"] === "string";
}

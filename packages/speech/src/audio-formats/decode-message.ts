import { isRecord } from "@antiphon/base/json/records.ts";
import type { AudioErrorReason } from "./audio-error.ts";

/** The task of a decoding thread. */
export interface DecodeTask {
  readonly format: ThreadFormat;
  readonly bytes: Uint8Array;
}

/** Formats that are decoded in a thread of this process. */
export type ThreadFormat = "flac" | "ogg" | "webm";

/** A decoding thread's answer to each request for more samples. */
export type DecodeAnswer =
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" }
  | { readonly type: "error"; readonly reason: AudioErrorReason; readonly message: string }
  /** An unexpected error of the decoder. */
  | { readonly type: "fault"; readonly message: string };

export function isDecodeTask(value: unknown): value is DecodeTask {
  return isRecord(value) && typeof value["format"] === "string" && value["bytes"] instanceof Uint8Array;
}

export function isDecodeAnswer(value: unknown): value is DecodeAnswer {
  return isRecord(value) && typeof value["type"] === "string";
}

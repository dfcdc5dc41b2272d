import { base64Of } from "../../../packages/client/src/index.ts";
import type { Members } from "../base/members.ts";

/** Something beside the text of a message. */
export interface Attachment {
  readonly key: number;
  readonly name: string;
  /** The part of the message's content. */
  readonly part: Members;
}

/** The files of one message may have this many bytes together; base64 makes them a third longer. */
export const ATTACHED_BYTES_MAX = 40 * 1024 * 1024;

let made = 0;

export async function attachFile(file: File): Promise<Attachment> {
  const data = base64Of(new Uint8Array(await file.arrayBuffer()));
  return attach(file.name === "" ? "file" : file.name, partOf(file, data));
}

export function attachRecording(wav: Uint8Array): Attachment {
  return attach("recording.wav", { type: "input_audio", input_audio: { data: base64Of(wav), format: "wav" } });
}

function attach(name: string, part: Members): Attachment {
  made += 1;
  return { key: made, name, part };
}

function partOf({ name, type }: File, data: string): Members {
  if (type.startsWith("image/")) return { type: "input_image", image_url: `data:${type};base64,${data}` };
  if (/^audio\/(x-)?wav$/.test(type)) return { type: "input_audio", input_audio: { data, format: "wav" } };
  if (type === "audio/mpeg") return { type: "input_audio", input_audio: { data, format: "mp3" } };
  const mime = type === "" ? "application/octet-stream" : type;
  return { type: "input_file", filename: name, file_data: `data:${mime};base64,${data}` };
}

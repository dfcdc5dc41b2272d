import { assertNever } from "@antiphon/base/assert.ts";
import type { InputContentPart, ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import { invalidInput } from "../model-server/errors/model-errors.ts";
import type { ChatPart } from "./chat-wire.ts";

type InputPart = InputContentPart | ToolOutputContentPart;
type ImagePart = Pick<Extract<InputPart, { type: "input_image" }>, "image_url" | "detail">;
type FilePart = Extract<InputPart, { type: "input_file" }>;
type AudioPart = Extract<InputPart, { type: "input_audio" }>;

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|[\w.-]+\+json|xml|[\w.-]+\+xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|csv|x-ndjson))/i;

/** Maps the content of a user message. A single text becomes a plain string, which every server accepts. */
export function mapContent(content: string | readonly InputPart[], path: string): string | readonly ChatPart[] {
  if (typeof content === "string") return content;
  const parts = content.map((part, position) => mapPart(part, `${path}[${position}]`));
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : parts;
}

export function mapPart(part: InputPart, path: string): ChatPart {
  switch (part.type) {
    case "input_text":
      return { type: "text", text: part.text };
    case "input_image":
      return mapImage(part, path);
    case "input_file":
      return mapFile(part, path);
    case "input_audio":
      return mapAudio(part, path);
    default:
      return assertNever(part);
  }
}

export function mapImage(part: ImagePart, path: string): ChatPart {
  const url = part.image_url;
  if (url === null || url === undefined)
    throw unreadable(path, "Images by 'file_id' are not available with this model server; send 'image_url'");
  const detail = part.detail === "original" ? "high" : (part.detail ?? "auto");
  return { type: "image_url", image_url: detail === "auto" ? { url } : { url, detail } };
}

/** Maps a file. Text files become text, because few servers read files; others are sent unchanged. */
function mapFile(part: FilePart, path: string): ChatPart {
  const fileData = part.file_data;
  if (fileData === null || fileData === undefined)
    throw unreadable(
      path,
      "Files by 'file_id' or 'file_url' are not available with this model server; send 'file_data'",
    );
  const filename = part.filename ?? "file";
  const file = readDataUrl(fileData);
  if (file === null) throw unreadable(path, "Expected 'file_data' to be a base64-encoded data URL");
  if (TEXT_TYPES.test(file.mimeType))
    return { type: "text", text: `File ${filename}:\n${Buffer.from(file.base64, "base64").toString("utf8")}` };
  return { type: "file", file: { filename, file_data: fileData } };
}

function mapAudio(part: AudioPart, path: string): ChatPart {
  const { data, format } = part.input_audio;
  if (format !== "wav" && format !== "mp3")
    throw unreadable(path, `Audio in the format '${format}' is not available with this model server; send wav or mp3`);
  return { type: "input_audio", input_audio: { data, format } };
}

function readDataUrl(url: string): { mimeType: string; base64: string } | null {
  const comma = url.indexOf(",");
  const head = comma === -1 ? null : /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(url.slice(0, comma));
  return head === null ? null : { mimeType: head[1] ?? "", base64: url.slice(comma + 1) };
}

function unreadable(path: string, message: string) {
  return invalidInput(`Invalid '${path}': ${message}.`, path, "unsupported_value");
}

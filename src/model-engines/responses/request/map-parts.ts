import { assertNever } from "@antiphon/base/assert.ts";
import type { InputContentPart, ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import type { ChatPart } from "../../context/chat-wire.ts";
import { mapPart } from "../../context/map-content.ts";
import type { WirePart } from "./responses-wire.ts";

type InputPart = InputContentPart | ToolOutputContentPart;

/** Maps parts of a message or an output. A single text becomes a plain string, which every server accepts. */
export function mapParts(parts: readonly InputPart[], path: string): string | readonly WirePart[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "input_text") return first.text;
  return parts.map((part, position) => {
    const wirePart = partOfChat(mapPart(part, `${path}[${position}]`));
    // Chat completions have no such detail.
    const isOriginal = part.type === "input_image" && part.detail === "original" && wirePart.type === "input_image";
    return isOriginal ? { ...wirePart, detail: "original" } : wirePart;
  });
}

/** The same part in the form of the Responses API. */
export function partOfChat(part: ChatPart): WirePart {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image_url": {
      const { url, detail = "auto" } = part.image_url;
      return { type: "input_image", image_url: url, detail };
    }
    case "input_audio":
      return { type: "input_audio", input_audio: part.input_audio };
    case "file":
      return { type: "input_file", ...part.file };
    default:
      return assertNever(part);
  }
}

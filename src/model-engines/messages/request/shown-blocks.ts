import { assertNever } from "@antiphon/base/assert.ts";
import type { ChatPart } from "../../context/chat-wire.ts";
import { invalidInput } from "../../model-server/errors/model-errors.ts";
import type { ShownBlock } from "./messages-wire.ts";

/** The blocks of what a user says or a tool returns. Empty texts are left out, because the API refuses them. */
export function shownBlocks(content: string | readonly ChatPart[]): readonly ShownBlock[] {
  if (typeof content === "string") return textBlocks(content);
  return content.flatMap((part) => (part.type === "text" ? textBlocks(part.text) : [mediaBlock(part)]));
}

export function textBlocks(text: string): readonly ShownBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function mediaBlock(part: Exclude<ChatPart, { type: "text" }>): ShownBlock {
  switch (part.type) {
    case "image_url":
      return { type: "image", source: sourceOf(part.image_url.url) };
    case "file": {
      const { filename, file_data: url } = part.file;
      return { type: "document", source: sourceOf(url), title: filename };
    }
    case "input_audio":
      throw invalidInput("Recordings are not available with this model server.", "input", "unsupported_value");
    default:
      return assertNever(part);
  }
}

function sourceOf(url: string): Extract<ShownBlock, { type: "image" }>["source"] {
  const comma = url.indexOf(",");
  const head = comma === -1 ? null : /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(url.slice(0, comma));
  if (head === null) return { type: "url", url };
  return { type: "base64", media_type: head[1] ?? "", data: url.slice(comma + 1) };
}

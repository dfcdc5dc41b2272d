import { assertNever } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type {
  MessagesBlockInput,
  MessagesDocumentInput,
  MessagesImageInput,
  MessagesSearchResultInput,
  MessagesToolResultInput,
  MessagesToolResultPart,
  MessagesTurnInput,
} from "@antiphon/contracts/messages/types.ts";
import type { InputItem, MessageContentPartInput } from "@antiphon/contracts/responses-api/types.ts";
import { unsupportedParameter } from "../../responses-api/errors/parameter-errors.ts";
import { hostedItem, type ServerCall } from "./request-hosted-items.ts";

/** Whether a text was sealed by this server for the caller. */
export type IsSealed = (text: string) => boolean;

/** The input items that the messages of a conversation stand for. Throws an `ApiError` for a block without one. */
export function itemsOfTurns(turns: readonly MessagesTurnInput[], isSealed: IsSealed): InputItem[] {
  const items = new TurnItems(isSealed);
  for (const [index, turn] of turns.entries()) items.addTurn(turn, `messages.${index}.content`);
  return items.items;
}

type Role = "user" | "assistant" | "developer";

class TurnItems {
  items: InputItem[] = [];
  readonly #isSealed: IsSealed;
  /** The parts of the open message, and its role. */
  #parts: MessageContentPartInput[] = [];
  #role: Role = "user";
  /** Calls of tools of a server, by their ids. */
  readonly #serverCalls = new Map<string, ServerCall>();

  constructor(isSealed: IsSealed) {
    this.#isSealed = isSealed;
  }

  addTurn({ role, content }: MessagesTurnInput, path: string): void {
    this.#role = role === "system" ? "developer" : role;
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    for (const [index, block] of blocks.entries()) this.#addBlock(block, `${path}.${index}`);
    this.#endMessage();
  }

  #addBlock(block: MessagesBlockInput, path: string): void {
    switch (block.type) {
      case "text":
        return this.#addText(block.text);
      case "image":
      case "document":
      case "search_result":
        if (this.#role === "assistant")
          throw unsupportedParameter(path, `an answer has no block of type ${block.type}`);
        this.#parts.push(...mediaParts(block));
        return;
      case "thinking":
        return this.#addReasoning(block.signature ?? "", block.thinking);
      case "redacted_thinking":
        return this.#addReasoning(block.data, "");
      case "tool_use":
        return this.#addItem({
          type: "function_call",
          call_id: block.id,
          name: block.name,
          arguments: argumentsText(block.input),
        });
      case "tool_result":
        return this.#addItem({ type: "function_call_output", call_id: block.tool_use_id, output: toolOutput(block) });
      case "server_tool_use":
        this.#serverCalls.set(block.id, { id: block.id, name: block.name, server: null, input: block.input });
        return;
      case "mcp_tool_use":
        this.#serverCalls.set(block.id, {
          id: block.id,
          name: block.name,
          server: block.server_name,
          input: block.input,
        });
        return;
      case "web_search_tool_result":
      case "web_fetch_tool_result":
      case "code_execution_tool_result":
      case "bash_code_execution_tool_result":
      case "text_editor_code_execution_tool_result":
      case "tool_search_tool_result":
      case "mcp_tool_result": {
        const call = this.#serverCalls.get(block.tool_use_id);
        const item = call === undefined ? null : hostedItem(call, block);
        if (item !== null) this.#addItem(item);
        return;
      }
      case "container_upload":
        throw unsupportedParameter(path, "the sandbox takes files by POST /v1/containers/{container_id}/files");
      case "compaction":
        return this.#beginAtSummary(block.content ?? "");
      default:
        assertNever(block);
    }
  }

  #addText(text: string): void {
    if (text !== "") this.#parts.push({ type: this.#role === "assistant" ? "output_text" : "input_text", text });
  }

  /** Reasoning of another server has no text that this one could read, unless it came with it. */
  #addReasoning(sealedText: string, text: string): void {
    if (sealedText !== "" && this.#isSealed(sealedText))
      return this.#addItem({ type: "reasoning", summary: [], encrypted_content: sealedText });
    if (text !== "") this.#addItem({ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] });
  }

  #addItem(item: InputItem): void {
    this.#endMessage();
    this.items.push(item);
  }

  #endMessage(): void {
    if (this.#parts.length === 0) return;
    this.items.push({ type: "message", role: this.#role, content: this.#parts });
    this.#parts = [];
  }

  /** A summary stands for all that was said before it. */
  #beginAtSummary(summary: string): void {
    if (summary === "") return;
    this.items = [];
    this.#parts = [];
    this.items.push({
      type: "message",
      role: "developer",
      content: `Summary of the conversation so far:\n${summary}`,
    });
  }
}

type Media = MessagesImageInput | MessagesDocumentInput | MessagesSearchResultInput;

function mediaParts(block: Media): MediaPart[] {
  switch (block.type) {
    case "image":
      return [imagePart(block)];
    case "document":
      return documentParts(block);
    case "search_result":
      return [{ type: "input_text", text: searchResultText(block) }];
    default:
      return assertNever(block);
  }
}

type MediaPart = Extract<MessageContentPartInput, { type: "input_text" | "input_image" | "input_file" }>;

function imagePart({ source }: MessagesImageInput): MediaPart {
  switch (source.type) {
    case "base64":
      return { type: "input_image", image_url: dataUrl(source.media_type, source.data), detail: "auto" };
    case "url":
      return { type: "input_image", image_url: source.url, detail: "auto" };
    case "file":
      return { type: "input_image", file_id: source.file_id, detail: "auto" };
    default:
      return assertNever(source);
  }
}

/** A document, after its title and context. */
function documentParts({ source, title, context }: MessagesDocumentInput): MediaPart[] {
  const about = [title, context].filter((text) => text != null && text !== "").join("\n");
  const head: MediaPart[] = about === "" ? [] : [{ type: "input_text", text: about }];
  switch (source.type) {
    case "base64":
      return [
        ...head,
        {
          type: "input_file",
          file_data: dataUrl(source.media_type, source.data),
          filename: title ?? (source.media_type === "application/pdf" ? "document.pdf" : "document"),
        },
      ];
    case "url":
      return [...head, { type: "input_file", file_url: source.url }];
    case "file":
      return [...head, { type: "input_file", file_id: source.file_id }];
    case "text":
      return [...head, { type: "input_text", text: source.data }];
    case "content": {
      const { content } = source;
      if (typeof content === "string") return [...head, { type: "input_text", text: content }];
      return [
        ...head,
        ...content.map((part) =>
          part.type === "text" ? { type: "input_text" as const, text: part.text } : imagePart(part),
        ),
      ];
    }
    default:
      return assertNever(source);
  }
}

function searchResultText({ source, title, content }: MessagesSearchResultInput): string {
  return [`${title} (${source})`, ...content.map(({ text }) => text)].join("\n");
}

function dataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`;
}

/** The arguments of a call as JSON text. What the model wrote without being JSON comes back as it was. */
export function argumentsText(input: unknown): string {
  if (isRecord(input) && typeof input["INVALID_JSON"] === "string" && Object.keys(input).length === 1)
    return input["INVALID_JSON"];
  return JSON.stringify(input ?? {});
}

type ToolOutput = Extract<InputItem, { type: "function_call_output" }>["output"];

/** The core has no flag for a failed call, so its output says so. */
function toolOutput({ content, is_error: isError }: MessagesToolResultInput): ToolOutput {
  const prefix = isError === true ? "Error: " : "";
  if (content == null || typeof content === "string") return `${prefix}${content ?? ""}`;
  const parts = content.flatMap(resultParts);
  if (parts.every((part) => part.type === "input_text")) return prefix + parts.map(({ text }) => text).join("\n");
  return prefix === "" ? parts : [{ type: "input_text", text: "Error:" }, ...parts];
}

function resultParts(part: MessagesToolResultPart): MediaPart[] {
  switch (part.type) {
    case "text":
      return [{ type: "input_text", text: part.text }];
    case "tool_reference":
      return [{ type: "input_text", text: `The tool ${part.tool_name} can be called now.` }];
    case "image":
    case "document":
    case "search_result":
      return mediaParts(part);
    default:
      return assertNever(part);
  }
}

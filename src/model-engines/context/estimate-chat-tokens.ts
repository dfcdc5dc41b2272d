import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import { readImageSize } from "@antiphon/tokenizers/image-size.ts";
import { imageTokens } from "@antiphon/tokenizers/image-tokens.ts";
import { tokenizerFor } from "@antiphon/tokenizers/tokenizer.ts";
import type { ChatMessage, ChatPart, ChatRequest } from "./chat-wire.ts";

/** What the tokens of a turn's input depend on. */
export type CountedChat = Pick<ChatRequest, "model" | "messages" | "tools">;

type PartOf<T extends ChatPart["type"]> = Extract<ChatPart, { type: T }>;

/** Tokens that chat templates add around each message. */
const MESSAGE_TOKENS = 4;
/** Tokens that chat templates add before the answer. */
const ANSWER_START_TOKENS = 3;
/** The reference counts ten tokens per second of audio. */
const AUDIO_TOKENS_PER_SECOND = 10;
const MP3_BYTES_PER_SECOND = 16_000;
const WAV_BYTES_PER_SECOND = 32_000;
/** A page of a document is given to a model as text and as an image. */
const PAGE_TOKENS = 1300;
const PAGE = /\/Type\s*\/Page(?![a-zA-Z])/g;
/** Enough for the header of an image. Some cameras put a preview before it. */
const IMAGE_HEAD_BASE64_CHARS = 256 * 1024;

/** Estimates the tokens of a turn with the tokenizer of the model's family, or a similar one. */
export async function estimateChatTokens(chat: CountedChat, signal: AbortSignal): Promise<number> {
  const texts = await chatTexts(chat);
  const attachments = await estimateAttachmentTokens(chat);
  return templateTokens(chat) + attachments + (await tokenizerFor(chat.model).count(texts, signal));
}

/** All texts of a turn that the model gets. */
export async function chatTexts({ messages, tools = [] }: CountedChat): Promise<readonly string[]> {
  const texts: string[] = [];
  await eachInSlices(messages, (message) => texts.push(...textsOf(message)));
  await eachInSlices(tools, (tool) => texts.push(JSON.stringify(tool)));
  return texts;
}

/** Estimates the chat template's additions to the texts of a turn. */
export function templateTokens({ messages }: CountedChat): number {
  return messages.length * MESSAGE_TOKENS + ANSWER_START_TOKENS;
}

/** Estimates the tokens of the images, files and recordings of a turn. */
export async function estimateAttachmentTokens({ model, messages }: CountedChat): Promise<number> {
  let tokens = 0;
  await eachInSlices(messages, (message) => {
    for (const part of contentParts(message)) tokens += attachmentTokens(model, part);
  });
  return tokens;
}

function textsOf(message: ChatMessage): readonly string[] {
  const { content } = message;
  const contents =
    typeof content === "string" ? [content] : (content ?? []).flatMap((part) => ("text" in part ? [part.text] : []));
  if (message.role !== "assistant") return contents;
  const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: input } }) => `${name} ${input}`);
  return [...contents, message.reasoning_content ?? "", ...calls];
}

function contentParts({ content }: ChatMessage): readonly ChatPart[] {
  return typeof content === "string" || content === null ? [] : content;
}

function attachmentTokens(model: string, part: ChatPart): number {
  switch (part.type) {
    case "text":
      return 0;
    case "image_url":
      return imageTokens(model, part.image_url.detail ?? "auto", imageSize(part));
    case "input_audio":
      return Math.ceil(secondsOf(part) * AUDIO_TOKENS_PER_SECOND);
    case "file":
      return pagesOf(part) * PAGE_TOKENS;
    default:
      return 0;
  }
}

function imageSize({ image_url: { url } }: PartOf<"image_url">): ReturnType<typeof readImageSize> {
  const comma = url.indexOf(",");
  if (!url.startsWith("data:") || comma === -1) return null;
  return readImageSize(Buffer.from(url.slice(comma + 1, comma + 1 + IMAGE_HEAD_BASE64_CHARS), "base64"));
}

function secondsOf({ input_audio: { data, format } }: PartOf<"input_audio">): number {
  const bytes = Math.floor((data.length * 3) / 4);
  if (format !== "wav") return bytes / MP3_BYTES_PER_SECOND;
  const head = Buffer.from(data.slice(0, 64), "base64");
  const perSecond = head.length >= 32 ? head.readUInt32LE(28) : 0;
  return bytes / (perSecond > 0 ? perSecond : WAV_BYTES_PER_SECOND);
}

/** The number of uncompressed page objects in a PDF, at least 1. */
function pagesOf({ file: { file_data: data } }: PartOf<"file">): number {
  const bytes = Buffer.from(data.slice(data.indexOf(",") + 1), "base64");
  return Math.max(1, bytes.toString("latin1").match(PAGE)?.length ?? 0);
}

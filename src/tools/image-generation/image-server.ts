import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ToolUsage } from "@antiphon/domain/hosted-tool.ts";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Dispatcher, request } from "undici";

/** The address, key, model and time limit of an OpenAI-compatible images server. */
export interface ImageServerOptions {
  /** Usually ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Null for the server's own choice. */
  readonly model: string | null;
  /** The time limit of one picture in milliseconds. */
  readonly timeoutMs: number;
}

export interface ImageOrder {
  readonly prompt: string;
  /** Other members of the request, such as `size`, without values that mean the server's default. */
  readonly options: Readonly<Record<string, string | number>>;
  /** The number of partial pictures; a server that supports none is called without them. */
  readonly partialImages: number;
  /** The pictures to change; if empty, a new one is drawn. */
  readonly pictures: readonly Picture[];
  readonly mask: Picture | null;
}

export interface Picture {
  readonly mimeType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface DrawnPicture {
  /** In base64. */
  readonly base64: string;
  readonly revisedPrompt: string | null;
  /** The server's values of `size`, `quality`, `background` and `output_format`, if it reports them. */
  readonly ownSettings: Readonly<Record<string, string>>;
  readonly usage: ToolUsage;
}

export interface PartialPicture {
  readonly index: number;
  readonly base64: string;
  readonly ownSettings: Readonly<Record<string, string>>;
}

/** No picture was drawn. The message is a whole sentence for the model, without address and key. */
export class DrawingFailed extends Error {
  override readonly name = "DrawingFailed";
}

/** A picture of 20 MiB in base64, twice for the parts of a stream that repeat it, and its frame. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const PICTURE_CHARACTERS_MAX = 28 * 1024 * 1024;
const REFUSAL_CHARACTERS_MAX = 200;
const JSON_TYPE = "application/json";
/** These models always reply in base64, and refuse the option. */
const ALWAYS_BASE64 = /^(?:gpt|chatgpt)-image/;

/** Draws pictures by `/images/generations`, changes them by `/images/edits`. Source: OpenAI's API reference, Images. */
export class ImageServer {
  readonly #options: ImageServerOptions;

  constructor(options: ImageServerOptions) {
    this.#options = options;
  }

  /**
   * Draws one picture. Options that the server refuses are dropped once. Throws `DrawingFailed`, or the reason of
   * `signal`.
   */
  async *draw(order: ImageOrder, signal: AbortSignal): AsyncGenerator<PartialPicture, DrawnPicture> {
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    const stop = AbortSignal.any([signal, deadline]);
    try {
      const reply = await this.#ask(order, stop);
      return yield* pictureOf(reply);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DrawingFailed) throw error;
      const sentence = deadline.aborted
        ? "The images server did not draw the picture in time."
        : "The images server cannot be reached.";
      throw new DrawingFailed(sentence, { cause: error });
    }
  }

  async #ask(order: ImageOrder, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const whole = await this.#send(order, signal);
    if (whole.statusCode !== 400 && whole.statusCode !== 422) return await requireAccepted(whole);
    const { size } = order.options;
    const least = { ...order, partialImages: 0, options: size === undefined ? {} : { size } };
    if (isSame(order, least)) return await requireAccepted(whole);
    await whole.body.dump();
    return await requireAccepted(await this.#send(least, signal));
  }

  async #send(order: ImageOrder, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { baseUrl, apiKey } = this.#options;
    const isEdit = order.pictures.length > 0;
    const url = `${baseUrl.replace(/\/+$/, "")}/images/${isEdit ? "edits" : "generations"}`;
    const fields = this.#fieldsOf(order);
    const key: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const { type, body } = isEdit ? await editForm(order, fields) : { type: JSON_TYPE, body: JSON.stringify(fields) };
    return await request(url, { method: "POST", headers: { ...key, "content-type": type }, body, signal });
  }

  #fieldsOf({ prompt, options, partialImages }: ImageOrder): Readonly<Record<string, string | number | boolean>> {
    const { model } = this.#options;
    const modelName = options["model"] ?? model;
    return {
      prompt,
      n: 1,
      ...options,
      ...(modelName === null ? {} : { model: modelName }),
      ...(ALWAYS_BASE64.test(String(modelName)) ? {} : { response_format: "b64_json" }),
      ...(partialImages === 0 ? {} : { stream: true, partial_images: partialImages }),
    };
  }
}

function isSame(one: ImageOrder, other: ImageOrder): boolean {
  return (
    one.partialImages === other.partialImages && Object.keys(one.options).length === Object.keys(other.options).length
  );
}

interface EncodedForm {
  readonly type: string;
  readonly body: Buffer;
}

async function editForm(
  { pictures, mask }: ImageOrder,
  fields: Readonly<Record<string, string | number | boolean>>,
): Promise<EncodedForm> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  const [only] = pictures;
  if (pictures.length === 1 && only !== undefined) form.append("image", blobOf(only), pictureFileName(only));
  else for (const picture of pictures) form.append("image[]", blobOf(picture), pictureFileName(picture));
  if (mask !== null) form.append("mask", blobOf(mask), "mask.png");
  const formResponse = new Response(form);
  const body = Buffer.from(await formResponse.arrayBuffer());
  return { type: formResponse.headers.get("content-type") ?? "multipart/form-data", body };
}

function blobOf({ bytes, mimeType }: Picture): Blob {
  return new Blob([bytes], { type: mimeType });
}

function pictureFileName({ mimeType }: Picture): string {
  return `image.${mimeType.split("/")[1] ?? "png"}`;
}

async function requireAccepted(reply: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
  const { statusCode } = reply;
  if (statusCode === 200) return reply;
  const message = quotableMessage(jsonOrUndefined(await bodyText(reply.body)));
  if (statusCode === 401 || statusCode === 403)
    throw new DrawingFailed("The images server refused this server's key or the picture.");
  if (statusCode === 429) throw new DrawingFailed("The images server draws no more pictures for now.");
  throw new DrawingFailed(`The images server failed with status ${statusCode}${message === "" ? "" : `: ${message}`}.`);
}

/** The error's message without addresses, if it may be quoted. */
function quotableMessage(body: unknown): string {
  const error = isRecord(body) ? body["error"] : null;
  const message = isRecord(error) ? error["message"] : null;
  if (typeof message !== "string") return "";
  return message.replaceAll(/https?:\/\/\S+/g, "…").slice(0, REFUSAL_CHARACTERS_MAX);
}

async function* pictureOf(reply: Dispatcher.ResponseData): AsyncGenerator<PartialPicture, DrawnPicture> {
  if (String(reply.headers["content-type"]).startsWith("text/event-stream")) return yield* streamedPicture(reply.body);
  const answer = jsonOrUndefined(await bodyText(reply.body));
  const list: unknown = isRecord(answer) ? answer["data"] : null;
  const first: unknown = Array.isArray(list) ? list[0] : null;
  if (!isRecord(answer) || !isRecord(first)) throw new DrawingFailed("The images server sent no picture.");
  return drawnFrom({ ...answer, ...first });
}

async function* streamedPicture(body: AsyncIterable<Buffer>): AsyncGenerator<PartialPicture, DrawnPicture> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  for await (const chunk of limitSize(body)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const { data } of messages.splice(0)) {
      const event = jsonOrUndefined(data);
      if (!isRecord(event)) continue;
      const type = String(event["type"]);
      if (type.endsWith(".partial_image")) yield partialFrom(event);
      else if (type.endsWith(".completed")) return drawnFrom(event);
      else if (type === "error") throw new DrawingFailed(`The images server failed: ${quotableMessage(event)}.`);
    }
  }
  throw new DrawingFailed("The images server ended its answer without a picture.");
}

function partialFrom(event: Readonly<Record<string, unknown>>): PartialPicture {
  const { partial_image_index: index, b64_json: base64 } = event;
  return {
    index: typeof index === "number" ? index : 0,
    base64: typeof base64 === "string" ? base64 : "",
    ownSettings: toldIn(event),
  };
}

function drawnFrom(answer: Readonly<Record<string, unknown>>): DrawnPicture {
  const { b64_json: base64, revised_prompt: revisedPrompt, usage } = answer;
  if (typeof base64 !== "string" || base64 === "")
    throw new DrawingFailed("The images server sent an address instead of a picture.");
  if (base64.length > PICTURE_CHARACTERS_MAX) throw new DrawingFailed("The picture is larger than 20 MiB.");
  return {
    base64,
    revisedPrompt: typeof revisedPrompt === "string" && revisedPrompt !== "" ? revisedPrompt : null,
    ownSettings: toldIn(answer),
    usage: usageFrom(usage),
  };
}

function toldIn(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const names = ["size", "quality", "background", "output_format"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = answer[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

function usageFrom(usage: unknown): ToolUsage {
  if (!isRecord(usage)) return {};
  const input = isRecord(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const output = isRecord(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  const all = countOf(usage["output_tokens"]);
  const text = countOf(output["text_tokens"]);
  return {
    imageInputTokens: { text: countOf(input["text_tokens"]), image: countOf(input["image_tokens"]) },
    imageOutputTokens: { text, image: countOf(output["image_tokens"]) || Math.max(0, all - text) },
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

async function bodyText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of limitSize(body)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function* limitSize(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > REPLY_BYTES_MAX) throw new DrawingFailed("The answer of the images server is too large.");
    yield chunk;
  }
}

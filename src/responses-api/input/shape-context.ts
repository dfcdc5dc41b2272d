import { assert } from "@antiphon/base/assert.ts";
import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import { eachInSlices, mapInSlices, Slices } from "@antiphon/base/limits/slices.ts";
import type { StoredItem, StoredToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import { MediaError, type MediaReader, type RequestMedia } from "@antiphon/domain/media.ts";
import type { ModelAbilities } from "@antiphon/domain/models/model-engine.ts";
import type { Caller } from "../access/caller.ts";
import { mediaRefused } from "../errors/media-errors.ts";
import { invalidEncryptedContent } from "../errors/state-errors.ts";
import type { Sealer } from "../seal.ts";
import { withOpenSecret } from "./reasoning-secret.ts";
import { sealScope } from "./resolve-input.ts";

/** Open what the items of a context hold. */
export interface ContextReaders {
  readonly sealer: Sealer;
  readonly media: MediaReader;
  /** Those of the model that reads the context. */
  readonly abilities: ModelAbilities;
}

/** The owner of the items, and the signal that stops the work. */
type ContextCaller = Pick<Caller, "principal" | "signal">;

type Message = Extract<StoredItem, { type: "message" }>;
type MessagePart = Message["content"][number];

/** Items of one request that are converted at the same time, and parts of each item. */
const ITEMS_AT_ONCE_MAX = 4;
const PARTS_AT_ONCE_MAX = 4;

/**
 * The items as the model sees them: sealed reasoning is opened, and images, files and audio are converted to what the
 * model can read. Does not change stored items. `places` are indexes in this request's input, for errors; null for
 * items of earlier requests. Throws if a seal is invalid or a medium cannot be read.
 */
export async function shapeContext(
  { sealer, media, abilities }: ContextReaders,
  caller: ContextCaller,
  context: readonly StoredItem[],
  places: readonly (number | null)[],
): Promise<readonly StoredItem[]> {
  const reader = sealScope(caller.principal.owner);
  const openItems = await mapInSlices(context, (item, index) =>
    withReasoningText(item, (sealedText) => sealer.open(sealedText, reader), (places[index] ?? null) !== null),
  );
  return fitMedia({ media, abilities }, caller, openItems, places);
}

/** Opens sealed reasoning. The seal of a client's item is always checked, and one whose item does not show its text. */
function withReasoningText(item: StoredItem, open: (sealedText: string) => string | null, isSent: boolean): StoredItem {
  if (item.type !== "reasoning" || item.encrypted_content == null) return item;
  const openItem = withOpenSecret(item, open);
  if (openItem !== null) return openItem;
  if (isSent || (item.content ?? []).length === 0) throw invalidEncryptedContent();
  const { encrypted_content: _sealedText, ...visibleItem } = item;
  return visibleItem;
}

/** Converts every image, file and recording to what the model can read. Items without any stay the same objects. */
async function fitMedia(
  { media: reader, abilities }: Pick<ContextReaders, "media" | "abilities">,
  { principal, signal }: ContextCaller,
  items: readonly StoredItem[],
  places: readonly (number | null)[],
): Promise<readonly StoredItem[]> {
  const holders: number[] = [];
  await eachInSlices(items, (item, index) => {
    if (holdsMedia(item)) holders.push(index);
  });
  if (holders.length === 0) return items;
  const stop = new AbortController();
  const media = reader.forRequest(principal.owner, abilities, AbortSignal.any([signal, stop.signal]));
  try {
    const fittedItems = await mapSomeAtOnce(holders, ITEMS_AT_ONCE_MAX, async (index) => {
      const place = places[index] ?? null;
      const item = items[index];
      assert(item !== undefined, "each of these items is in the list");
      return [index, await fitItem(media, item, place === null ? null : `input[${place}]`)] as const;
    });
    const byIndex = new Map(fittedItems);
    return items.map((item, index) => byIndex.get(index) ?? item);
  } finally {
    stop.abort(); // If one item failed, the others are not needed.
  }
}

function holdsMedia(item: StoredItem): boolean {
  switch (item.type) {
    case "message":
      return item.content.some(isMedia);
    case "function_call_output":
    case "custom_tool_call_output":
      return typeof item.output !== "string" && item.output.some(isMedia);
    default:
      return item.type === "computer_call_output";
  }
}

function isMedia({ type }: { readonly type: string }): boolean {
  return type === "input_image" || type === "input_file" || type === "input_audio";
}

async function fitItem(media: RequestMedia, item: StoredItem, path: string | null): Promise<StoredItem> {
  switch (item.type) {
    case "message": {
      const isAlone = item.content.length === 1;
      return {
        ...item,
        content: await fitParts(item.content, path, "content", (part) => fitPart(media, part, isAlone)),
      };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { output } = item;
      if (typeof output === "string") return item;
      return { ...item, output: await fitParts(output, path, "output", (part) => fitOutputPart(media, part)) };
    }
    case "computer_call_output": {
      const { file_id: _file, ...output } = item.output;
      const url = await withPath(media.readImage(item.output), path === null ? null : `${path}.output`);
      return { ...item, output: { ...output, image_url: url } };
    }
    default:
      return item;
  }
}

function fitParts<Part>(
  parts: readonly Part[],
  path: string | null,
  member: string,
  fit: (part: Part) => Promise<Part>,
): Promise<Part[]> {
  const slices = new Slices(); // Decoding an image or a file takes long.
  return mapSomeAtOnce(parts, PARTS_AT_ONCE_MAX, async (part, index) => {
    await slices.pause();
    return withPath(fit(part), path === null ? null : `${path}.${member}[${index}]`);
  });
}

async function fitPart(media: RequestMedia, part: MessagePart, isAlone: boolean): Promise<MessagePart> {
  if (part.type === "input_audio") return media.readAudio(part, isAlone);
  return part.type === "input_image" || part.type === "input_file" ? fitOutputPart(media, part) : part;
}

async function fitOutputPart(
  media: RequestMedia,
  part: StoredToolOutputContentPart,
): Promise<StoredToolOutputContentPart> {
  if (part.type === "input_image") return { ...part, file_id: null, image_url: await media.readImage(part) };
  return part.type === "input_file" ? media.readFile(part) : part;
}

/** Adds the path of the part to a media error. */
async function withPath<T>(reading: Promise<T>, path: string | null): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof MediaError ? mediaRefused(error, path) : error;
  }
}

import type { StoredItem, StoredToolOutputContentPart } from "../../../generated/responses-api/types.ts";
import { mapSomeAtOnce } from "../../base/limits/map-some-at-once.ts";
import type { Owner } from "../../runs/ports.ts";
import { mediaRefused } from "../errors/media-errors.ts";
import { MediaError, type MediaReader, type RequestMedia } from "../ports.ts";

/** Items of one request that are made fit at the same time, and parts of each. */
const ITEMS_AT_ONCE_MAX = 4;
const PARTS_AT_ONCE_MAX = 4;

/** For whom media is read, and for how long anyone waits. */
export interface MediaScope {
  readonly owner: Owner;
  readonly signal: AbortSignal;
}

type Message = Extract<StoredItem, { type: "message" }>;
type MessagePart = Message["content"][number];

/**
 * The items with every picture, file and recording such that the model can take it; the others are the same objects as
 * before. `places` are their places in the input of this request, which errors name; null for items of earlier
 * requests.
 */
export async function fitMedia(
  reader: MediaReader,
  scope: MediaScope,
  items: readonly StoredItem[],
  places: readonly (number | null)[],
): Promise<readonly StoredItem[]> {
  if (!items.some(holdsMedia)) return items;
  const stop = new AbortController();
  const media = reader.forRequest(scope.owner, AbortSignal.any([scope.signal, stop.signal]));
  try {
    return await mapSomeAtOnce(items, ITEMS_AT_ONCE_MAX, (item, index) => {
      const place = places[index] ?? null;
      return fitItem(media, item, place === null ? null : `input[${place}]`);
    });
  } finally {
    stop.abort(); // Where one failed, nobody waits for the others.
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
      const url = await named(media.readImage(item.output), path === null ? null : `${path}.output`);
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
  return mapSomeAtOnce(parts, PARTS_AT_ONCE_MAX, (part, index) =>
    named(fit(part), path === null ? null : `${path}.${member}[${index}]`),
  );
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

/** An error of a part says where the part is. */
async function named<T>(reading: Promise<T>, path: string | null): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof MediaError ? mediaRefused(error, path) : error;
  }
}

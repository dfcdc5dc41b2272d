import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { Owner } from "../../runs/ports.ts";
import { invalidEncryptedContent } from "../errors/state-errors.ts";
import type { Sealer } from "../keeping/seal.ts";
import type { MediaReader } from "../ports.ts";
import { fitMedia } from "./fit-media.ts";
import { ownerText } from "./resolve-input.ts";

/** What items are opened and made fit with. */
export interface ContextSources {
  readonly sealer: Sealer;
  readonly media: MediaReader;
}

export interface ContextScope {
  readonly owner: Owner;
  /** Aborts when the one who waits for the answer leaves. */
  readonly signal: AbortSignal;
}

/**
 * The items as the model is shown them: what was sealed is opened, and pictures, files and recordings are such that it
 * can take them. Stored items stay as they were sent. `places` are those that errors name.
 */
export async function shapeContext(
  sources: ContextSources,
  scope: ContextScope,
  context: readonly StoredItem[],
  places: readonly (number | null)[],
): Promise<readonly StoredItem[]> {
  const reader = ownerText(scope.owner);
  const unsealed = context.map((item) => opened(item, sources.sealer, reader));
  return fitMedia(sources.media, scope, unsealed, places);
}

/** Sealed reasoning gets its text back, unless it is shown anyway. */
function opened(item: StoredItem, sealer: Sealer, owner: string): StoredItem {
  if (item.type !== "reasoning" || item.encrypted_content == null) return item;
  const text = sealer.open(item.encrypted_content, owner);
  if (text === null) throw invalidEncryptedContent();
  const { encrypted_content: _sealed, ...shown } = item;
  if (text === "" || (shown.content ?? []).length > 0) return shown;
  return { ...shown, content: [{ type: "reasoning_text", text }] };
}

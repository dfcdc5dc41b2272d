import type { ChatCompletionsHandlers } from "@antiphon/contracts/chat-completions/operations.ts";
import type { ChatCompletion } from "@antiphon/contracts/chat-completions/types.ts";
import type { Response, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { FaceNotes } from "@antiphon/domain/faces.ts";
import type { ResponseArchive, ResponseFilter } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { cursorNotFound, responseStillRuns } from "../../responses-api/errors/state-errors.ts";
import { deleteResponse } from "../../responses-api/operations/delete-response.ts";
import type { Sealer } from "../../responses-api/seal.ts";
import type { WatchContext } from "../../responses-api/show/watch-response.ts";
import { type ClientSeal, clientSeal } from "../client-seal.ts";
import { completionNotFound } from "./chat-errors.ts";
import { chatCompletion, completionId, responseIdOfCompletion } from "./completion.ts";
import { storedMessages } from "./stored-messages.ts";

type Handlers = ChatCompletionsHandlers<Caller>;

const PAGE_DEFAULT = 20;
/** Items are read in pages of this size. */
const ITEMS_AT_ONCE = 100;

export interface StoredCompletionsContext {
  readonly watching: WatchContext;
  readonly archive: ResponseArchive;
  readonly sealer: Sealer;
}

/** `GET /v1/chat/completions`: those that clients asked to store, oldest first by default. */
export function listChatCompletions(context: StoredCompletionsContext): Handlers["listChatCompletions"] {
  return async ({ query }, { principal: { owner } }) => {
    const { limit = PAGE_DEFAULT, order = "asc", after = null } = query;
    const filter = { ...ALL_ASKED_FOR, model: query.model ?? null, metadata: query.metadata ?? {} };
    const cursor = after === null ? null : responseIdOfCompletion(after);
    const page = await context.archive.list(owner, { filter, limit, order, after: cursor });
    if (page === null) throw cursorNotFound(after ?? "");
    const found = await Promise.all(page.responses.map(({ id }) => findCompletion(context, owner, id)));
    const data = found.filter((completion) => completion !== null);
    const lastId = page.lastId === null ? null : completionId(page.lastId);
    return {
      status: 200,
      body: { object: "list", data, first_id: data[0]?.id ?? null, last_id: lastId, has_more: page.hasMore },
    };
  };
}

/** The others have no answer that a completion could show. */
const SHOWN_STATUSES = ["completed", "incomplete"] as const;

const ALL_ASKED_FOR: ResponseFilter = {
  statuses: SHOWN_STATUSES,
  model: null,
  kind: null,
  isBackground: null,
  createdAfter: null,
  createdBefore: null,
  metadata: {},
  keyId: null,
  conversationId: null,
  previousId: null,
  words: [],
  askedForBy: "chat",
};

/** `GET /v1/chat/completions/{completion_id}` */
export function getChatCompletion(context: StoredCompletionsContext): Handlers["getChatCompletion"] {
  return async ({ path: { completion_id: id } }, { principal: { owner } }) => {
    const body = await findCompletion(context, owner, responseIdOfCompletion(id));
    if (body === null) throw completionNotFound(id);
    return { status: 200, body };
  };
}

/** `POST /v1/chat/completions/{completion_id}`: replaces the metadata. */
export function updateChatCompletion(context: StoredCompletionsContext): Handlers["updateChatCompletion"] {
  return async ({ path: { completion_id: id }, body: { metadata } }, { principal: { owner } }) => {
    const responseId = responseIdOfCompletion(id);
    if ((await findCompletion(context, owner, responseId)) === null) throw completionNotFound(id);
    const response = await context.watching.store.replaceMetadata(owner, responseId, metadata ?? {});
    if (response === false) throw responseStillRuns(responseId);
    const body = response === null ? null : await findCompletion(context, owner, responseId);
    if (body === null) throw completionNotFound(id); // Deleted in the meantime.
    return { status: 200, body };
  };
}

/** `DELETE /v1/chat/completions/{completion_id}`: deletes the response, too. */
export function deleteChatCompletion(context: StoredCompletionsContext): Handlers["deleteChatCompletion"] {
  const remove = deleteResponse(context.watching);
  return async ({ path: { completion_id: id }, query, headers }, caller) => {
    const responseId = responseIdOfCompletion(id);
    if ((await findCompletion(context, caller.principal.owner, responseId)) === null) throw completionNotFound(id);
    await remove({ path: { response_id: responseId }, query, headers, body: undefined }, caller);
    return { status: 200, body: { object: "chat.completion.deleted", id, deleted: true } };
  };
}

/** `GET /v1/chat/completions/{completion_id}/messages`: the messages of the request, in their order by default. */
export function listChatCompletionMessages(context: StoredCompletionsContext): Handlers["listChatCompletionMessages"] {
  return async ({ path: { completion_id: id }, query }, { principal: { owner } }) => {
    const { limit = PAGE_DEFAULT, order = "asc", after = null } = query;
    const responseId = responseIdOfCompletion(id);
    if ((await findCompletion(context, owner, responseId)) === null) throw completionNotFound(id);
    const all = storedMessages(await inputItems(context.watching.store, owner, responseId), id);
    const ordered = order === "asc" ? all : all.toReversed();
    const start = after === null ? 0 : ordered.findIndex((message) => message.id === after) + 1;
    if (after !== null && start === 0) throw cursorNotFound(after);
    const data = ordered.slice(start, start + limit);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { status: 200, body: { object: "list", data, ...ends, has_more: start + limit < ordered.length } };
  };
}

/** All items of the request, oldest first. */
async function inputItems(store: WatchContext["store"], owner: Owner, responseId: string): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  for (;;) {
    const after = items.at(-1)?.id ?? null;
    const request = { limit: ITEMS_AT_ONCE, order: "asc", after, before: null, history: false } as const;
    const page = await store.listInputItems(owner, responseId, request);
    items.push(...(page?.items ?? []));
    if (page === null || !page.hasMore || page.items.length === 0) return items;
  }
}

/**
 * The completion that a response of this face shows; null for any other response, and for one that still runs or has
 * failed.
 */
async function findCompletion(
  { watching, archive, sealer }: StoredCompletionsContext,
  owner: Owner,
  responseId: string,
): Promise<ChatCompletion | null> {
  const record = await archive.findRecord(owner, responseId);
  if (record?.face?.name !== "chat") return null;
  const response = await watching.store.findResponse(owner, responseId);
  if (response === null || !SHOWN_STATUSES.some((status) => status === response.status)) return null;
  return completionOf(response, record.face.notes, clientSeal(sealer, owner));
}

function completionOf(response: Response, notes: FaceNotes, seal: ClientSeal): ChatCompletion {
  const view = { usesFunctions: notes["usesFunctions"] === true, speaks: notes["speaks"] === true, seal };
  return { ...chatCompletion([response], view), metadata: response.metadata };
}

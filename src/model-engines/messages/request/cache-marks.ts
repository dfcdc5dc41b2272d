import type { CacheMark, MessagesBlock, MessagesRequest, MessagesTurn } from "./messages-wire.ts";

const MARK: CacheMark = { type: "ephemeral" };
/** The API takes four marks: two are for tools and system. */
const TURNS_MARKED = 2;

/**
 * The request with marks for the model server's cache, behind the prefixes that the next request is likely to share:
 * the last tool, the system text, and the last two turns of the user. The older of these was the last turn of the
 * request before, whose prefix is in the cache.
 */
export function withCacheMarks(body: MessagesRequest): MessagesRequest {
  const { tools, system, messages } = body;
  return {
    ...body,
    ...(system === undefined ? {} : { system: withMarkedLast(system) }),
    ...(tools === undefined ? {} : { tools: withMarkedLast(tools) }),
    messages: withMarkedTurns(messages),
  };
}

function withMarkedTurns(turns: readonly MessagesTurn[]): readonly MessagesTurn[] {
  const places = turns.flatMap(({ role }, place) => (role === "user" ? [place] : [])).slice(-TURNS_MARKED);
  return turns.map((turn, place) =>
    places.includes(place) ? { ...turn, content: withMarkedLast<MessagesBlock>(turn.content) } : turn,
  );
}

function withMarkedLast<Marked extends object>(list: readonly Marked[]): readonly Marked[] {
  return list.map((entry, place) => (place === list.length - 1 ? { ...entry, cache_control: MARK } : entry));
}

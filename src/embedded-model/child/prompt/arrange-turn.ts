import { type ChatTurn, type PromptPart, type TurnMessage, words } from "./chat-turn.ts";
import { systemAdditions } from "./tool-texts.ts";

const BETWEEN = words("\n\n");

/**
 * The messages as templates expect them: all system texts first and as one, with what the turn adds to them; neighbours
 * of one role joined; nothing empty. Many templates refuse or misplace anything else.
 */
export function arrangeTurn(
  turn: Pick<ChatTurn, "messages" | "functions" | "choice" | "format">,
): readonly TurnMessage[] {
  const additions = systemAdditions(turn);
  const texts = turn.messages.map(withoutEmptyParts).filter(({ parts }) => parts.length > 0);
  const systemParts = joinedParts([
    ...texts.filter(({ role }) => role === "system").map(({ parts }) => parts),
    ...(additions === "" ? [] : [[words(additions)]]),
  ]);
  const result: TurnMessage[] = systemParts.length === 0 ? [] : [{ role: "system", parts: systemParts }];
  for (const message of texts.filter(({ role }) => role !== "system")) {
    const before = result.at(-1);
    if (before?.role !== message.role) result.push(message);
    else result[result.length - 1] = { role: before.role, parts: joinedParts([before.parts, message.parts]) };
  }
  return result;
}

/** The system text put before the first text of the user: for templates without a system role. */
export function withoutSystemRole(messages: readonly TurnMessage[]): readonly TurnMessage[] {
  const [system, first, ...others] = messages;
  if (system?.role !== "system") return messages;
  if (first?.role !== "user") return [{ role: "user", parts: system.parts }, ...messages.slice(1)];
  return [{ role: "user", parts: joinedParts([system.parts, first.parts]) }, ...others];
}

/** A user's message before an assistant's first one: for templates that demand that the user begins. */
export function withUserFirst(messages: readonly TurnMessage[]): readonly TurnMessage[] {
  const place = messages[0]?.role === "system" ? 1 : 0;
  if (messages[place]?.role === "user") return messages;
  return [...messages.slice(0, place), { role: "user", parts: [words("…")] }, ...messages.slice(place)];
}

function withoutEmptyParts({ role, parts }: TurnMessage): TurnMessage {
  return { role, parts: parts.filter(({ text }) => text !== "") };
}

function joinedParts(lists: readonly (readonly PromptPart[])[]): readonly PromptPart[] {
  return lists.flatMap((parts, place) => (place === 0 ? parts : [BETWEEN, ...parts]));
}

import { setTimeout as sleep } from "node:timers/promises";
import type { ConversationItem } from "openai/resources/conversations/items";
import { isBusyConversation, meet, persist } from "./client-errors.ts";
import { type Desk, REST_MS } from "./desk.ts";
import { follow } from "./follow.ts";
import type { Talk } from "./records.ts";
import { type Name, namesIn } from "./world.ts";

/** Opens a conversation that `converse` goes on with. */
export async function openTalk({ client, records }: Desk): Promise<Talk> {
  const { id } = await persist(records, "conversation", () => client.conversations.create());
  const talk = { id, added: new Set<Name>(), absent: new Set<Name>(), answered: new Set<Name>() };
  records.talks.push(talk);
  return talk;
}

/** Says something in a conversation and hears the answer, or adds a note, or both at the same time. */
export async function converse(desk: Desk, talk: Talk): Promise<void> {
  const way = Math.random();
  await Promise.all([way < 0.7 ? say(desk, talk) : null, way > 0.5 ? note(desk, talk) : null]);
  await sleep(Math.random() * REST_MS);
}

async function say(desk: Desk, talk: Talk): Promise<void> {
  const name = desk.records.nextName();
  const before = [...talk.added];
  const view = await follow(desk, { kind: "conversation", name, members: { conversation: talk.id } });
  const status = view.final?.status;
  if (status === "completed") {
    talk.added.add(name);
    talk.answered.add(name);
    desk.records.contexts.push({ name, before });
  } else if (status !== undefined) talk.absent.add(name);
}

async function note({ client, records }: Desk, talk: Talk): Promise<void> {
  const name = records.nextName();
  const items = [{ role: "user", content: name } as const];
  try {
    await client.conversations.items.create(talk.id, { items });
    talk.added.add(name);
    records.count("note");
  } catch (error) {
    meet(records, "note", error);
    if (isBusyConversation(error)) talk.absent.add(name);
  }
}

/** All items of a conversation, in order. */
export async function itemsOf(client: Desk["client"], id: string): Promise<readonly ConversationItem[]> {
  const items: ConversationItem[] = [];
  for await (const item of client.conversations.items.list(id, { order: "asc", limit: 100 })) items.push(item);
  return items;
}

/** What a client said in an item; null in those of the model. */
export function nameIn(item: ConversationItem): string | null {
  return item.type === "message" && item.role === "user" ? (namesIn(JSON.stringify(item.content))[0] ?? null) : null;
}

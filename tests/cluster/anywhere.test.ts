import OpenAI, { NotFoundError, toFile } from "openai";
import type { Response as ResponseBody, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { startCluster } from "./cluster.ts";
import { itemsOf } from "./converse.ts";
import { MODEL } from "./desk.ts";
import { restOf } from "./follow.ts";
import { hasCluster, WHY_SKIPPED } from "./needs.ts";
import { SLOWLY } from "./world.ts";

const TEST_TIMEOUT_MS = 300_000;
const ENDED = { timeout: 20_000 };

/** Clients of three nodes: what one makes, the others read and change. */
interface Clients {
  readonly maker: OpenAI;
  readonly other: OpenAI;
  readonly third: OpenAI;
}

/** What is tried on one cluster, since starting one takes seconds. */
const TRIED: Readonly<Record<string, (clients: Clients) => Promise<void>>> = {
  "a response in progress is fetched, and its end is waited for": async ({ maker, other, third }) => {
    const { id } = await maker.responses.create({ model: MODEL, input: SLOWLY, background: true });
    expect(["queued", "in_progress"]).toContain((await other.responses.retrieve(id)).status);
    await expect.poll(async () => (await third.responses.retrieve(id)).status, ENDED).toBe("completed");
    expect(await other.responses.retrieve(id)).toEqual(await maker.responses.retrieve(id));
  },
  "its events are followed live, resumed from any number, and replayed": async ({ maker, other, third }) => {
    const made = await begun(maker, { background: true });
    const followed = collect(await other.responses.retrieve(made.id, STREAMED));
    const resumed = collect(await third.responses.retrieve(made.id, { ...STREAMED, starting_after: 4 }));
    const events = await made.rest;
    expect(await followed).toEqual(events);
    expect(await resumed).toEqual(events.slice(5));
    for (const client of [maker, other, third])
      expect(await collect(await client.responses.retrieve(made.id, STREAMED))).toEqual(events);
  },
  "a foreground stream is followed": async ({ maker, other }) => {
    const made = await begun(maker, {});
    const followed = collect(await restOf(other, { id: made.id, events: [], isBackground: false }));
    expect(await followed).toEqual(await made.rest);
  },
  "a response is cancelled": async ({ maker, other, third }) => {
    const made = await begun(maker, { background: true });
    expect((await other.responses.cancel(made.id)).status).toBe("cancelled");
    expect((await third.responses.retrieve(made.id)).status).toBe("cancelled");
    const last = (await made.rest).at(-1);
    expect(last).toMatchObject({ response: { status: "cancelled" } });
  },
  "a response is deleted while it is made": async ({ maker, other, third }) => {
    const { id } = await begun(maker, { background: true });
    await other.responses.delete(id);
    for (const client of [maker, other, third])
      await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  },
  "its input items are listed, and its chain is continued": async ({ maker, other, third }) => {
    const first = await maker.responses.create({ model: MODEL, input: "say-1" });
    const second = await other.responses.create({ model: MODEL, input: "say-2", previous_response_id: first.id });
    const texts: string[] = [];
    for await (const item of third.responses.inputItems.list(second.id, { order: "asc" }))
      texts.push(JSON.stringify(item));
    expect(texts.join().match(/say-\d/g)).toEqual(["say-2"]);
    expect(second.previous_response_id).toBe(first.id);
  },
  "a conversation is continued, changed and deleted": async ({ maker, other, third }) => {
    const { id } = await maker.conversations.create({ items: [{ role: "user", content: "say-1" }] });
    await other.responses.create({ model: MODEL, input: "say-2", conversation: id });
    const added = await third.conversations.items.create(id, { items: [{ role: "user", content: "say-3" }] });
    const lists = await Promise.all([maker, other, third].map((client) => itemsOf(client, id)));
    expect(lists[0]?.map((item) => ("role" in item ? item.role : null))).toEqual(["user", "user", "assistant", "user"]);
    expect(lists).toEqual(lists.map(() => lists[0]));
    await maker.conversations.items.delete(added.data[0]?.id ?? "", { conversation_id: id });
    expect(await itemsOf(other, id)).toHaveLength(3);
    await other.conversations.update(id, { metadata: { topic: "tides" } });
    expect((await third.conversations.retrieve(id)).metadata).toEqual({ topic: "tides" });
    await third.conversations.delete(id);
    await expect(maker.conversations.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  },
  "a file is read, listed and deleted": async ({ maker, other, third }) => {
    const { id } = await maker.files.create({
      file: await toFile(Buffer.from("Tides"), "t.txt"),
      purpose: "user_data",
    });
    expect(await (await other.files.content(id)).text()).toBe("Tides");
    expect((await third.files.list()).data.map((file) => file.id)).toContain(id);
    await third.files.delete(id);
    await expect(maker.files.content(id)).rejects.toBeInstanceOf(NotFoundError);
  },
  "a vector store is filled and searched": async ({ maker, other, third }) => {
    const file = await maker.files.create({
      file: await toFile(Buffer.from("The tide is high."), "t.txt"),
      purpose: "assistants",
    });
    const { id } = await maker.vectorStores.create({ name: "sea", file_ids: [file.id] });
    await expect.poll(async () => (await other.vectorStores.retrieve(id)).file_counts.completed, ENDED).toBe(1);
    const found = await third.vectorStores.search(id, { query: "tide" });
    expect(found.data).toMatchObject([{ file_id: file.id }]);
    await other.vectorStores.delete(id);
    await expect(maker.vectorStores.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  },
  "a container and its files are read": async ({ maker, other, third }) => {
    const { id } = await maker.containers.create({ name: "box" });
    const file = await other.containers.files.create(id, { file: await toFile(Buffer.from("Tides"), "t.txt") });
    expect(await (await third.containers.files.content.retrieve(file.id, { container_id: id })).text()).toBe("Tides");
    await third.containers.delete(id);
    await expect(maker.containers.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  },
};

describe.skipIf(!hasCluster)(`three nodes${WHY_SKIPPED}`, () => {
  test("serve and change everything through a node other than the one that made it", {
    timeout: TEST_TIMEOUT_MS,
  }, async () => {
    const { nodes } = await startCluster({ nodes: 3 });
    const [maker, other, third] = nodes.map(({ client }) => client);
    if (maker === undefined || other === undefined || third === undefined) throw new Error("there are three nodes");
    const clients = { maker, other, third };
    expect(await failuresOf(TRIED, clients)).toEqual([]);
    for (const node of nodes) node.cut("nodes");
    expect(await failuresOf(TRIED, clients), "while no node reaches another").toEqual([]);
  });
});

async function failuresOf(all: typeof TRIED, clients: Clients): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [title, tried] of Object.entries(all))
    await tried(clients).catch((error: unknown) => failed.push(`${title}: ${String(error)}`));
  return failed;
}

const STREAMED = { stream: true, include_obfuscation: false } as const;

interface Begun {
  readonly id: string;
  /** All events, once the stream has ended. */
  readonly rest: Promise<readonly ResponseStreamEvent[]>;
}

/** A response whose first words were read. */
async function begun(client: OpenAI, members: { readonly background?: boolean }): Promise<Begun> {
  const stream_options = { include_obfuscation: false };
  const stream = await client.responses.create({
    model: MODEL,
    input: SLOWLY,
    stream: true,
    stream_options,
    ...members,
  });
  const first = Promise.withResolvers<ResponseBody>();
  const read = async (): Promise<readonly ResponseStreamEvent[]> => {
    const events: ResponseStreamEvent[] = [];
    let response: ResponseBody | undefined;
    for await (const event of stream) {
      events.push(event);
      if ("response" in event) response ??= event.response;
      if (event.type === "response.output_text.delta" && response !== undefined) first.resolve(response);
    }
    return events;
  };
  const rest = read();
  rest.catch(first.reject);
  return { id: (await first.promise).id, rest };
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

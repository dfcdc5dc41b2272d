import { setTimeout as sleep } from "node:timers/promises";
import { NotFoundError, toFile } from "openai";
import type { Response as ResponseBody } from "openai/resources/responses/responses";
import { persist } from "./client-errors.ts";
import { type Desk, MODEL, PATIENCE_MS, REST_MS } from "./desk.ts";
import { follow } from "./follow.ts";

/** What a client does again and again. An error ends one act, and the next one begins. */
export type Act = (desk: Desk) => Promise<void>;

/** About as long as an answer takes. */
const ANSWER_MS = 800;
const OPEN: ReadonlySet<string | undefined> = new Set(["queued", "in_progress"]);
const FILE_LINES = 100;

export const ACTS: Readonly<Record<string, Act>> = {
  plain: async ({ client, records }) => {
    const input = records.nextName();
    records.answers.push(await client.responses.create({ model: MODEL, input }));
  },

  chain: async (desk) => {
    const first = await follow(desk, { kind: "stream", name: desk.records.nextName() });
    if (first.final?.status !== "completed") return;
    const name = desk.records.nextName();
    desk.records.contexts.push({ name, before: [first.name] });
    await follow(desk, { kind: "chain", name, members: { previous_response_id: first.final.id } });
  },

  background: async (desk) => {
    const id = await beginInBackground(desk);
    desk.records.answers.push(await waitForEnd(desk, id));
  },

  "background stream": async (desk) => {
    const name = desk.records.nextName();
    await follow(desk, { kind: "background stream", name, members: { background: true }, others: 2 });
  },

  tools: async (desk) => {
    const name = desk.records.nextName();
    const server = { server_label: "bank", server_url: desk.world.mcpUrl, require_approval: "never" } as const;
    const number = Number(/\d+/.exec(name)?.[0]);
    desk.records.payments.push(number);
    const members = {
      input: `number ${number} ${name}`,
      background: true,
      tools: [{ type: "mcp", ...server } as const],
    };
    await follow(desk, { kind: "tools", name, members, others: 1 });
  },

  cancel: async (desk) => {
    const { client, records } = desk;
    const id = await beginInBackground(desk);
    await sleep(Math.random() * ANSWER_MS);
    await persist(records, "cancel", () => client.responses.cancel(id));
    records.answers.push(await waitForEnd(desk, id));
  },

  delete: async (desk) => {
    const { client, records } = desk;
    const id = await beginInBackground(desk);
    await sleep(Math.random() * ANSWER_MS);
    await persist(records, "delete", () => client.responses.delete(id)).catch(ignoreMissing);
    records.deleted.push(id);
  },

  file: async ({ client, records }) => {
    const text = `${records.nextName()}\n`.repeat(FILE_LINES);
    const file = await toFile(Buffer.from(text), "a.txt");
    const { id } = await client.files.create({ file, purpose: "user_data" });
    records.files.push({ id, text });
    await sleep(REST_MS);
  },
};

async function beginInBackground({ client, records }: Desk): Promise<string> {
  return (await client.responses.create({ model: MODEL, input: records.nextName(), background: true })).id;
}

async function waitForEnd({ client, records }: Desk, id: string): Promise<ResponseBody> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await persist(records, "retrieve", () => client.responses.retrieve(id));
    if (!OPEN.has(response.status)) return response;
    if (performance.now() > until) throw new Error(`${id} has no end`);
    await sleep(REST_MS);
  }
}

/** A delete that was tried again may have worked the first time. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}

import { describe, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { startTestServer, type TestServerOptions } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

async function withServer(use: (client: Antiphon) => Promise<void>, options: TestServerOptions = {}): Promise<void> {
  const server = await startTestServer(options);
  try {
    await use(new Antiphon({ baseUrl: server.url, apiKey: server.apiKey }));
  } finally {
    await server.close();
  }
}

/** A model that goes on until it is stopped. */
const SLOW = "scenarios:\n  - events: [{ text: slow }, { delay_ms: 60000 }, { text: words }]\n";
const MODEL = { model: "antiphon-built-in" };

describe("the list of responses", () => {
  test("shows what was asked, what was answered, by whom, and how long it took", async () => {
    verifies("inspection.list.summaries");
    await withServer(async (client) => {
      const { id } = await client.createResponse({
        ...MODEL,
        input: "Say  hello\nto Ada",
        metadata: { topic: "demo" },
      });
      const { data, has_more, first_id, last_id } = await client.listResponses();
      expect({ has_more, first_id, last_id }).toEqual({ has_more: false, first_id: id, last_id: id });
      expect(data).toMatchObject([
        {
          id,
          object: "response.summary",
          status: "completed",
          is_live: false,
          kind: "plain",
          background: false,
          model: "antiphon-built-in",
          conversation: null,
          previous_response_id: null,
          metadata: { topic: "demo" },
          usage: { total_tokens: expect.any(Number) },
          price: null,
          error: null,
          incomplete_details: null,
          input_preview: "Say hello to Ada",
          tools: [],
          timing: { queued_ms: null, first_text_ms: expect.any(Number), duration_ms: expect.any(Number) },
          key: { id: expect.stringMatching(/^key_/), name: expect.any(String) },
        },
      ]);
      expect(data[0]?.output_preview).not.toBe("");
      expect(data[0]?.timing.duration_ms).toBeLessThan(10_000);
    });
  });

  test("is filtered by status, model, kind, time, metadata, conversation, what they continue, and words", async () => {
    verifies("inspection.list.filters");
    await withServer(async (client) => {
      const conversation = (await client.createConversation({})).id;
      const made = {
        plain: (await client.createResponse({ ...MODEL, input: "the tide turns", metadata: { of: "x", and: 'y"z' } }))
          .id,
        background: (await client.createResponse({ ...MODEL, input: "50% of_it", background: true })).id,
        inConversation: (await client.createResponse({ ...MODEL, input: "The Sea", conversation })).id,
      };
      await expect.poll(async () => (await client.getResponse(made.background)).status).toBe("completed");
      const listed = async (query: Parameters<Antiphon["listResponses"]>[0]) =>
        (await client.listResponses(query)).data.map(({ id }) => id);
      expect(await listed({ order: "asc" })).toEqual(Object.values(made));
      expect(await listed({ status: ["completed", "failed"] })).toHaveLength(3);
      expect(await listed({ status: ["failed"] })).toEqual([]);
      expect(await listed(MODEL)).toHaveLength(3);
      expect(await listed({ model: "b" })).toEqual([]);
      expect(await listed({ kind: "background" })).toEqual([made.background]);
      expect(await listed({ background: false, order: "asc" })).toEqual([made.plain, made.inConversation]);
      expect(await listed({ metadata: { and: 'y"z' } })).toEqual([made.plain]);
      expect(await listed({ metadata: { of: "y" } })).toEqual([]);
      expect(await listed({ conversation })).toEqual([made.inConversation]);
      const again = { ...MODEL, input: "Again", previous_response_id: made.plain };
      const branches = [await client.createResponse(again), await client.createResponse(again)].map(({ id }) => id);
      expect(await listed({ previous_response_id: made.plain, order: "asc" })).toEqual(branches);
      expect(await listed({ previous_response_id: made.background })).toEqual([]);
      for (const id of branches) await client.deleteResponse(id);
      expect(await listed({ query: "TURNS tide" })).toEqual([made.plain]);
      expect(await listed({ query: "50% OF_IT" })).toEqual([made.background]);
      expect(await listed({ query: "5%it" })).toEqual([]);
      expect(await listed({ created_before: 1_000 })).toEqual([]);
      expect(await listed({ created_after: 1_000 })).toHaveLength(3);
      const [first] = (await client.listResponses()).data;
      expect(await listed({ key: first?.key?.id ?? "" })).toHaveLength(3);
      expect(await listed({ key: "key_other" })).toEqual([]);
    });
  });

  test("is read by pages, in both orders, without gaps", async () => {
    verifies("inspection.list.pages");
    await withServer(async (client) => {
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) ids.push((await client.createResponse({ ...MODEL, input: "Hi" })).id);
      for (const order of ["asc", "desc"] as const) {
        const read: string[] = [];
        for (let after: string | null | undefined; after !== null; ) {
          const page = await client.listResponses({ order, limit: 2, ...(after === undefined ? {} : { after }) });
          read.push(...page.data.map(({ id }) => id));
          after = page.has_more ? page.last_id : null;
        }
        expect(read).toEqual(order === "asc" ? ids : ids.toReversed());
      }
      await expect(client.listResponses({ after: "resp_unknown" })).rejects.toMatchObject({
        status: 400,
        param: "after",
      });
    });
  });

  test("shows a response that is being made", async () => {
    verifies("inspection.list.live");
    await withServer(
      async (client) => {
        const { id } = await client.createResponse({ ...MODEL, input: "Hi", background: true });
        await expect.poll(async () => (await client.listResponses()).data[0]?.status).toBe("in_progress");
        expect((await client.listResponses()).data[0]).toMatchObject({
          id,
          is_live: true,
          kind: "background",
          usage: null,
        });
        const { data } = await client.listResponseTimeline(id);
        expect(data[0]).toMatchObject({ sequence_number: 0, type: "response.created", at_ms: expect.any(Number) });
        await client.cancelResponse(id);
        const [ended] = (await client.listResponses()).data;
        expect(ended).toMatchObject({
          id,
          is_live: false,
          status: "cancelled",
          timing: { queued_ms: expect.any(Number) },
        });
      },
      { scenario: SLOW },
    );
  });
});

describe("the timeline of a response", () => {
  test("names each event with the time at which it was made", async () => {
    verifies("inspection.timeline.events");
    await withServer(async (client) => {
      const { id } = await client.createResponse({ ...MODEL, input: "Say hello" });
      const { data, has_more } = await client.listResponseTimeline(id);
      const types = (await Array.fromAsync(await client.streamResponseEvents(id, { dialect: "reference" }))).map(
        ({ type }) => type,
      );
      expect(data.map(({ type }) => type)).toEqual(types);
      expect(has_more).toBe(false);
      const times = data.map(({ at_ms }) => at_ms ?? -1);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(times[0]).toBeGreaterThanOrEqual(0);
      const summary = (await client.listResponses()).data[0];
      expect(summary?.timing.duration_ms).toBeGreaterThanOrEqual(times.at(-1) ?? 0);
      const page = await client.listResponseTimeline(id, { after: 1, limit: 2 });
      expect(page.data.map(({ sequence_number }) => sequence_number)).toEqual([2, 3]);
      expect(page.has_more).toBe(true);
      await expect(client.listResponseTimeline("resp_unknown")).rejects.toMatchObject({ status: 404 });
    });
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { type PactMessage, type Parties, pactFile, readPactMessages } from "../pact-files.fixture.ts";
import { emitEvents } from "./emit-events.fixture.ts";
import { SSE_READERS } from "./message-pacts.fixture.ts";
import { isPending, PENDING_SITUATIONS } from "./pending-situations.fixture.ts";
import { isOfOneKind, isSnapshot, readRecordedEvents } from "./recorded-events.fixture.ts";
import { SCENARIO } from "./scenarios.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService, type Service } from "./service.fixture.ts";
import { nameOfEvent, SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";
import { titleOf, verifyMessage } from "./verify-message.fixture.ts";
import { startVoice, type Voice } from "./voice.fixture.ts";

const reference = referenceService();
const recordings = process.env["REFERENCE_RECORDINGS"];

interface Case {
  readonly title: string;
  readonly message: PactMessage;
}

function casesOf(parties: Parties, keep: (message: PactMessage) => boolean): Case[] {
  const messages = readPactMessages(pactFile(parties)).filter(keep);
  return messages.map((message) => ({ title: titleOf(message), message }));
}

describe("at our server", () => {
  let server: TestServer;
  let voice: Voice;
  let emitted: Emitter;
  beforeAll(async () => {
    voice = await startVoice();
    server = await startTestServer({ scenario: SCENARIO, env: { ...voice.env, SSE_KEEP_ALIVE_MS: "20" } });
    emitted = emitter({ url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" });
  });
  afterAll(async () => {
    await server.close();
    voice.close();
  });

  describe.each(SSE_READERS)("the pact of $consumer", (parties) => {
    test.each(casesOf(parties, ({ state }) => !isPending(state)))("$title", async ({ message }) => {
      verifies("contract.parity.same-checks-both-providers");
      await verifyMessage(parties, message, () => emitted.find(message));
    });

    test.for(casesOf(parties, ({ state }) => isPending(state)))("$title", ({ message }, { skip }) => {
      skip(PENDING_SITUATIONS[message.state]?.reason);
    });
  });

  test.each(Object.entries(PENDING_SITUATIONS))(
    "has to be asked for the events of %s as soon as it can",
    async (_state, { tool, events }) => {
      const pending = new Set(events.map(nameOfEvent));
      for (const state of Object.keys({ ...SITUATIONS, ...STAGED_SITUATIONS })) {
        const sent = (await emitted.all(state)).map(nameOfEvent);
        expect(
          sent.filter((name) => pending.has(name)),
          state,
        ).toEqual([]);
      }
      if (tool === undefined) return;
      const reply = await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hi", tools: [tool] });
      expect(await reply.json()).toMatchObject({ error: { code: "unsupported_parameter", param: "tools[0]" } });
    },
  );
});

describe.skipIf(reference === null)(`at the reference (${REFERENCE_SETTINGS})`, () => {
  const emitted = reference === null ? null : emitter(reference);

  describe.each(SSE_READERS)("the pact of $consumer", (parties) => {
    const options = { timeout: REFERENCE_TIMEOUT_MS };
    test.each(casesOf(parties, ({ state }) => Object.hasOwn(SITUATIONS, state)))(
      "$title",
      options,
      async ({ message }) => {
        await verifyMessage(parties, message, async () => emitted?.find(message));
      },
    );
  });
});

describe.skipIf(recordings === undefined)("at the recorded reference (REFERENCE_RECORDINGS)", () => {
  const recorded = recordings === undefined ? [] : readRecordedEvents(recordings);
  const find = ({ example }: PactMessage): unknown => recorded.find((event) => isOfOneKind(example, event));

  describe.each(SSE_READERS)("the pact of $consumer", (parties) => {
    const cases = recordings === undefined ? [] : casesOf(parties, (message) => find(message) !== undefined);
    test.each(cases)("$title", async ({ message }) => {
      verifies("contract.parity.same-checks-both-providers");
      await verifyMessage(parties, message, async () => find(message));
    });

    test("and has no event that is held to none", () => {
      const held = new Set(cases.map(({ message }) => message.description));
      const others = recorded.filter((event) => !isSnapshot(event)).map(nameOfEvent);
      expect([...new Set(others)].filter((name) => !held.has(name))).toEqual([]);
    });
  });
});

interface Emitter {
  all(state: string): Promise<readonly unknown[]>;
  /** The event that a message is about. */
  find(message: PactMessage): Promise<unknown>;
}

/** Brings each state about once. */
function emitter(service: Service): Emitter {
  const emitted = new Map<string, Promise<readonly unknown[]>>();
  const all = async (state: string) => {
    const events = emitted.get(state) ?? emitEvents(service, state);
    emitted.set(state, events);
    return events;
  };
  return { all, find: async (message) => eventOf(message, await all(message.state)) };
}

function eventOf({ description, example }: PactMessage, events: readonly unknown[]): unknown {
  const alike = events.filter((event) => nameOfEvent(event) === nameOfEvent(example));
  return alike[description.endsWith(", the second") ? 1 : 0] ?? { missing: description };
}

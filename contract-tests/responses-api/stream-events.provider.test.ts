import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageProviderPact } from "@pact-foundation/pact";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { type PactMessage, pactFile, pickMessages, readPactMessages } from "../pact-files.fixture.ts";
import { isRecord } from "../records.fixture.ts";
import { emitEvents, SCENARIO } from "./emit-events.fixture.ts";
import { REFERENCE_SETTINGS, REFERENCE_TIMEOUT_MS, referenceService, type Service } from "./service.fixture.ts";
import { nameOfEvent, STAGED_EVENTS, STREAM_EVENTS } from "./stream-situations.fixture.ts";

const reference = referenceService();
const recordings = process.env["REFERENCE_RECORDINGS"];

describe("the events of our server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  test.each([STREAM_EVENTS, STAGED_EVENTS])("keep the pact with the $consumer", async (parties) => {
    verifies("contract.parity.same-checks-both-providers");
    const service: Service = { url: server.url, apiKey: server.apiKey, model: "antiphon-built-in" };
    await checkEvents(pactFile(parties), emitter(service));
  });
});

describe.skipIf(reference === null)(`the events of the reference (${REFERENCE_SETTINGS})`, () => {
  test("keep the same pact", { timeout: REFERENCE_TIMEOUT_MS }, async () => {
    if (reference !== null) await checkEvents(pactFile(STREAM_EVENTS), emitter(reference));
  });
});

/** Recordings are older than the newest members of a response, so its snapshots are not among what is compared. */
describe.skipIf(recordings === undefined)("recorded events of the reference (REFERENCE_RECORDINGS)", () => {
  test.each([STREAM_EVENTS, STAGED_EVENTS])("keep the pact with the $consumer", async (parties) => {
    verifies("contract.parity.same-checks-both-providers");
    const recorded = readRecordings(recordings ?? "");
    const find = ({ example }: PactMessage): unknown => recorded.find((event) => isOfOneKind(example, event));
    const folder = await mkdtemp(join(tmpdir(), "antiphon-pact-"));
    const file = join(folder, "recorded.json");
    await writeFile(
      file,
      pickMessages(pactFile(parties), (message) => find(message) !== undefined),
    );
    try {
      expect(readPactMessages(file).length).toBeGreaterThan(2);
      await checkEvents(file, async (message) => find(message));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Holds what `find` gives for each message of the pact to the message's shape. */
async function checkEvents(file: string, find: (message: PactMessage) => Promise<unknown>): Promise<void> {
  const messages = readPactMessages(file);
  const verifier = new MessageProviderPact({
    provider: STREAM_EVENTS.provider,
    pactUrls: [file],
    messageProviders: Object.fromEntries(messages.map((message) => [message.description, () => find(message)])),
    stateHandlers: Object.fromEntries(messages.map(({ state }) => [state, async () => undefined])),
    logLevel: "error",
  });
  await verifier.verify();
}

/** Gives the event of a message. Each state is brought about once. */
function emitter(service: Service): (message: PactMessage) => Promise<unknown> {
  const emitted = new Map<string, Promise<unknown[]>>();
  return async ({ description, state }) => {
    const events = emitted.get(state) ?? emitEvents(service, state);
    emitted.set(state, events);
    return (await events).find((event) => nameOfEvent(event) === description) ?? { missing: description };
  };
}

function readRecordings(folder: string): unknown[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".chunks.txt"));
  const lines = files.flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  return lines.filter((line) => line.trim() !== "").map((line): unknown => JSON.parse(line));
}

/** One event stands for another if both carry the same kinds of things, and lists are empty in both or in neither. Any error stands for any other. */
function isOfOneKind(example: unknown, event: unknown): boolean {
  if (nameOfEvent(example) !== nameOfEvent(event) || !isRecord(example) || "response" in example) return false;
  return "error" in example || isLike(example, event);
}

function isLike(example: unknown, value: unknown): boolean {
  if (Array.isArray(example) && Array.isArray(value)) {
    if (example.length === 0) return value.length === 0;
    return example.every((element) => value.some((other) => isLike(element, other)));
  }
  if (!isRecord(example) || !isRecord(value)) return true;
  return (
    example["type"] === value["type"] && Object.entries(example).every(([name, member]) => isLike(member, value[name]))
  );
}

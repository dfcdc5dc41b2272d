import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EventLog, Owner, RecordedEvent } from "../runs/ports.ts";
import { assembleStore, databaseOptions, openStore, type Store, type StoreOptions } from "./open-store.ts";
import { textEvents } from "./runs/text-events.fixture.ts";
import { anItem, aResponse, OURS } from "./stored-shapes.fixture.ts";
import { DatabaseOwner } from "./thread/database-owner.ts";
import { freePlace, takePlace } from "./thread/own-workers.ts";

/** A path for a database in a new folder, which is removed after the test. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "data", "antiphon.db");
}

export async function openTestStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ file: temporaryFile(), ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A store whose database is in this thread, so that a test's fake time applies to it. */
export async function openStoreInThisThread(options: Partial<StoreOptions> = {}): Promise<Store> {
  const all = { file: temporaryFile(), ...options };
  const own = takePlace();
  const store = await assembleStore(await DatabaseOwner.open(databaseOptions(all), own), all);
  onTestFinished(async () => {
    await store.close();
    freePlace(own);
  });
  return store;
}

/** Stores a whole run. */
export async function storeRun(
  events: EventLog,
  id: string,
  run: {
    owner?: Owner;
    previous?: string;
    input?: readonly string[];
    output?: readonly string[];
    eventCount?: number;
  } = {},
): Promise<void> {
  const fields = { previous_response_id: run.previous ?? null };
  await events.open(
    {
      owner: run.owner ?? OURS,
      response: aResponse(id, fields),
      inputItems: (run.input ?? []).map((item) => anItem(item, `in ${id}`)),
    },
    [],
  );
  const response = aResponse(id, { ...fields, status: "completed", completed_at: 1_760_000_009 });
  await events.close(id, textEvents(0, run.eventCount ?? 1), {
    response,
    outputItems: (run.output ?? []).map((item) => anItem(item, `out ${id}`)),
  });
}

export async function readAll(events: EventLog, responseId: string, after = -1): Promise<readonly RecordedEvent[]> {
  const all: RecordedEvent[] = [];
  for await (const batch of events.read(responseId, after)) all.push(...batch);
  return all;
}

export async function readNumbers(events: EventLog, responseId: string, after = -1): Promise<readonly number[]> {
  return (await readAll(events, responseId, after)).map((event) => event.number);
}

/** The numbers from `first` to `last`, inclusive. */
export function numbersFrom(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Verifier } from "@pact-foundation/pact";
import { beforeAll, describe, expect, test } from "vitest";
import { type HttpInteraction, type Parties, pactFile, pactOf, readHttpInteractions } from "./pact-files.fixture.ts";
import { type Provider, type Service, VERIFICATION_TIMEOUT_MS } from "./providers.fixture.ts";
import { isRecord } from "./records.fixture.ts";

/** Brings a state about, and gives what is put into the request. */
type Setup = () => Promise<Record<string, string>>;
/** By the name of the state. */
type StateTable = Readonly<Record<string, Setup | { readonly setup: Setup; readonly teardown: () => Promise<void> }>>;

/** Thrown by a state that a provider cannot be brought into, with the reason. */
export class StateOutOfReach extends Error {
  override readonly name = "StateOutOfReach";
}

interface Verification {
  readonly pacts: readonly Parties[];
  readonly publicStates: (service: Service) => StateTable;
  /** Brought about only where the provider's model plays our scenarios. */
  readonly stagedStates: (service: Service) => StateTable;
}

/** One test for each interaction. What several consumers ask in the same words is asked once. */
export function describePacts(provider: Provider, { pacts, publicStates, stagedStates }: Verification): void {
  const staged = new Set(Object.keys(stagedStates({ url: "http://127.0.0.1", apiKey: "none", model: "none" })));
  const canBeAsked = ({ states }: HttpInteraction): boolean =>
    provider.isStaged || !states.some((state) => staged.has(state));
  const read = pacts.map((parties) => ({ parties, interactions: readHttpInteractions(pactFile(parties)) }));
  const outOfReach = new Map<string, string>();
  let faults: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const service = provider.service();
    const states = provider.isStaged
      ? { ...publicStates(service), ...stagedStates(service) }
      : bearing(publicStates(service), outOfReach);
    const asked = read.flatMap(({ interactions }) => interactions.filter(canBeAsked));
    faults = await faultsOf(service.url, [...new Map(asked.map((one) => [one.key, one])).values()], states);
  }, VERIFICATION_TIMEOUT_MS);
  describe.each(read)("the pact of $parties.consumer", ({ interactions }) => {
    test.for(interactions)("$description", (interaction, { skip }) => {
      if (!canBeAsked(interaction)) skip("only a model that plays our scenarios can be put into its state");
      const reason = interaction.states.map((state) => outOfReach.get(state)).find((one) => one !== undefined);
      if (reason !== undefined) skip(reason);
      expect(faults.get(interaction.key) ?? ["It was not asked."]).toEqual([]);
    });
  });
}

/** The same states, but that one out of reach is noted in `reasons`, by its name, and not an error. */
function bearing(states: StateTable, reasons: Map<string, string>): StateTable {
  const tried = (state: string, setup: Setup): Setup => {
    return () =>
      setup().catch((error: unknown) => {
        if (!(error instanceof StateOutOfReach)) throw error;
        reasons.set(state, error.message);
        return {};
      });
  };
  return Object.fromEntries(
    Object.entries(states).map(([state, one]) => [
      state,
      typeof one === "function" ? tried(state, one) : { ...one, setup: tried(state, one.setup) },
    ]),
  );
}

/** What is wrong with each reply, by the key of its interaction. */
async function faultsOf(
  url: string,
  interactions: readonly HttpInteraction[],
  stateHandlers: StateTable,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-pact-"));
  const file = join(folder, "pact.json");
  await writeFile(file, pactOf("consumers", interactions));
  try {
    return readOutcomes(
      await new Verifier({
        provider: "provider",
        providerBaseUrl: url,
        pactUrls: [file],
        stateHandlers: { ...stateHandlers },
        changeOrigin: true,
        timeout: 60_000,
        logLevel: "error",
      })
        .verifyProvider()
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error))),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Pact tells the outcome as JSON, as the message of an error where something is wrong. */
function readOutcomes(outcome: string): ReadonlyMap<string, readonly string[]> {
  const results = recordOf(JSON.parse(outcome))["interactionResults"];
  if (!Array.isArray(results)) throw new Error(`The verification did not come to its end: ${outcome}`);
  return new Map(
    results.map((result) => {
      const { description, result: verdict, mismatch } = recordOf(result);
      return [String(description), verdict === "OK" ? [] : mismatchesOf(mismatch)];
    }),
  );
}

function mismatchesOf(mismatch: unknown): string[] {
  const { mismatches } = recordOf(mismatch);
  if (!Array.isArray(mismatches)) return [JSON.stringify(mismatch)];
  return mismatches.map((one) => {
    const { path, mismatch: text } = recordOf(one);
    return typeof path === "string" ? `${path}: ${text}` : typeof text === "string" ? text : JSON.stringify(one);
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

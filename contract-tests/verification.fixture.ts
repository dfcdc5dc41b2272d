import { Verifier } from "@pact-foundation/pact";
import { beforeAll, describe, expect, test } from "vitest";
import { type HttpInteraction, pactOf, readHttpInteractions, suffixOf } from "./pact-files.fixture.ts";
import { faultsIn } from "./pact-outcome.fixture.ts";
import { type Provider, type Service, VERIFICATION_TIMEOUT_MS } from "./providers.fixture.ts";

/** Brings the provider into a state and returns the values for the request. */
type Setup = () => Promise<Record<string, string>>;
/** Setups by the name of the state. */
type StateTable = Readonly<Record<string, Setup | { readonly setup: Setup; readonly teardown: () => Promise<void> }>>;

/** Thrown by a setup if the provider cannot enter the state. The message is the reason. */
export class StateOutOfReach extends Error {
  override readonly name = "StateOutOfReach";
}

interface Verification {
  /** Path of the pact. */
  readonly file: string;
  readonly publicStates: (service: Service) => StateTable;
  /** States that need a provider whose model plays our scenarios. */
  readonly stagedStates: (service: Service) => StateTable;
}

/** Defines one test per interaction of a pact. */
export function describePact(provider: Provider, { file, publicStates, stagedStates }: Verification): void {
  const staged = new Set(Object.keys(stagedStates({ url: "http://127.0.0.1", apiKey: "none", model: "none" })));
  const canBeAsked = ({ states }: HttpInteraction): boolean =>
    provider.isStaged || !states.some((state) => staged.has(state));
  const interactions = readHttpInteractions(file);
  const outOfReach = new Map<string, string>();
  let faults: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const service = provider.service();
    const states = provider.isStaged
      ? { ...publicStates(service), ...stagedStates(service) }
      : recordOutOfReach(publicStates(service), outOfReach);
    faults = await faultsOf(service.url, interactions.filter(canBeAsked), states);
  }, VERIFICATION_TIMEOUT_MS);
  describe("the pact", () => {
    const cases = interactions.map((one) => ({ title: `${one.description}${suffixOf(one)}`, interaction: one }));
    test.for(cases)("$title", ({ interaction }, { skip }) => {
      if (!canBeAsked(interaction)) skip("its state needs a model that plays our scenarios");
      const reason = interaction.states.map((state) => outOfReach.get(state)).find((one) => one !== undefined);
      if (reason !== undefined) skip(reason);
      expect(faults.get(interaction.key) ?? ["The verifier did not run this interaction."]).toEqual([]);
    });
  });
}

/** Wraps the states so that `StateOutOfReach` is recorded in `reasons` instead of thrown. */
function recordOutOfReach(states: StateTable, reasons: Map<string, string>): StateTable {
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

/** Returns the faults of each reply by the key of its interaction. */
function faultsOf(
  url: string,
  interactions: readonly HttpInteraction[],
  stateHandlers: StateTable,
): Promise<ReadonlyMap<string, readonly string[]>> {
  return faultsIn(pactOf("consumers", interactions), (file) =>
    new Verifier({
      provider: "provider",
      providerBaseUrl: url,
      pactUrls: [file],
      stateHandlers: { ...stateHandlers },
      changeOrigin: true,
      timeout: 60_000,
      logLevel: "error",
    }).verifyProvider(),
  );
}

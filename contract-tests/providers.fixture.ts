import { afterAll, beforeAll, describe, test } from "vitest";
import { PROVIDER_NEEDS, PROVIDER_TITLES, type ProviderKind } from "./provider-titles.ts";

/** A running Responses API. */
export interface Service {
  /** The base URL without `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  /** The address of the servers that staged tools ask. */
  readonly toolServers?: string;
  /** A key of an operator. */
  readonly operatorKey?: string;
  /** The id of a vector store that holds a file. */
  readonly vectorStore?: string;
}

export interface OwnService extends Service {
  close(): Promise<void>;
}

export interface Provider {
  readonly kind: ProviderKind;
  /** True if its model plays the tests' scenarios. Staged states need such a model. */
  readonly isStaged: boolean;
  /** Only available in tests and hooks. */
  readonly service: () => Service;
}

/** Long enough for a slow remote model. */
export const VERIFICATION_TIMEOUT_MS = 600_000;

const DISTANT = {
  reference: ["REFERENCE_BASE_URL", "REFERENCE_API_KEY", "REFERENCE_MODEL"],
  other: ["CONTRACT_BASE_URL", "CONTRACT_API_KEY", "CONTRACT_MODEL"],
} as const;
const WANTED = process.env["CONTRACT_PROVIDERS"]?.split(",");

/**
 * Runs the suite for our server, which it starts; for the reference, which is skipped with a reason if its settings are
 * missing; and for the provider of `--base-url`, if given.
 */
export function describeProviders(startOurs: () => Promise<OwnService>, suite: (provider: Provider) => void): void {
  describe.skipIf(WANTED?.includes("ours") === false)(`at ${PROVIDER_TITLES.ours}`, () => {
    let ours: OwnService;
    beforeAll(async () => {
      ours = await startOurs();
    });
    afterAll(() => ours.close());
    suite({ kind: "ours", isStaged: true, service: () => ours });
  });
  for (const kind of ["reference", "other"] as const) {
    const service = distantService(DISTANT[kind]);
    if (WANTED?.includes(kind) === false) continue;
    if (service !== null) describeDistant(kind, service, suite);
    else if (kind === "reference") describeMissing(kind);
  }
}

function describeDistant(kind: ProviderKind, service: Service, suite: (provider: Provider) => void): void {
  describe(`at ${PROVIDER_TITLES[kind]}`, () => {
    suite({ kind, isStaged: false, service: () => service });
  });
}

function describeMissing(kind: ProviderKind): void {
  describe(`at ${PROVIDER_TITLES[kind]}`, () => {
    test("is held to the same", ({ skip }) => skip(`${PROVIDER_TITLES[kind]} needs ${PROVIDER_NEEDS[kind]}`));
  });
}

function distantService([urlName, keyName, modelName]: readonly [string, string, string]): Service | null {
  const url = process.env[urlName];
  const apiKey = process.env[keyName];
  const model = process.env[modelName];
  if (url === undefined || apiKey === undefined || model === undefined) return null;
  return { url: url.replace(/\/+$/, "").replace(/\/v1$/, ""), apiKey, model };
}

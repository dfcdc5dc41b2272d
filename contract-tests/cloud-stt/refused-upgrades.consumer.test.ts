import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import { expect, test } from "vitest";
import {
  AntiphonCloudSpeech,
  APIConnectionError,
  AuthenticationError,
  InternalServerError,
  pcmMessages,
  RateLimitError,
} from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { PACTS_DIR } from "../pact-files.fixture.ts";
import type { CloudState } from "./cloud-states.fixture.ts";
import { CLOUD_STT, EXAMPLE_KEY, PATH } from "./parties.fixture.ts";

const { fromProviderState, regex, string } = MatchersV3;

const RETRY_AFTER = { "Retry-After": regex("^[1-9][0-9]*$", "60") };

interface Refusal {
  readonly given: CloudState;
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, ReturnType<typeof regex>>>;
  /** The error class that our client throws. */
  readonly thrown: object;
}

const UNAVAILABLE = { status: 503, headers: RETRY_AFTER } as const;

/**
 * Pact cannot describe upgrades. The service answers a plain request in the same way, and our client sends one to learn
 * why its socket was refused.
 */
test.each<Refusal>([
  {
    given: "a key that is not known",
    status: 401,
    code: "invalid_api_key",
    headers: { "WWW-Authenticate": regex("^ApiKey .+$", 'ApiKey realm="speech to text"') },
    thrown: AuthenticationError,
  },
  {
    given: "a key that tried to open too many streams",
    status: 429,
    code: "rate_limited",
    headers: RETRY_AFTER,
    thrown: RateLimitError,
  },
  {
    given: "a service with room",
    status: 426,
    code: "upgrade_required",
    headers: { Upgrade: regex("^websocket$", "websocket") },
    thrown: APIConnectionError,
  },
  { ...UNAVAILABLE, given: "no speech engine", code: "model_failed", thrown: InternalServerError },
  { ...UNAVAILABLE, given: "a speech model that is being loaded", code: "model_loading", thrown: InternalServerError },
  { ...UNAVAILABLE, given: "an engine with a full queue", code: "busy", thrown: InternalServerError },
  { ...UNAVAILABLE, given: "as many streams as there may be", code: "too_many_streams", thrown: InternalServerError },
  { ...UNAVAILABLE, given: "a service that is stopping", code: "shutting_down", thrown: InternalServerError },
])("a client learns why no stream opens, given $given", async ({ given, status, code, headers, thrown }) => {
  verifies("cloud.stream.plain-request-tells-the-refusal", "cloud.stream.bad-key-is-401", "cloud.client.typed-errors");
  await new PactV4({ ...CLOUD_STT, dir: PACTS_DIR, logLevel: "error" })
    .addInteraction()
    .given(given)
    .uponReceiving(`a request for a stream, with ${given}`)
    .withRequest("GET", PATH, (builder) => {
      builder.headers({ "x-api-key": fromProviderState("${api_key}", EXAMPLE_KEY) });
    })
    .willRespondWith(status, (builder) => {
      builder.jsonBody({ error: { code, message: string("A sentence.") } }).headers(headers);
    })
    .executeTest(async ({ url }) => {
      const client = new AntiphonCloudSpeech({ baseUrl: url, apiKey: EXAMPLE_KEY, attemptsMax: 1 });
      const error: unknown = await client.stream(pcmMessages([])).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(thrown);
      if (thrown !== APIConnectionError) expect(error).toMatchObject({ status, code });
    });
});

import { Verifier, type VerifierOptions } from "@pact-foundation/pact";
import { afterAll, beforeAll, describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { pactFile, pickInteraction, readPactMessages } from "../pact-files.fixture.ts";
import { verifyPact } from "../pact-outcome.fixture.ts";
import type { StagedServer } from "../staged-server.fixture.ts";
import { LOCAL_STT } from "./parties.fixture.ts";
import { STATES, settingOf } from "./provider-states.fixture.ts";
import { lacksEngine, needsLinux, openSpeechProvider } from "./speech-provider.fixture.ts";

const FILE = pactFile(LOCAL_STT.provider);
/** Paths whose requests are made longer. The verifier also sends requests for states, to other paths. */
const LENGTHENED_PATHS = ["/transcribe", "/stt_and_format", "/format", "/demo/chat"];

describe("at our server", () => {
  describe("the pact of speech-client", () => {
    let provider: StagedServer;
    beforeAll(async () => {
      provider = await openSpeechProvider();
    });
    afterAll(() => provider.close());

    const interactions = readPactMessages(FILE).map(
      ({ description, state, key }) => [description, state, key] as const,
    );
    test.for(interactions)("%s, given %s", async ([, state, key], { skip }) => {
      verifies("contract.parity.same-checks-both-providers");
      skip(lacksEngine(state), "this machine cannot build the speech engine");
      skip(needsLinux(state), "this system does not tell whose program asks");
      const asked = pickInteraction(FILE, key);
      await verifyPact(asked, (file) => new Verifier(verification(provider, file, state)).verifyProvider());
    });
  });
});

function verification(provider: StagedServer, file: string, state: string): VerifierOptions {
  const { moreBytes } = settingOf(state);
  return {
    provider: LOCAL_STT.provider,
    providerBaseUrl: provider.url,
    pactUrls: [file],
    stateHandlers: Object.fromEntries(Object.keys(STATES).map((name) => [name, () => provider.enter(name)])),
    ...(moreBytes === undefined ? {} : { requestFilter: lengthenRequest(moreBytes) }),
    logLevel: "error",
  };
}

/** Adds `bytes` to the file or text of a request, because a pact cannot hold a body that is too large. */
function lengthenRequest(bytes: number): NonNullable<VerifierOptions["requestFilter"]> {
  return (request, _response, next) => {
    if (LENGTHENED_PATHS.includes(request.path)) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.from(JSON.stringify(request.body));
      const place = body.indexOf("\r\n\r\n") + 4;
      request.body = Buffer.concat([body.subarray(0, place), Buffer.alloc(bytes, " "), body.subarray(place)]);
      request.headers["content-length"] = String(request.body.length);
    }
    next();
  };
}

import { startTestServer } from "../../tests/test-server.ts";
import { describeProviders, type OwnService } from "../providers.fixture.ts";
import { describePacts } from "../verification.fixture.ts";
import { STAGED_SERVER } from "./http-server.fixture.ts";
import { OFFICIAL_SDK, OWN_CLIENT } from "./interaction.fixture.ts";
import { publicStates, stagedStates } from "./provider-states.ts";

describeProviders(startOurs, (provider) => {
  describePacts(provider, { pacts: [OFFICIAL_SDK, OWN_CLIENT], publicStates, stagedStates });
});

async function startOurs(): Promise<OwnService> {
  return { ...(await startTestServer(STAGED_SERVER)), model: "antiphon-built-in" };
}

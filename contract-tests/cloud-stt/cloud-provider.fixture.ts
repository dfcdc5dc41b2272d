import { WebSocket } from "ws";
import { API_KEY, openCloudServer } from "../../tests/cloud-stt/cloud-server.ts";
import { isMissing, openEngines } from "../../tests/speech/staged-engines.ts";
import { NO_LOG, openStagedServer, type StagedServer } from "../staged-server.fixture.ts";
import { cloudSettingOf } from "./cloud-states.fixture.ts";
import { PATH } from "./parties.fixture.ts";

/** True if the state needs the real engine and this machine cannot build it. */
export function lacksEngine(state: string): boolean {
  return isMissing(cloudSettingOf(state).engine ?? "failing");
}

/** Starts the real service in any state. All states share one engine and its model. */
export async function openCloudProvider(): Promise<StagedServer> {
  const engines = await openEngines();
  return openStagedServer({
    start: (state) => {
      const { engine = "failing", env = {} } = cloudSettingOf(state);
      return openCloudServer({ speech: engines.engine(engine), env, log: NO_LOG });
    },
    prelude: (state) => cloudSettingOf(state).prelude ?? null,
    openStream: async (url, state) => {
      const held = await tryStream(url);
      for (let tried = 1; tried < (cloudSettingOf(state).streamsTried ?? 1); tried += 1) await tryStream(url);
      return () => held.terminate();
    },
    close: () => engines.close(),
  });
}

/** Resolves once the stream is open or refused. */
async function tryStream(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace("http", "ws") + PATH, { headers: { "x-api-key": API_KEY } });
  const refused = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  await Promise.race([new Promise<void>((resolve) => socket.once("open", () => resolve())), refused]);
  return socket;
}

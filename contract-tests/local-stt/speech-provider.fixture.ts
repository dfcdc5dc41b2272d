import { once } from "node:events";
import { connect } from "node:net";
import { startLocalSttServer } from "../../tests/local-stt-server.ts";
import { isMissing, openEngines } from "../../tests/speech/staged-engines.ts";
import { NO_LOG, openStagedServer, type StagedServer } from "../staged-server.fixture.ts";
import { formattingAt, startBreakingFormatter, startFormatter } from "./formatters.fixture.ts";
import { settingOf } from "./provider-states.fixture.ts";

/** True if the state needs the real engine and this machine cannot build it. */
export function lacksEngine(state: string): boolean {
  return isMissing(settingOf(state).engine ?? "none");
}

/** Starts the real server in any state. All states share one engine, its model and one formatter. */
export async function openSpeechProvider(): Promise<StagedServer> {
  const [engines, writing, breaking] = await Promise.all([openEngines(), startFormatter(), startBreakingFormatter()]);
  const formatters = { writing, breaking_off: breaking };
  return openStagedServer({
    start: (state) => {
      const { engine = "none", formatter, env } = settingOf(state);
      const formatting = formatter === undefined ? {} : formattingAt(formatters[formatter].baseUrl);
      return startLocalSttServer({ env: { ...formatting, ...env }, speech: engines.engine(engine), log: NO_LOG });
    },
    prelude: (state) => settingOf(state).prelude ?? null,
    bytesCarried: (state) => settingOf(state).bytesCarried,
    openStream,
    close: async () => {
      await Promise.all([engines.close(), writing.close(), breaking.close()]);
    },
  });
}

async function openStream(url: string): Promise<() => void> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  const head = ["POST /stream/transcribe HTTP/1.1", `Host: ${host}`, "Content-Type: application/x-ndjson"];
  socket.write(`${[...head, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  return () => void socket.destroy();
}

import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalSttServer } from "../../tests/local-stt-server.ts";
import { isMissing, openEngines } from "../../tests/speech/staged-engines.ts";
import { NO_LOG, openStagedServer, type StagedServer } from "../staged-server.fixture.ts";
import { formattingAt, startBreakingFormatter, startFormatter } from "./formatters.fixture.ts";
import { settingOf } from "./provider-states.fixture.ts";

/** True if the state needs the real engine and this machine cannot build it. */
export function lacksEngine(state: string): boolean {
  return isMissing(settingOf(state).engine ?? "none");
}

/** True if the state needs to know whose program asks, which only Linux tells. */
export function needsLinux(state: string): boolean {
  return settingOf(state).hasKey !== undefined && process.platform !== "linux";
}

/** Starts the real server in any state. All states share one engine, its model and one formatter. */
export async function openSpeechProvider(): Promise<StagedServer> {
  const [engines, writing, breaking] = await Promise.all([openEngines(), startFormatter(), startBreakingFormatter()]);
  const formatters = { writing, breaking_off: breaking };
  const folders = await mkdtemp(join(tmpdir(), "antiphon-speech-provider-"));
  return openStagedServer({
    start: async (state) => {
      const { engine = "none", formatter, hasKey = false, env } = settingOf(state);
      const DATA_DIR = await dataFolder(folders, hasKey);
      const formatting = formatter === undefined ? {} : formattingAt(formatters[formatter].baseUrl);
      return startLocalSttServer({
        env: { DATA_DIR, ...formatting, ...env },
        speech: engines.engine(engine),
        log: NO_LOG,
      });
    },
    prelude: (state) => settingOf(state).prelude ?? null,
    bytesCarried: (state) => settingOf(state).bytesCarried,
    openStream,
    close: async () => {
      await Promise.all([engines.close(), writing.close(), breaking.close()]);
      await rm(folders, { recursive: true });
    },
  });
}

/** The data folder of servers whose Responses API has made a key, or of those where it has not. */
async function dataFolder(folders: string, hasKey: boolean): Promise<string> {
  const folder = join(folders, hasKey ? "with-key" : "without-key");
  await mkdir(folder, { recursive: true });
  if (hasKey) await writeFile(join(folder, "api-key"), "sk-the-first-key-0123456789\n", { mode: 0o600 });
  return folder;
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

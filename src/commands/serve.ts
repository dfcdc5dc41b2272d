import { type Config, type Environment, loadConfig } from "../config/load-config.ts";
import { secretsOf } from "../config/secrets-of.ts";
import type { ApiKeys } from "../secrets/secrets-on-disk.ts";
import { openSpeech, type SpeechService } from "../servers/choices/choose-speech.ts";
import { startLocalStt } from "../servers/local-stt.ts";
import { startResponsesApi } from "../servers/responses-api.ts";
import { startSttCloud } from "../servers/stt-cloud.ts";
import { openLog, type RootLog } from "../telemetry/log.ts";
import { showSpeechProgress } from "./speech-progress.ts";

interface Running {
  /** Lines of the start banner. */
  readonly greeting: readonly string[];
  readonly keys: ApiKeys;
  close(): Promise<unknown>;
}

type Start = (config: Config, log: RootLog, speech: SpeechService) => Promise<Running>;

/** Serves both interfaces until told to stop. */
export function serveBoth(environment: Environment, argv: readonly string[]): Promise<void> {
  return serve(environment, argv, async (config, log, speech) => {
    const responsesApi = await startResponsesApi(
      config,
      log.child({ interface: "responses-api" }),
      config.speechEngine === "none" ? null : speech.recordings,
    );
    const localStt = await startLocalStt(config, log.child({ interface: "local-stt" }), speech).catch(
      async (error: unknown) => {
        await responsesApi.close();
        throw error;
      },
    );
    const { url, keys, model } = responsesApi;
    return {
      greeting: [
        `Responses API      ${url}/v1   reference: ${url}/docs`,
        `Speech to text     ${localStt.url}`,
        `Answers come from  ${model.description}`,
      ],
      keys,
      close: () => Promise.all([responsesApi.close(), localStt.close()]),
    };
  });
}

/** Serves the cloud stream until told to stop. */
export function serveCloud(environment: Environment, argv: readonly string[]): Promise<void> {
  return serve(environment, argv, async (config, log, { engine }) => {
    const server = await startSttCloud(config, log.child({ interface: "cloud-stt" }), engine);
    return {
      greeting: [`Cloud stream       ${server.url.replace("http", "ws")}/stt/v1/stream`],
      keys: server.keys,
      close: () => server.close(),
    };
  });
}

async function serve(environment: Environment, argv: readonly string[], start: Start): Promise<void> {
  const config = loadConfig(environment, argv);
  const log = openLog({ level: config.logLevel, secrets: secretsOf(config) });
  const speech = openSpeech(config, log.child({ part: "speech" }));
  const running = await start(config, log, speech).catch(async (error: unknown) => {
    await speech.close();
    throw error;
  });
  for (const line of running.greeting) console.log(line);
  const { made, file } = running.keys;
  if (made !== null) console.log(`API key            ${made}   (shown this once; kept in ${file})`);
  if (config.speechEngine !== "none") showSpeechProgress(speech.engine, process.stderr);
  const stop = async (): Promise<void> => {
    await running.close();
    await speech.close();
    log.flush();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop());
}

import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { assert } from "@antiphon/base/assert.ts";
import { Deadline } from "@antiphon/base/limits/deadline.ts";
import { MODEL_NAME as BUILT_IN_MODEL } from "@antiphon/built-in-model/index.ts";
import type { RunningServer } from "@antiphon/http-kit/http/server.ts";
import { serviceManagerOf } from "@antiphon/programs/service-manager.ts";
import { createNeighbourTranscriber } from "@antiphon/speech/recognition/neighbour-transcriber.ts";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";
import { type Config, type Environment, loadConfig, shareConfig } from "../config/load-config.ts";
import { secretsOf } from "../config/secrets-of.ts";
import { EMBEDDED_MODEL } from "../embedded-model/child/child-options.ts";
import { type JoinedProcess, joinProcesses } from "../processes/joined-process.ts";
import type { ApiKeys } from "../secrets/secrets-on-disk.ts";
import { searchText } from "../servers/choices/choose-embedder.ts";
import type { ChosenModel } from "../servers/choices/choose-model.ts";
import {
  type AudioHearing,
  hearingOf,
  NOBODY_HEARS,
  openSpeech,
  type SpeechService,
} from "../servers/choices/choose-speech.ts";
import { reportModelServer } from "../servers/choices/report-model-server.ts";
import type { Leaving } from "../servers/leaving.ts";
import { startLocalStt } from "../servers/local-stt.ts";
import { startResponsesApi } from "../servers/responses-api.ts";
import { startSttCloud } from "../servers/stt-cloud.ts";
import { openLog, type RootLog } from "../telemetry/log/log.ts";
import { programVersion } from "../version/program-version.ts";
import { isReadable, lineRewriter } from "./log-format.ts";
import { examineFeatures } from "./machine/examine-features.ts";
import { warnOfNearMisses } from "./near-misses.ts";
import { showSpeechProgress } from "./speech-progress.ts";
import {
  type BannerLine,
  bannerLines,
  KEY_LINE,
  laterLines,
  type NextSteps,
  terminalBanner,
  terminalLine,
} from "./start-banner.ts";

/** The number of the process that runs the speech engine and its server. A machine has room for one engine. */
const SPEECH_PROCESS = 1;

/**
 * The heap growth, in percent of the used heap, that triggers garbage collection. V8's own limit of up to 300 lets a
 * server that once had many streams occupy several times the needed memory.
 */
const HEAP_GROWTH_PERCENT = 100;

interface Running {
  readonly greeting: readonly BannerLine[];
  /** The next steps for this server, without its key. */
  readonly next: Omit<NextSteps, "keyFile"> | null;
  /** Lines that follow once they are known. */
  readonly laterLines: Promise<readonly BannerLine[]> | null;
  readonly keys: ApiKeys;
  /** The local speech server; null if this process has none. */
  readonly speechUrl: string | null;
  close(leaving: Leaving): Promise<unknown>;
}

/** Parts needed to build a server. */
interface Foundations {
  readonly config: Config;
  readonly log: RootLog;
  /** Null if another process has the speech engine. */
  readonly speech: SpeechService | null;
  /** Null if this process serves alone. */
  readonly joinedProcess: JoinedProcess | null;
}

/** Serves both interfaces until stopped. */
export function serveBoth(environment: Environment, argv: readonly string[]): Promise<void> {
  return serve(environment, argv, async (foundations) => {
    const { config, log, speech, joinedProcess } = foundations;
    const recordings = config.speechEngine === "none" ? null : recordingsOf(foundations);
    const responsesApi = await startResponsesApi(config, log.child({ interface: "responses-api" }), {
      speech: recordings,
      heardBy: heardBy(foundations),
      joinedProcess,
    });
    const { url, keys, model, code } = responsesApi;
    if (speech === null)
      return { greeting: [], next: null, laterLines: null, keys, speechUrl: null, close: responsesApi.close };
    if (model.baseUrl !== null) void reportModelServer(model.baseUrl, log);
    for (const { name, url: baseUrl } of model.servers?.entries ?? [])
      void reportModelServer(baseUrl, log, `servers.${name} of MODELS_FILE`);
    const localStt = await startLocalStt(config, log.child({ interface: "local-stt" }), speech).catch(
      async (error: unknown) => {
        await responsesApi.close();
        throw error;
      },
    );
    return {
      greeting: [
        ["Responses API", `${url}/v1   reference: ${url}/docs`],
        ["Inspector", `${url}/inspector`],
        ["Speech to text", localStt.url],
        ["Chat lab", `${localStt.url}/demo`],
        ["Answers come from", model.description],
        ["File search goes", searchText(config)],
      ],
      next: { url, model: triedModel(model, config) },
      laterLines: code.place().then(async (place) => laterLines(place, await examineFeatures(config, place))),
      keys,
      speechUrl: localStt.url,
      close: (leaving) => Promise.all([responsesApi.close(leaving), closeLocal(localStt, leaving)]),
    };
  });
}

/** A model that answers; null if only the model server knows the names. */
function triedModel(model: ChosenModel, { scenarioFile }: Config): string | null {
  if (model.embedded !== null) return EMBEDDED_MODEL;
  return model.kindOf("") === "built-in" && scenarioFile === null ? BUILT_IN_MODEL : null;
}

async function closeLocal(localStt: RunningServer, { isReplaced, until }: Leaving): Promise<void> {
  if (isReplaced) await localStt.handOver();
  await localStt.close(until ?? undefined);
}

/** Serves the cloud stream until stopped. */
export function serveCloud(environment: Environment, argv: readonly string[]): Promise<void> {
  return serve(environment, argv, async ({ config, log, speech }) => {
    assert(speech !== null, "the cloud stream is served by one process, which has the engine");
    const server = await startSttCloud(config, log.child({ interface: "cloud-stt" }), speech.engine);
    return {
      laterLines: null,
      greeting: [["Cloud stream", `${server.url.replace("http", "ws")}/stt/v1/stream`]],
      next: null,
      keys: server.keys,
      speechUrl: null,
      close: () => server.close(),
    };
  });
}

/** The transcriber of recordings: the engine of this process, or the server of the process that has it. */
function recordingsOf({ config, speech, joinedProcess }: Foundations): FileTranscriber {
  if (speech !== null) return speech.recordings;
  return createNeighbourTranscriber({
    url: () => joinedProcess?.seat.speechUrl ?? null,
    timeoutMs: config.transcriptionTimeoutMs,
  });
}

/** Who hears recordings for the audio routes. */
function heardBy({ config, speech, joinedProcess }: Foundations): AudioHearing {
  if (config.speechEngine === "none") return NOBODY_HEARS;
  if (speech !== null) return { hearing: hearingOf(speech), neighbour: null };
  return { hearing: null, neighbour: () => joinedProcess?.seat.speechUrl ?? null };
}

async function serve(
  environment: Environment,
  argv: readonly string[],
  start: (foundations: Foundations) => Promise<Running>,
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`); // For all threads of the process.
  const joinedProcess = await joinProcesses();
  const foundations = await layFoundations(loadConfig(environment, argv), joinedProcess);
  const { config, log, speech } = foundations;
  if (joinedProcess === null) warnOfNearMisses(environment, log);
  const running = await start(foundations).catch(async (error: unknown) => {
    await speech?.close();
    throw error;
  });
  const greeting = [...running.greeting, ...keyLines(running, config)];
  if (joinedProcess !== null) joinedProcess.announce({ lines: bannerLines(greeting), speechUrl: running.speechUrl });
  else for (const line of bannerFor({ ...running, greeting }, config)) console.log(line);
  // The primary reports for its processes.
  const manager = joinedProcess === null ? serviceManagerOf(environment, log) : null;
  manager?.ready(`Serving ${programVersion()}`);
  let stopping: Promise<void> | null = null;
  let untilReplaced: Deadline | null = null; // Set in a process that has been replaced.
  void running.laterLines?.then((lines) => {
    if (stopping !== null) return;
    for (const line of bannerLines(lines))
      if (joinedProcess !== null) joinedProcess.tell(line);
      else console.log(isReadable(config) ? terminalLine(line, config.hasColors) : line);
  });
  if (config.speechEngine !== "none" && speech !== null) showSpeechProgress(speech.engine, process.stderr);
  const stop = async (isReplaced: boolean): Promise<void> => {
    manager?.stopping();
    untilReplaced = isReplaced ? new Deadline(config.restartDrainMs) : null;
    await running.close({ isReplaced, until: untilReplaced?.signal ?? null });
    untilReplaced?.clear();
    await speech?.close();
    log.flush();
    await joinedProcess?.end();
  };
  const stopOnce = (isReplaced: boolean): void => {
    if (!isReplaced) untilReplaced?.hasten(config.drainMs);
    stopping ??= stop(isReplaced);
  };
  joinedProcess?.accept({ leave: stopOnce });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopOnce(false));
}

/** The banner for its reader: a person at a terminal, or a script. */
function bannerFor({ greeting, next, keys }: Running, config: Config): readonly string[] {
  if (!isReadable(config)) return bannerLines(greeting);
  const keyFile = keys.firstKey !== null || existsSync(keys.file) ? keys.file : null;
  return terminalBanner(
    { lines: greeting, next: next === null ? null : { ...next, keyFile } },
    programVersion(),
    config.hasColors,
  );
}

async function layFoundations(whole: Config, joinedProcess: JoinedProcess | null): Promise<Foundations> {
  const rewrite = await lineRewriter(whole);
  const root = openLog({ level: whole.logLevel, secrets: secretsOf(whole), node: whole.nodeName, rewrite });
  const hasSpeech = joinedProcess === null || joinedProcess.seat.number === SPEECH_PROCESS;
  const config = joinedProcess === null ? whole : shareConfig(whole, joinedProcess.seat.count);
  const log = joinedProcess === null ? root : root.child({ process: joinedProcess.seat.number });
  return { config, log, joinedProcess, speech: hasSpeech ? openSpeech(config, log.child({ part: "speech" })) : null };
}

/** The key created at this start, or its location. With several processes, the first one prints the location. */
function keyLines({ keys, greeting }: Running, { apiKeys }: Config): readonly BannerLine[] {
  const { firstKey, file } = keys;
  if (firstKey !== null) return [[KEY_LINE, `${firstKey}   (shown this once; kept in ${file})`]];
  if (greeting.length === 0) return [];
  if (apiKeys.length > 0) return [[KEY_LINE, "one of API_KEYS"]];
  return [[KEY_LINE, existsSync(file) ? `kept in ${file}` : "antiphon keys lists them"]];
}

import type { Logger } from "../../base/logger.ts";
import type { Config } from "../../config/load-config.ts";
import type { SandboxEngine, StoredContainers } from "../../containers/ports.ts";
import { SandboxSessions } from "../../containers/sessions/sandbox-sessions.ts";
import type { CodeFinder, CodeOffer } from "../../domain/containers.ts";
import type { Telemetry } from "./choose-telemetry.ts";
import { type FoundEngine, findCodeEngine } from "./find-code-engine.ts";

interface Foundations {
  readonly stored: StoredContainers;
  readonly telemetry: Pick<Telemetry, "code">;
}

/** The sandboxes of this server. They are found in the background. */
export interface CodeParts extends CodeFinder {
  /** Starts the search for an engine if it has not started. */
  start(): void;
  /** The line for the start banner, once the engine is known. */
  line(): Promise<string>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** Chooses the engine that runs code, by the settings and by what is installed. Does no work until `start`. */
export function chooseCode(config: Config, { stored, telemetry }: Foundations, log: Logger): CodeParts {
  const closing = new AbortController();
  let known: CodeOffer | null = config.codeEngine === "off" ? OFF : null;
  let finding: Promise<CodeOffer> | null = null;
  let place = "";
  const find = async (): Promise<CodeOffer> => {
    const startedAt = performance.now();
    const found = await findCodeEngine(config, closing.signal).catch((error: unknown): FoundEngine => {
      if (!closing.signal.aborted) log.error({ err: error }, "no code engine could be started");
      return { engine: null, reason: "Code cannot be run, because no engine could be started." };
    });
    if (found.engine === null && !closing.signal.aborted)
      log.warn({ reason: found.reason }, "this server does not run code");
    if (found.engine === null) return { sessions: null, reason: found.reason };
    place = found.place;
    if (found.passedOver !== null)
      log.warn({ reason: found.passedOver }, `code runs in ${place}, because the Python of CODE_PYTHON does not work`);
    log.debug({ place, ms: Math.round(performance.now() - startedAt) }, "code engine found");
    return offer(found.engine);
  };
  const offer = (engine: SandboxEngine): CodeOffer => {
    const sessions = new SandboxSessions({
      engine,
      stored,
      observer: telemetry.code,
      log,
      timeoutMs: config.codeTimeoutMs,
      memoryBytes: config.codeMemoryMax,
      containerBytesMax: config.containerBytesMax,
      sessionsMax: config.codeSessionsMax,
    });
    return { sessions, reason: null };
  };
  const findOnce = async (): Promise<CodeOffer> => {
    if (known !== null) return known;
    finding ??= find().then((found) => (known = found));
    return await finding;
  };
  return {
    get known() {
      return known;
    },
    find: findOnce,
    start: () => void findOnce(),
    line: async () => {
      const { sessions, reason } = await findOnce();
      if (sessions === null) return `Code does not run  ${reason}`;
      return `Code runs in       ${place}, Python ${sessions.abilities.python}`;
    },
    close: async () => {
      closing.abort(new Error("the server stops"));
      await (await finding)?.sessions?.close();
    },
  };
}

const OFF: CodeOffer = { sessions: null, reason: "This server runs no code, because CODE_ENGINE is off." };

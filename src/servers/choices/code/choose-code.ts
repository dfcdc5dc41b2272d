import type { Logger } from "@antiphon/base/logger.ts";
import type { CodeAbilities, CodeFinder, CodeOffer } from "@antiphon/domain/containers.ts";
import type { SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import type { StoredContainers } from "@antiphon/sandbox/ports/stored-containers.ts";
import { SandboxSessions } from "@antiphon/sandbox/sessions/sandbox-sessions.ts";
import type { Config } from "../../../config/load-config.ts";
import type { Telemetry } from "../choose-telemetry.ts";
import { type FoundEngine, findCodeEngine } from "./find-code-engine.ts";

interface Foundations {
  readonly containers: StoredContainers;
  readonly telemetry: Pick<Telemetry, "code">;
}

/** Where code runs, such as `bubblewrap`, and what it can do there; or why it does not run, as a sentence. */
export type CodePlace =
  | { readonly place: string; readonly abilities: CodeAbilities; readonly why: null }
  | { readonly place: null; readonly abilities: null; readonly why: string };

/** The sandboxes of this server. They are found in the background. */
export interface CodeParts extends CodeFinder {
  /** Starts the search for an engine if it has not started. */
  start(): void;
  /** Resolves once the engine is known. */
  place(): Promise<CodePlace>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** Chooses the engine that runs code, by the settings and by what is installed. Does no work until `start`. */
export function chooseCode(config: Config, { containers, telemetry }: Foundations, log: Logger): CodeParts {
  const closing = new AbortController();
  let currentOffer: CodeOffer | null = config.codeEngine === "off" ? OFF : null;
  let finding: Promise<CodeOffer> | null = null;
  let place = "";
  const find = async (): Promise<CodeOffer> => {
    const startedAt = performance.now();
    const foundEngine = await findCodeEngine(config, closing.signal).catch((error: unknown): FoundEngine => {
      if (!closing.signal.aborted) log.error({ err: error }, "no code engine could be started");
      return { engine: null, reason: "Code cannot be run, because no engine could be started." };
    });
    if (foundEngine.engine === null && !closing.signal.aborted)
      log.warn({ reason: foundEngine.reason }, "this server does not run code");
    if (foundEngine.engine === null) return { sessions: null, reason: foundEngine.reason };
    place = foundEngine.place;
    if (foundEngine.passedOver !== null)
      log.warn({ reason: foundEngine.passedOver }, `code runs in ${place} without the Python of antiphon code setup`);
    log.debug({ place, ms: Math.round(performance.now() - startedAt) }, "code engine found");
    return offer(foundEngine.engine);
  };
  const offer = (engine: SandboxEngine): CodeOffer => {
    const sessions = new SandboxSessions({
      engine,
      containers,
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
    if (currentOffer !== null) return currentOffer;
    finding ??= find().then((result) => (currentOffer = result));
    return await finding;
  };
  return {
    get offer() {
      return currentOffer;
    },
    find: findOnce,
    start: () => void findOnce(),
    place: async () => {
      const { sessions, reason } = await findOnce();
      return sessions === null
        ? { place: null, abilities: null, why: reason }
        : { place, abilities: sessions.abilities, why: null };
    },
    close: async () => {
      closing.abort(new Error("the server stops"));
      await (await finding)?.sessions?.close();
    },
  };
}

const OFF: CodeOffer = { sessions: null, reason: "This server runs no code, because CODE_ENGINE is off." };

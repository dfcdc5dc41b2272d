import { idFromStem } from "@antiphon/base/ids.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import { createHostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { WITHOUT_RETRIEVAL } from "@antiphon/domain/models/retrieval.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import { KnownRequests, RunHost } from "../../runs/index.ts";
import type { RunObserver } from "../../runs/ports/run-watch.ts";
import { aResponse } from "../../runs/run.fixture.ts";
import { UsageMeter } from "../access/usage-meter.ts";
import { type AskContext, askModel } from "../create/ask-model.ts";
import { type OrderContext, orderOf } from "../create/begin-response.ts";
import type { RunTask } from "../task/run-task.ts";
import { ModelGate } from "../tool-loop/attempts/model-gate.ts";
import { MortalProcess } from "./mortal-process.fixture.ts";

const OWNER = { organization: "org", project: "proj" };

/** What a process runs a response with. */
export interface MortalParts {
  readonly engine: ModelEngine;
  readonly tools: readonly HostedTool[];
}

/** A model that answers with these events as long as its process lives. */
export function mortalEngine(
  life: MortalProcess,
  say: (request: ModelRequest) => AsyncIterable<readonly ModelEvent[]>,
): ModelEngine {
  return {
    ...WITHOUT_RETRIEVAL,
    name: "scripted",
    abilitiesOf: () => ({ images: false, imageUrls: false, files: false, audioFormats: [] }),
    sample: async (request) => {
      await life.alive();
      return say(request);
    },
    listModels: async () => [],
    countTokens: async () => ({ tokens: 1, exact: true }),
    estimateTokens: async () => 1,
    continuesAnswers: async () => false,
    reasoningDefaults: () => null,
    notesOn: () => [],
    contextWindow: async () => null,
  };
}

const OBSERVER: RunObserver = {
  watch: () => ({
    trace: null,
    began() {},
    countEvents() {},
    noteFailure() {},
    noteEnd() {},
    noteRefusal() {},
    noteLeave() {},
    noteIncident() {},
  }),
};
const TOOL_OBSERVER: ToolObserver = {
  began: () => ({ noteEnd() {} }),
  noteLoopEnd() {},
  noteLimit() {},
  noteEffect() {},
  noteOmission() {},
};

/** Sound begins with the first text and ends with the turn. */
async function* spoken(turn: AsyncIterable<readonly ModelEvent[]>): AsyncGenerator<readonly ModelEvent[]> {
  for await (const batch of turn) {
    const isText = batch.some(({ type }) => type === "text_delta");
    const isEnd = batch.some(({ type }) => type === "finished");
    if (isEnd) yield [{ type: "message_finished" }, { type: "audio_done" }];
    yield isText ? [...batch, { type: "audio_delta", audio: "AAAA" }] : batch;
  }
}

function orderingOf({ engine, tools }: MortalParts, life: MortalProcess): OrderContext {
  const limits = {
    turnsMax: 32,
    callsMax: 128,
    parallelMax: 8,
    outputCharactersMax: 1000,
    attemptsMax: 3,
    repeatMs: 1,
  };
  const kinds = new Set(["mcp", "programmatic_tool_calling"] as const);
  const asking: AskContext = {
    engine,
    spokenOutput: { settle: () => Promise.reject(new Error("no voice")), speak: spoken },
    sealer: { seal: (text) => text, open: (text) => text },
    tools: {
      catalogue: createHostedTools(tools, { kinds, limits, unavailable: "omit", nodeName: "here" }),
      ledger: life.ledger,
      observer: TOOL_OBSERVER,
    },
    retries: { budget: { failuresMax: 3, withinMs: 60_000 }, gate: new ModelGate() },
    store: { findOutputs: async () => new Map() },
    exchangeLog: null,
  };
  return {
    ask: (task, run) => askModel(asking, task, run),
    sealer: asking.sealer,
    requests: new KnownRequests(),
    nodeName: "here",
    eventLog: life.log,
    observer: OBSERVER,
    meter: new UsageMeter({ note() {} }, { priceOf: () => null }),
  };
}

/** Makes the response, or goes on with it, until it has ended or the process is dead. */
async function live(parts: MortalParts, task: RunTask, life: MortalProcess): Promise<void> {
  const host = new RunHost({ runsMax: 1, backgroundRunsMax: 1, queueMax: 1, runMs: 600_000 });
  const response = aResponse({ id: idFromStem("resp", task.ids, 0), background: true, status: "queued" });
  const opened = { owner: OWNER, response, inputItems: [] };
  const order = orderOf(orderingOf(parts, life), task, opened, { log: silentLogger });
  const logged = [...life.events];
  const begun = logged.length === 0 ? host.enqueue(order) : host.resume(order, logged, null);
  await Promise.race([life.death, begun.then(() => host.idle())]);
  if (life.isDead) void host.releaseAll(host.list());
}

/** Lives until each of these deaths, and then to the end. `partsOf`: what each life has. */
export async function liveThrough(
  partsOf: (life: MortalProcess) => MortalParts,
  task: RunTask,
  deaths: readonly number[],
): Promise<readonly MortalProcess[]> {
  const lives: MortalProcess[] = [];
  for (const changesMax of [...deaths, Number.POSITIVE_INFINITY]) {
    const life = new MortalProcess(changesMax, lives.at(-1));
    lives.push(life);
    await live(partsOf(life), task, life);
    if (life.body !== null) break;
  }
  return lives;
}

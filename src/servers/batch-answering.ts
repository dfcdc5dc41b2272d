import type { ApiError } from "@antiphon/base/api-error.ts";
import { newRequestId } from "@antiphon/base/ids.ts";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { CreateBatchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { HeldLine, LastingRuns } from "@antiphon/domain/batches/batch-work.ts";
import type { KnownKey } from "@antiphon/domain/keys.ts";
import { checkBody } from "@antiphon/http-kit/body/read-body.ts";
import type { Contract } from "@antiphon/http-kit/contract.ts";
import { errorReply, type Faults, namedFault } from "@antiphon/http-kit/faults.ts";
import type { HandlerTable, Reply, RequestContext } from "@antiphon/http-kit/handler.ts";
import { BatchRunner } from "../batches/batch-runner.ts";
import type { LineAnswer, LineDoor, ProcessLoad } from "../batches/ports.ts";
import type { Config } from "../config/load-config.ts";
import { type Principal, principalOf } from "../responses-api/access/authenticate.ts";
import type { Caller } from "../responses-api/access/caller.ts";
import { batchKeyGone, notInBatch } from "../responses-api/errors/file-errors.ts";
import type { WatchContext } from "../responses-api/show/watch-response.ts";
import type { ApiKeys } from "../secrets/secrets-on-disk.ts";
import type { Telemetry } from "./choices/choose-telemetry.ts";
import type { ConfiguredStore } from "./open-configured-store.ts";

/** The operations of this server. */
export interface ServedOperations {
  readonly contract: Contract;
  readonly handlers: HandlerTable<Principal>;
  readonly faults: Faults;
}

interface Foundations {
  readonly operations: ServedOperations;
  readonly watching: WatchContext;
  readonly store: Pick<ConfiguredStore, "batches" | "files">;
  readonly keys: Pick<ApiKeys, "findById">;
  readonly telemetry: Pick<Telemetry, "batches">;
}

const OPERATIONS: Readonly<Record<CreateBatchRequest["endpoint"], string>> = {
  "/v1/chat/completions": "createChatCompletion",
  "/v1/embeddings": "createEmbedding",
  "/v1/messages": "createMessage",
  "/v1/responses": "createResponse",
};
const STATUS_LIMIT = 429;
/** Statuses of faults that may pass. */
const STATUSES_OUTAGE: ReadonlySet<number> = new Set([408, 500, 502, 503, 504, 529]);

/** Starts to work on batches, with the operations of this server. */
export function startBatches(config: Config, foundations: Foundations, log: Logger): BatchRunner {
  const { watching, store, telemetry } = foundations;
  const parts = {
    store: store.batches,
    files: store.files,
    door: lineDoor(foundations, log),
    load: processLoad(config, watching),
    observer: telemetry.batches,
    linesMax: config.batchLinesMax,
    lineBytesMax: config.bodyBytesMax,
  };
  return new BatchRunner(parts, log);
}

function processLoad(
  { runsMax, backgroundRunsMax }: Pick<Config, "backgroundRunsMax" | "runsMax">,
  { runs }: Pick<WatchContext, "runs">,
): ProcessLoad {
  return {
    hasFreePlace: () => {
      const { foreground, background, queueLength } = runs.load;
      return Math.min(backgroundRunsMax, runsMax - foreground) > background + queueLength;
    },
    countExcept: (responseIds) => runs.list().filter((id) => !responseIds.has(id)).length,
  };
}

function lineDoor({ operations, watching, keys }: Foundations, log: Logger): LineDoor {
  return {
    async answer(line, runs, signal) {
      const requestId = newRequestId();
      try {
        const reply = await replyTo(
          operations,
          { line, runs, signal, requestId, key: await keys.findById(line.keyId) },
          log,
        );
        const body = "body" in reply && isRecord(reply.body) ? reply.body : {};
        const hasFailed = body["status"] === "failed" || body["status"] === "cancelled";
        return { status: reply.status, requestId, body, isGood: !hasFailed, passingFault: null };
      } catch (error) {
        signal.throwIfAborted();
        return refusalOf(operations.faults, { error, line, requestId }, log);
      }
    },
    async removeResponse(owner, responseId) {
      await watching.store.deleteResponse(owner, responseId);
    },
  };
}

interface AskedLine {
  readonly line: HeldLine;
  readonly runs: LastingRuns;
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly key: KnownKey | null;
}

async function replyTo(
  { contract, handlers, faults }: ServedOperations,
  { line, runs: lastingRuns, signal, requestId, key }: AskedLine,
  log: Logger,
): Promise<Reply> {
  if (key === null) throw batchKeyGone();
  const operationId = OPERATIONS[line.endpoint];
  const route = contract.routes.find((one) => one.operationId === operationId);
  const handler = handlers[operationId];
  if (route === undefined || handler === undefined) throw new TypeError(`${operationId} is served`);
  const body = await checkBody(route, requestBody(line), contract, faults);
  const caller: Caller & RequestContext<Principal> = {
    principal: { ...principalOf(key, {}), owner: line.owner },
    signal,
    requestId,
    clientRequestId: null,
    operationId,
    trace: null,
    log,
    peer: { method: "POST", path: line.endpoint, headers: {}, remoteAddress: "", remotePort: 0, localPort: 0 },
    lastingRuns,
  };
  return await handler({ path: {}, query: {}, headers: {}, body }, caller);
}

/** The request of a line. That it is made in the background goes without saying. */
function requestBody({ body: text }: HeldLine): unknown {
  const { background: _background, ...body } = readOwnJson<Record<string, unknown>>(text);
  if (body["stream"] === true) throw notInBatch("stream");
  for (const member of ["audio", "output_audio"]) if (body[member] != null) throw notInBatch(member);
  return body;
}

interface FailedLine {
  readonly error: unknown;
  readonly line: HeldLine;
  readonly requestId: string;
}

function refusalOf(faults: Faults, { error, line, requestId }: FailedLine, log: Logger): LineAnswer {
  const named = namedFault(error, faults);
  if (named === null) log.error({ err: error, requestId, batchId: line.batchId }, "a line of a batch failed");
  const fault = named ?? faults.internalError(requestId);
  const { status, body } = errorReply(fault, { path: line.endpoint, requestId }, faults);
  return { status, requestId, body, isGood: false, passingFault: passingFault(fault) };
}

function passingFault({ status, headers }: ApiError): LineAnswer["passingFault"] {
  if (headers["x-should-retry"] === "false") return null;
  if (status === STATUS_LIMIT) return "limit";
  return STATUSES_OUTAGE.has(status) ? "outage" : null;
}

import type { CreateResponseRequest, Response, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem, keyOfId, newIdStem } from "../../base/ids.ts";
import { Slices } from "../../base/limits/slices.ts";
import type { MediaReader } from "../../domain/media.ts";
import type { ResponseStore } from "../../domain/responses.ts";
import type { SpeechOutput, SpokenOutput } from "../../domain/speech.ts";
import type { ToolLedger } from "../../domain/tool-ledger.ts";
import type { OpenedRun, RunOrigin } from "../../runs/ports/event-log.ts";
import type { ModelEngine } from "../../runs/ports/model-engine.ts";
import type { Owner } from "../../runs/ports/owner.ts";
import type { ModelRequest } from "../../runs/request/model-request.ts";
import type { Caller } from "../access/caller.ts";
import { checkAvailability, checkBackground, checkModelName, type EmulatedUse } from "../checks/check-availability.ts";
import { checkTextFormat, checkToolChoice, checkTools } from "../checks/check-tools.ts";
import { asksForCompaction, checkCompaction, planCompaction } from "../compaction/plan-compaction.ts";
import { summaryRequest } from "../compaction/summary-turn.ts";
import { approvalSpent } from "../errors/approval-errors.ts";
import { rethrowModelError } from "../errors/model-errors.ts";
import { invalidValue, jsonWordMissing, nothingToAnswer, unsupportedParameter } from "../errors/parameter-errors.ts";
import { checkItemsNotRepeated } from "../input/context-rules.ts";
import { type ConversationHold, conversationIdOf, holdConversation } from "../input/conversation-hold.ts";
import { type HistoryContext, loadHistory } from "../input/load-history.ts";
import { resolveInput } from "../input/resolve-input.ts";
import { seenContext } from "../input/seen-context.ts";
import { acceptTools, askerOf, labelsOf, tellOmitted } from "../offered-tools/accept-tools.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import type { Sealer } from "../seal.ts";
import { estimateInputTokens, modelRequest, withConfiguration } from "../task/model-request.ts";
import type { RunTask } from "../task/run-task.ts";
import { toolSecrets } from "../task/seal-tools.ts";
import { writeTask } from "../task/stored-task.ts";
import { checkApprovals, checkStoredRequests, freshApprovals } from "../tool-loop/approvals.ts";
import { withHostedFunctions } from "../tool-loop/count-tools.ts";
import type { ToolContext } from "../tool-loop/loop-parts.ts";
import { fitRequest } from "../tool-loop/results/fit-request.ts";
import type { ApprovalHold, ApprovalsInUse } from "./approval-hold.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import { type NotedRun, runNotes, type ServedModel } from "./notes/run-notes.ts";
import { runKind } from "./run-kind.ts";

/** What runs are prepared with, by subject. */
export interface PreparingContext {
  readonly model: ServedModel;
  readonly history: HistoryContext;
  readonly tools: ToolContext;
  readonly approvalsInUse: ApprovalsInUse;
  /** Encrypts content that clients store and send back, such as reasoning. */
  readonly sealer: Sealer;
  /** Converts pictures, files and recordings for the model. */
  readonly media: MediaReader;
  /** Speaks answers. */
  readonly spokenOutput: SpokenOutput;
}

export interface PreparedRun {
  readonly task: RunTask;
  readonly opened: OpenedRun;
  /** For its conversation and its approvals. All work until the run is stored must use `hold.during`. */
  readonly hold: ConversationHold;
  /** Release them when the run is over. */
  readonly approvals: ApprovalHold;
}

/**
 * Prepares a run from a validated request. Like the reference, checks stored state first and the meaning of the request
 * last.
 */
export async function prepareRun(
  context: PreparingContext,
  caller: Caller,
  request: CreateResponseRequest,
  createdAt: number,
): Promise<PreparedRun> {
  const slices = new Slices();
  const emulated = await checkAvailability(request, context.model.kind);
  checkBackground(request);
  checkCompaction(request);
  if (slices.isOver) await slices.next();
  const ids = newIdStem(createdAt, stemKey(request));
  const { owner } = caller.principal;
  const conversation = await holdConversation(
    context.history.conversations,
    owner,
    request,
    idFromStem("resp", ids, 0),
  );
  const approvals = context.approvalsInUse.newHold(owner);
  const hold: ConversationHold = { during: (work) => approvals.during(() => conversation.during(work)) };
  const checked = { sent: request, emulated, approvals };
  return { ...(await hold.during(() => prepareHeld(context, caller, checked, ids))), hold, approvals };
}

/** A request without members that this server lacks. */
interface CheckedRequest {
  readonly sent: CreateResponseRequest;
  readonly emulated: readonly EmulatedUse[];
  readonly approvals: ApprovalHold;
}

/** Runs while the conversation is locked, so that nobody else changes it. */
async function prepareHeld(
  ports: PreparingContext,
  caller: Caller,
  { sent, emulated, approvals }: CheckedRequest,
  ids: IdStem,
): Promise<Omit<PreparedRun, "hold" | "approvals">> {
  const { principal, signal, trace, generate = true } = caller;
  const { owner } = principal;
  const slices = new Slices(); // Lets other requests run between long steps.
  const history = await loadHistory(ports.history, caller, sent);
  if (slices.isOver) await slices.next();
  if (generate) checkSomethingToAnswer(sent, history);
  const accepted = await settleTools(ports, caller, sent);
  if (slices.isOver) await slices.next();
  checkTextFormat(sent);
  const speech = generate ? await settleSpeech(ports.spokenOutput, sent, signal) : null;
  const { items, context, places } = await resolveInput(
    { store: ports.history.store, sealer: ports.sealer },
    owner,
    ids,
    { sent, history },
  );
  if (slices.isOver) await slices.next();
  const request = withConfiguration(sent, history, items);
  checkTextFormat(request);
  const tools = withJoinedTools(accepted.echoes, { context, places });
  if (slices.isOver) await slices.next();
  checkToolChoice(request, tools);
  if (request.conversation != null) checkItemsNotRepeated(history, items);
  if (generate) checkMentionsJson(request, context);
  await takeApprovals(ports.history.store, ports.tools.ledger, approvals, {
    owner,
    generate,
    sent,
    hosted: accepted.hosted,
    context,
  });
  checkModelName(request.model);
  if (slices.isOver) await slices.next();
  const reasoning = ports.model.engine.reasoningDefaults(request.model ?? "");
  const response = firstSnapshot(request, { tools, reasoning }, idFromStem("resp", ids, 0), ids.createdAt);
  const readers = { sealer: ports.sealer, media: ports.media, toolLedger: ports.tools.ledger };
  const seen = await seenContext(readers, caller, request, { context, places, hosted: accepted.hosted });
  const shaped = modelRequest(request, response, seen, accepted);
  if (slices.isOver) await slices.next();
  const { turn: fitting, leftOut } = await fitTurn(ports.model.engine, request, shaped, signal).catch(
    rethrowModelError,
  );
  const turn = { owner, request: fitting, hosted: accepted.hosted, context };
  const asked = generate ? fitting : await warmUpRequest(ports, turn, signal);
  const task: RunTask = {
    ids,
    ...wishesOf(request, response),
    inputTokensEstimate: await estimateInputTokens(asked),
    request: { ...asked, trace },
    speech,
    compaction: generate ? await planCompaction(ports.model.engine, request, signal) : null,
    tools: generate ? taskTools(request, accepted.hosted, context) : null,
  };
  if (slices.isOver) await slices.next();
  const isBackground = response.background === true;
  return {
    task,
    opened: {
      owner,
      response,
      inputItems: items,
      task: isBackground ? await writeTask(task, toolSecrets(ports.sealer, owner, response.id)) : null,
      streamed: request.stream === true,
      origin: runOrigin(ports.model, caller, { ...task, request, accepted, emulated, turn: fitting, leftOut }),
    },
  };
}

/** The client's wishes on how to show the answer. */
function wishesOf(
  { interruption }: CreateResponseRequest,
  { reasoning }: Response,
): Pick<RunTask, "reasoning" | "interruption"> {
  return {
    reasoning: { rawAs: reasoning?.summary == null ? "text" : "summary", isSealed: true },
    interruption: interruption ?? null,
  };
}

/** The sender and kind of a request, and deviations from it. */
function runOrigin(
  model: ServedModel,
  { principal, remembered }: Pick<Caller, "principal" | "remembered">,
  run: NotedRun,
): RunOrigin {
  const isOnWebSocket = remembered !== undefined; // Only callers on a WebSocket remember turns.
  const kind = runKind(run.request, isOnWebSocket);
  return { kind, keyId: principal.keyId, notes: runNotes(model, run) };
}

/** The request's tools, sorted. People are told of those that are left out. */
async function settleTools(context: PreparingContext, caller: Caller, sent: CreateResponseRequest) {
  await checkTools(sent);
  const accepted = await acceptTools(context.tools.catalogue, sent, askerOf(context.model.engine, caller.principal));
  tellOmitted(context.tools.observer, accepted.omitted, caller.log);
  return accepted;
}

/** A warm-up counts the tokens of the first turn; in other runs, the tool loop adds its functions. */
async function warmUpRequest(
  { tools, model }: PreparingContext,
  turn: Parameters<typeof withHostedFunctions>[1],
  signal: AbortSignal,
): Promise<ModelRequest> {
  return await withHostedFunctions({ tools: tools.catalogue, engine: model.engine }, turn, signal).catch(
    rethrowModelError,
  );
}

interface ApprovingRequest {
  readonly owner: Owner;
  readonly generate: boolean;
  readonly sent: CreateResponseRequest;
  readonly hosted: TaskTools["hosted"];
  readonly context: readonly StoredItem[];
}

/** Takes the approvals that the response uses. Refuses unusable ones, even from earlier requests. */
async function takeApprovals(
  store: ResponseStore,
  toolLedger: Pick<ToolLedger, "findSpent">,
  hold: ApprovalHold,
  { owner, generate, sent, hosted, context }: ApprovingRequest,
): Promise<void> {
  if (!context.some(({ type }) => type.startsWith("mcp_approval"))) return;
  checkApprovals(context, labelsOf(hosted));
  await checkStoredRequests(store, owner, context);
  const approvals = freshApprovals(context);
  if (generate && !asksForCompaction(sent.input)) hold.take(approvals);
  // After taking them: the ledger knows those released by another response after its call.
  const [spent] = await toolLedger.findSpent(owner, approvals);
  if (spent !== undefined) throw approvalSpent(spent);
}

/** The tool loop's part of the task; null if the request has no tools of this server, or is only for a compaction. */
function taskTools(
  { include, input, max_tool_calls: callsMax, truncation }: CreateResponseRequest,
  hosted: TaskTools["hosted"],
  context: readonly StoredItem[],
): TaskTools | null {
  if (hosted.length === 0 || asksForCompaction(input)) return null;
  return { hosted, include: include ?? [], callsMax: callsMax ?? null, context, fitsWindow: truncation === "auto" };
}

/** How to speak the answer; null if it is not spoken. Throws an `ApiError` if this server cannot speak it this way. */
async function settleSpeech(
  spokenOutput: SpokenOutput,
  { output_audio: asked }: CreateResponseRequest,
  signal: AbortSignal,
): Promise<SpeechOutput | null> {
  if (asked == null) return null;
  const settled = await spokenOutput.settle(asked, signal);
  switch (settled.type) {
    case "settled":
      return settled.speech;
    case "refused":
      throw unsupportedParameter(settled.param, settled.reason);
    case "unknown_voice":
      throw invalidValue("output_audio.voice", settled.voice, settled.voices);
  }
}

interface FittedTurn {
  readonly turn: ModelRequest;
  /** The number of dropped items. */
  readonly leftOut: number;
}

/**
 * Turns the request into one for a summary if a compaction is needed, and drops items beyond the window if the request
 * allows it.
 */
async function fitTurn(
  engine: ModelEngine,
  { input, truncation }: CreateResponseRequest,
  shaped: ModelRequest,
  signal: AbortSignal,
): Promise<FittedTurn> {
  const compacts = asksForCompaction(input);
  if (compacts && shaped.items.length === 0) throw nothingToAnswer();
  const whole = compacts ? summaryRequest(shaped) : shaped;
  const rules = { dropsOldest: compacts || truncation === "auto", tools: null };
  const { request: turn } = await fitRequest(engine, whole, rules, signal);
  return { turn, leftOut: whole.items.length - turn.items.length };
}

function checkSomethingToAnswer({ input }: CreateResponseRequest, history: readonly StoredItem[]): void {
  const empty = input === undefined || input === null || input.length === 0;
  if (empty && history.length === 0) throw nothingToAnswer();
}

/**
 * The first 16 hex digits of the response's id: those of the previous response's id, or the last 16 of the
 * conversation's id. Undefined if there is neither.
 */
function stemKey(request: CreateResponseRequest): IdStem["key"] | undefined {
  const conversationId = conversationIdOf(request);
  if (conversationId !== null) return keyOfId(conversationId);
  return /^resp_([0-9a-f]{16})/.exec(request.previous_response_id ?? "")?.[1];
}

function checkMentionsJson({ text }: CreateResponseRequest, context: readonly StoredItem[]): void {
  if (text?.format?.type !== "json_object") return;
  const said = context.some(
    (item) => item.type === "message" && item.content.some((part) => "text" in part && /json/i.test(part.text)),
  );
  if (!said) throw jsonWordMissing();
}

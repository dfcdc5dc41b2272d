import { type IdStem, idFromStem, keyOfId, newIdStem } from "@antiphon/base/ids.ts";
import type { CreateResponseRequest, Response, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { FaceOrigin } from "@antiphon/domain/faces.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { SpeechOutput, SpokenOutput } from "@antiphon/domain/speech.ts";
import type { SteerStore } from "@antiphon/domain/steering/steers.ts";
import type { ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { OpenedRun, RunOrigin, TakenSteers } from "../../runs/ports/event-log.ts";
import type { Caller } from "../access/caller.ts";
import { checkAvailability, checkBackground, checkModelName, type EmulatedUse } from "../checks/check-availability.ts";
import { checkTextFormat } from "../checks/check-tools.ts";
import { asksForCompaction, checkCompaction, planCompaction } from "../compaction/plan-compaction.ts";
import { summaryRequest } from "../compaction/summary-turn.ts";
import { approvalSpent } from "../errors/approval-errors.ts";
import { rethrowModelError } from "../errors/model-errors.ts";
import { invalidValue, jsonWordMissing, nothingToAnswer, unsupportedParameter } from "../errors/parameter-errors.ts";
import { checkItemsNotRepeated } from "../input/context-rules.ts";
import { conversationIdOf, lockConversation } from "../input/conversation-lock.ts";
import { labelsOf, tellOmitted } from "../offered-tools/accept-tools.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import { estimateInputTokens } from "../task/model-request.ts";
import { type RunTask, runKind } from "../task/run-task.ts";
import { toolSecrets } from "../task/seal-tools.ts";
import { sealSettings } from "../task/steer-settings.ts";
import { writeTask } from "../task/stored-task.ts";
import { checkApprovals, checkStoredRequests, freshApprovals } from "../tool-loop/approvals.ts";
import { withHostedFunctions } from "../tool-loop/count-tools.ts";
import { fitRequest } from "../tool-loop/results/fit-request.ts";
import { withModelPolicy } from "./model-defaults.ts";
import { type NotedRun, runNotes, type ServedModel } from "./notes/run-notes.ts";
import { withPendingSteers } from "./pending-steers.ts";
import { type ApprovalsInUse, ResponseLock } from "./response-lock.ts";
import {
  joinTools,
  loadItems,
  resolveItems,
  type SentDraft,
  type ShapingContext,
  shapeItems,
  sortTools,
  type WithHistory,
  type WithInput,
  type WithOffer,
  type WithTurn,
} from "./shape-turn.ts";
import { Stages } from "./stages.ts";

/** What runs are prepared with, by subject. */
export interface PreparingContext extends ShapingContext {
  readonly approvalsInUse: ApprovalsInUse;
  /** Speaks answers. */
  readonly spokenOutput: SpokenOutput;
  /** The inputs that wait for what clients owe. */
  readonly steers: Pick<SteerStore, "listPending">;
}

export interface PreparedRun {
  readonly task: RunTask;
  readonly openedRun: OpenedRun;
  /** All work until the run is stored must go through `hold.during`. */
  readonly lock: ResponseLock;
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
  const policy = context.model.policyOf(request.model ?? "");
  const { asked, steers } = await withPendingSteers(context, caller, request);
  const sent = withModelPolicy(asked, policy, caller.principal.owner);
  const lock = new ResponseLock(context.approvalsInUse.newLock(caller.principal.owner));
  const received = { sent, caller, generate: caller.generate ?? true, createdAt, lock, steers };
  return { ...(await lock.during(() => PREPARATION.run(received, context))), lock };
}

/** A request that was received. */
interface ReceivedDraft extends Omit<SentDraft, "ids"> {
  /** Whether the model is asked. */
  readonly generate: boolean;
  readonly createdAt: number;
  readonly steers: TakenSteers | null;
  /** Locks nothing yet. */
  readonly lock: ResponseLock;
}

interface WithUses {
  readonly emulated: readonly EmulatedUse[];
}

interface WithSpeech {
  /** How the answer is spoken; null if it is not. */
  readonly speech: SpeechOutput | null;
}

interface WithFittingTurn {
  /** The turn without the items that do not fit. */
  readonly fitting: ModelRequest;
  /** How many items were dropped. */
  readonly leftOut: number;
}

const PREPARATION = Stages.of<ReceivedDraft, PreparingContext>()
  .add(checkRequest)
  .add(holdTurns)
  .add(loadItems)
  .add(requireInput)
  .add(sortTools)
  .add(settleAnswer)
  .add(resolveItems)
  .add(checkConfiguration)
  .add(joinTools)
  .add(checkMeaning)
  .add(shapeItems)
  .add(fitTurn)
  .add(planTask)
  .add(openRun);

/** Refuses members that this server lacks. */
async function checkRequest<Draft extends ReceivedDraft>(
  draft: Draft,
  { model }: Pick<PreparingContext, "model">,
): Promise<Draft & WithUses> {
  const { sent } = draft;
  const emulated = await checkAvailability(sent, model.kindOf(sent.model ?? ""));
  checkBackground(sent);
  checkCompaction(sent);
  return { ...draft, emulated };
}

/** Names the response, and holds its conversation, so that nobody else changes it. */
async function holdTurns<Draft extends ReceivedDraft>(
  draft: Draft,
  { history }: Pick<PreparingContext, "history">,
): Promise<Draft & SentDraft> {
  const { sent, caller, createdAt, lock } = draft;
  const ids = newIdStem(createdAt, stemKey(sent));
  const responseId = idFromStem("resp", ids, 0);
  lock.addConversation(await lockConversation(history.conversations, caller.principal.owner, sent, responseId));
  return { ...draft, ids };
}

/** Refuses a request that says nothing and continues nothing, unless the model is not asked. */
function requireInput<Draft extends ReceivedDraft & WithHistory>(draft: Draft): Draft {
  const { input } = draft.sent;
  const isEmpty = input === undefined || input === null || input.length === 0;
  if (draft.generate && isEmpty && draft.history.length === 0) throw nothingToAnswer();
  return draft;
}

/** Decides on the form of the answer. People are told of the tools that it does without. */
async function settleAnswer<Draft extends ReceivedDraft & WithOffer>(
  draft: Draft,
  { tools, spokenOutput }: Pick<PreparingContext, "tools" | "spokenOutput">,
): Promise<Draft & WithSpeech> {
  const { sent, caller, generate, accepted } = draft;
  tellOmitted(tools.observer, accepted.omittedTools, caller.log);
  checkTextFormat(sent);
  return { ...draft, speech: generate ? await settleSpeech(spokenOutput, sent, caller.signal) : null };
}

function checkConfiguration<Draft extends WithInput>(draft: Draft): Draft {
  checkTextFormat(draft.request);
  return draft;
}

/** Checks what the request means together with its context, and takes the approvals that its response acts on. */
async function checkMeaning<Draft extends ReceivedDraft & WithHistory & WithOffer & WithInput>(
  draft: Draft,
  { history: { store }, tools }: Pick<PreparingContext, "history" | "tools">,
): Promise<Draft> {
  const { request, input, history, generate } = draft;
  if (request.conversation != null) checkItemsNotRepeated(history, input.items);
  if (generate) checkMentionsJson(request, input.context);
  await takeApprovals(store, tools.ledger, draft);
  checkModelName(request.model);
  return draft;
}

/**
 * Turns the turn into one for a summary if a compaction is wanted, and drops items beyond the window if the request
 * allows it.
 */
async function fitTurn<Draft extends ReceivedDraft & WithInput & WithTurn>(
  draft: Draft,
  { model }: Pick<PreparingContext, "model">,
): Promise<Draft & WithFittingTurn> {
  const { request, turn, caller } = draft;
  const compacts = asksForCompaction(request.input);
  if (compacts && turn.items.length === 0) throw nothingToAnswer();
  const whole = compacts ? summaryRequest(turn) : turn;
  const rules = { dropsOldest: compacts || request.truncation === "auto", tools: null };
  const fitted = await fitRequest(model.engine, whole, rules, caller.signal).catch(rethrowModelError);
  return { ...draft, fitting: fitted.request, leftOut: whole.items.length - fitted.request.items.length };
}

/** A warm-up counts the tokens of the first turn; the tool loop of any other run adds its functions by itself. */
async function planTask<
  Draft extends ReceivedDraft & SentDraft & WithOffer & WithSpeech & WithInput & WithTurn & WithFittingTurn,
>(
  draft: Draft,
  { model, tools }: Pick<PreparingContext, "model" | "tools">,
): Promise<Draft & { readonly task: RunTask }> {
  const { caller, ids, generate, request, response, fitting, speech } = draft;
  const { hostedTools } = draft.accepted;
  const { context } = draft.input;
  const { signal, trace, principal } = caller;
  const turn = { owner: principal.owner, request: fitting, hostedTools, context };
  const offering = { tools: tools.catalogue, engine: model.engine };
  const asked = generate ? fitting : await withHostedFunctions(offering, turn, signal).catch(rethrowModelError);
  const task: RunTask = {
    ids,
    ...wishesOf(request, response),
    inputTokensEstimate: await estimateInputTokens(asked),
    request: { ...asked, trace },
    speech,
    compaction: generate ? await planCompaction(model.engine, request, signal) : null,
    tools: generate ? taskTools(request, hostedTools, context) : null,
  };
  return { ...draft, task };
}

async function openRun(
  draft: ReceivedDraft & WithUses & WithOffer & WithInput & WithTurn & WithFittingTurn & { readonly task: RunTask },
  { model, sealer }: Pick<PreparingContext, "model" | "sealer">,
): Promise<Omit<PreparedRun, "lock">> {
  const { caller, task, request, response, input, accepted, emulated, fitting, leftOut } = draft;
  const { owner } = caller.principal;
  const isBackground = response.background === true;
  const named = { owner, responseId: response.id };
  const settings = isBackground ? sealSettings(sealer, named, draft.sent) : null;
  const opened = {
    owner,
    response,
    inputItems: input.items,
    task: isBackground ? await writeTask(task, toolSecrets(sealer, owner, response.id), settings) : null,
    streamed: request.stream === true,
    steers: draft.steers,
    origin: runOrigin(model, caller, {
      ...task,
      request,
      offer: accepted,
      emulatedUses: emulated,
      turn: fitting,
      leftOut,
    }),
  };
  return { task, openedRun: opened };
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

/** With the tokens that the face tells its client before the model has counted them. */
function counted(
  { name, notes }: FaceOrigin,
  { inputTokensEstimate }: Pick<RunTask, "inputTokensEstimate">,
): FaceOrigin {
  return { name, notes: { ...notes, inputTokensEstimate } };
}

/** The sender and kind of a request, and deviations from it. */
function runOrigin(
  model: ServedModel,
  { principal, earlierTurns, face = null }: Pick<Caller, "principal" | "earlierTurns" | "face">,
  run: NotedRun & Pick<RunTask, "inputTokensEstimate">,
): RunOrigin {
  const isOnWebSocket = earlierTurns !== undefined; // Only callers on a WebSocket remember turns.
  const kind = runKind(run.request, isOnWebSocket);
  return { kind, keyId: principal.keyId, notes: runNotes(model, run), face: face === null ? null : counted(face, run) };
}

/** Takes the approvals that the response acts on. Refuses those that cannot be acted on, also of earlier requests. */
async function takeApprovals(
  store: ResponseStore,
  toolLedger: Pick<ToolLedger, "findSpent">,
  { caller, generate, sent, lock, accepted, input: { context } }: ReceivedDraft & WithOffer & WithInput,
): Promise<void> {
  const { owner } = caller.principal;
  if (!context.some(({ type }) => type.startsWith("mcp_approval"))) return;
  checkApprovals(context, labelsOf(accepted.hostedTools));
  await checkStoredRequests(store, owner, context);
  const approvals = freshApprovals(context);
  if (generate && !asksForCompaction(sent.input)) lock.approvals.take(approvals);
  // Once they are held: what another response has released after its call, the ledger knows.
  const [spentApproval] = await toolLedger.findSpent(owner, approvals);
  if (spentApproval !== undefined) throw approvalSpent(spentApproval);
}

/** The tool loop's part of the task; null if the request has no tools of this server, or is only for a compaction. */
function taskTools(
  { include, input, max_tool_calls: callsMax, truncation }: CreateResponseRequest,
  hostedTools: TaskTools["hosted"],
  context: readonly StoredItem[],
): TaskTools | null {
  if (hostedTools.length === 0 || asksForCompaction(input)) return null;
  return {
    hosted: hostedTools,
    include: include ?? [],
    callsMax: callsMax ?? null,
    context,
    fitsWindow: truncation === "auto",
  };
}

/** How to speak the answer; null if it is not spoken. Throws an `ApiError` if this server cannot speak it this way. */
async function settleSpeech(
  spokenOutput: SpokenOutput,
  { output_audio: audio }: CreateResponseRequest,
  signal: AbortSignal,
): Promise<SpeechOutput | null> {
  if (audio == null) return null;
  const settlement = await spokenOutput.settle(audio, signal);
  switch (settlement.type) {
    case "settled":
      return settlement.speech;
    case "refused":
      throw unsupportedParameter(settlement.param, settlement.reason);
    case "unknown_voice":
      throw invalidValue("output_audio.voice", settlement.voice, settlement.voices);
  }
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
  const isMentioned = context.some(
    (item) => item.type === "message" && item.content.some((part) => "text" in part && /json/i.test(part.text)),
  );
  if (!isMentioned) throw jsonWordMissing();
}

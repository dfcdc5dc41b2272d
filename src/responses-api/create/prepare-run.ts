import type { CreateResponseRequest, Response, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem, keyOfId, newIdStem } from "../../base/ids.ts";
import { Slices } from "../../base/limits/slices.ts";
import type { SpeechOutput } from "../../domain/speech.ts";
import type { OpenedRun, RunOrigin } from "../../runs/ports/event-log.ts";
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
import { loadHistory } from "../input/load-history.ts";
import { resolveInput } from "../input/resolve-input.ts";
import { seenContext } from "../input/seen-context.ts";
import { acceptTools, askerOf, labelsOf, tellOmitted } from "../offered-tools/accept-tools.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import type { ResponseServices } from "../services.ts";
import { estimateInputTokens, modelRequest, withConfiguration } from "../task/model-request.ts";
import type { RunTask } from "../task/run-task.ts";
import { toolSecrets } from "../task/seal-tools.ts";
import { writeTask } from "../task/stored-task.ts";
import { checkApprovals, checkStoredRequests, freshApprovals } from "../tool-loop/approvals.ts";
import { withHostedFunctions } from "../tool-loop/count-tools.ts";
import { fitRequest } from "../tool-loop/results/fit-request.ts";
import type { ApprovalHold } from "./approval-hold.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import { type NotedRun, runNotes } from "./notes/run-notes.ts";
import { runKind } from "./run-kind.ts";

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
  services: ResponseServices,
  caller: Caller,
  request: CreateResponseRequest,
  createdAt: number,
): Promise<PreparedRun> {
  const slices = new Slices();
  const emulated = await checkAvailability(request, services.engineKind);
  checkBackground(request);
  checkCompaction(request);
  if (slices.isOver) await slices.next();
  const ids = newIdStem(createdAt, stemKey(request));
  const { owner } = caller.principal;
  const conversation = await holdConversation(services, owner, request, idFromStem("resp", ids, 0));
  const approvals = services.approvalsInUse.newHold(owner);
  const hold: ConversationHold = { during: (work) => approvals.during(() => conversation.during(work)) };
  const checked = { sent: request, emulated, approvals };
  return { ...(await hold.during(() => prepareHeld(services, caller, checked, ids))), hold, approvals };
}

/** A request without members that this server lacks. */
interface CheckedRequest {
  readonly sent: CreateResponseRequest;
  readonly emulated: readonly EmulatedUse[];
  readonly approvals: ApprovalHold;
}

/** Runs while the conversation is locked, so that nobody else changes it. */
async function prepareHeld(
  services: ResponseServices,
  caller: Caller,
  { sent, emulated, approvals }: CheckedRequest,
  ids: IdStem,
): Promise<Omit<PreparedRun, "hold" | "approvals">> {
  const { principal, signal, trace, generate = true } = caller;
  const { owner } = principal;
  const slices = new Slices(); // Lets other requests run between long steps.
  const history = await loadHistory(services, caller, sent);
  if (slices.isOver) await slices.next();
  if (generate) checkSomethingToAnswer(sent, history);
  const accepted = await settleTools(services, caller, sent);
  if (slices.isOver) await slices.next();
  checkTextFormat(sent);
  const speech = generate ? await settleSpeech(services, sent, signal) : null;
  const { items, context, places } = await resolveInput(services, owner, ids, { sent, history });
  if (slices.isOver) await slices.next();
  const request = withConfiguration(sent, history, items);
  checkTextFormat(request);
  const tools = withJoinedTools(accepted.echoes, { context, places });
  if (slices.isOver) await slices.next();
  checkToolChoice(request, tools);
  if (request.conversation != null) checkItemsNotRepeated(history, items);
  if (generate) checkMentionsJson(request, context);
  await takeApprovals(services, approvals, { owner, generate, sent, hosted: accepted.hosted, context });
  checkModelName(request.model);
  if (slices.isOver) await slices.next();
  const reasoning = services.engine.reasoningDefaults(request.model ?? "");
  const response = firstSnapshot(request, { tools, reasoning }, idFromStem("resp", ids, 0), ids.createdAt);
  const seen = await seenContext(services, caller, request, { context, places, hosted: accepted.hosted });
  const shaped = modelRequest(request, response, seen, accepted);
  if (slices.isOver) await slices.next();
  const { turn: fitting, leftOut } = await fitTurn(services, request, shaped, signal).catch(rethrowModelError);
  const turn = { owner, request: fitting, hosted: accepted.hosted, context };
  const asked = generate ? fitting : await warmUpRequest(services, turn, signal);
  const task: RunTask = {
    ids,
    ...wishesOf(request, response),
    inputTokensEstimate: await estimateInputTokens(asked),
    request: { ...asked, trace },
    speech,
    compaction: generate ? await planCompaction(services, request, signal) : null,
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
      task: isBackground ? await writeTask(task, toolSecrets(services.sealer, owner, response.id)) : null,
      streamed: request.stream === true,
      origin: runOrigin(services, caller, { ...task, request, accepted, emulated, turn: fitting, leftOut }),
    },
  };
}

/** The client's wishes on how to show the answer. */
function wishesOf(
  { interruption }: CreateResponseRequest,
  { reasoning }: Response,
): Pick<RunTask, "rawReasoningAs" | "sealsReasoning" | "interruption"> {
  return {
    rawReasoningAs: reasoning?.summary == null ? "text" : "summary",
    sealsReasoning: true,
    interruption: interruption ?? null,
  };
}

/** The sender and kind of a request, and deviations from it. */
function runOrigin(
  services: ResponseServices,
  { principal, remembered }: Pick<Caller, "principal" | "remembered">,
  run: NotedRun,
): RunOrigin {
  const isOnWebSocket = remembered !== undefined; // Only callers on a WebSocket remember turns.
  const kind = runKind(run.request, isOnWebSocket);
  return { kind, keyId: principal.keyId, notes: runNotes(services, run) };
}

/** Sorts the request's tools. Omitted ones are reported in the log. */
async function settleTools(services: ResponseServices, caller: Caller, sent: CreateResponseRequest) {
  await checkTools(sent);
  const accepted = await acceptTools(services.tools, sent, askerOf(services, caller.principal));
  tellOmitted(services, accepted.omitted, caller.log);
  return accepted;
}

/** A warm-up counts the tokens of the first turn; in other runs, the tool loop adds its functions. */
async function warmUpRequest(
  services: ResponseServices,
  turn: Parameters<typeof withHostedFunctions>[1],
  signal: AbortSignal,
): Promise<ModelRequest> {
  return await withHostedFunctions(services, turn, signal).catch(rethrowModelError);
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
  { store, toolLedger }: Pick<ResponseServices, "store" | "toolLedger">,
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
  { spokenOutput }: Pick<ResponseServices, "spokenOutput">,
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
  { engine }: Pick<ResponseServices, "engine">,
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

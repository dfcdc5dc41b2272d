import { isRecord } from "@antiphon/base/json/records.ts";
import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import { ELICITATION, type ToolScope } from "@antiphon/domain/hosted-tool.ts";
import {
  type CallToolResult,
  type ElicitResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import type { ServerSecrets } from "../authorization/server-secrets.ts";
import type { CallParams } from "../direct-calls.ts";
import type { McpConnection } from "../mcp-connection.ts";
import { McpFault } from "../mcp-failure.ts";
import type { BegunCall, ServerLink } from "../server-link.ts";
import type { HeldCall, HeldCalls } from "./held-calls.ts";
import { DECLINED, type OpenStep, type PausableCall } from "./pausable-call.ts";
import { type CallState, type QuestionParams, type UserQuestion, writeUserQuestion } from "./user-question.ts";

type ApprovalRequest = Extract<OutputItem, { type: "mcp_approval_request" }>;

/** The maximum size of a question with its call and state. A longer one is declined. */
const QUESTION_CHARACTERS_MAX = 262_144;
/** How often a call in one response is answered without its user. */
const ROUNDS_MAX = 16;

/** A call of a tool. `text`: its arguments as the model wrote them. */
export interface AskingCall extends CallParams {
  readonly schema: object;
  readonly text: string;
  /** Whether the response can wait for its client. Otherwise all questions are declined. */
  readonly mayWait: boolean;
}

/** A question of a server, with the answer of the user. */
export interface AnsweredQuestion {
  readonly requestId: string;
  readonly question: UserQuestion;
  readonly result: ElicitResult;
}

/** How far a call came in this response. `lost`: nobody waits for its end any more. */
export type CallEnd =
  | { readonly type: "result"; readonly result: CallToolResult }
  | { readonly type: "asks"; readonly item: ApprovalRequest }
  | { readonly type: "lost" };

export interface AskingCallsParts {
  readonly link: ServerLink;
  readonly label: string;
  readonly secrets: ServerSecrets;
  readonly scope: Pick<ToolScope, "owner" | "responseId" | "continuedId" | "newItemId">;
  readonly heldCalls: HeldCalls;
  /** As in `McpOptions`. */
  readonly isOnlyProcess: boolean;
}

/** The questions of the newer protocol, which come with the result of a call. */
interface WantedInput {
  readonly questions: Readonly<Record<string, QuestionParams>>;
  readonly requestState: string | null;
}

type Outcome =
  | { readonly type: "result"; readonly result: CallToolResult }
  | { readonly type: "waits"; readonly call: PausableCall; readonly connection: McpConnection; readonly step: Question }
  | { readonly type: "again"; readonly input: WantedInput };
type Question = Extract<OpenStep, { type: "question" }>;

/** Calls of one response during which their server may ask the user. */
export class AskingCalls {
  readonly #parts: AskingCallsParts;

  constructor(parts: AskingCallsParts) {
    this.#parts = parts;
  }

  /** Begins a call. Rejects as `McpConnection.callTool`. */
  async begin(call: AskingCall, signal: AbortSignal): Promise<CallEnd> {
    return await this.#settle(call, outcomeOf(await this.#parts.link.beginCall(call, {}, signal)), signal);
  }

  /** Goes on with a call whose question was answered. Rejects as `begin`. */
  async goOn(
    { requestId, question, result }: AnsweredQuestion,
    call: AskingCall,
    signal: AbortSignal,
  ): Promise<CallEnd> {
    const { state } = question;
    if (state !== null) return await this.#answerState(call, state, { result, signal });
    const { heldCalls, scope } = this.#parts;
    const heldCall = heldCalls.take(scope.owner, requestId);
    return heldCall === null ? { type: "lost" } : await this.#answerHeld(call, heldCall, { result, signal });
  }

  async #answerHeld(
    call: AskingCall,
    { open, answer, place }: HeldCall,
    { result, signal }: { readonly result: ElicitResult; readonly signal: AbortSignal },
  ): Promise<CallEnd> {
    const { link, scope } = this.#parts;
    link.adopt(place, scope);
    answer(result);
    const step = await link.stepOf(open, signal);
    return await this.#settle(
      call,
      outcomeOf({ type: "open", call: open, step, connection: place.connection }),
      signal,
    );
  }

  /** Asks the next question of the server, or makes the call again with all answers. */
  async #answerState(
    call: AskingCall,
    { key, rest, answers: earlier, requestState }: CallState,
    { result, signal }: { readonly result: ElicitResult; readonly signal: AbortSignal },
  ): Promise<CallEnd> {
    const answers = { ...earlier, [key]: result };
    const [next] = Object.entries(rest);
    if (next !== undefined) {
      const [name, params] = next;
      const { [name]: _, ...others } = rest;
      const item = this.#item({
        params,
        call: shownCall(call),
        state: { key: name, rest: others, answers, requestState },
      });
      if (item !== null) return { type: "asks", item };
    }
    const refusals = Object.fromEntries(Object.keys(rest).map((name) => [name, DECLINED]));
    const inputs = retryParams({ ...answers, ...refusals }, requestState);
    return await this.#settle(call, outcomeOf(await this.#parts.link.beginCall(call, inputs, signal)), signal);
  }

  /** Passes a question to the client. Questions that cannot be passed are declined, as long as the call goes on. */
  async #settle(call: AskingCall, first: Outcome, signal: AbortSignal): Promise<CallEnd> {
    let outcome = first;
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
      if (outcome.type === "result") return outcome;
      const item = call.mayWait ? this.#ask(call, outcome) : null;
      if (item !== null) return { type: "asks", item };
      outcome = await this.#decline(call, outcome, signal);
    }
    if (outcome.type === "waits") outcome.call.stop();
    throw new McpFault(
      new ProtocolError(ProtocolErrorCode.InvalidRequest, "The server asked again and again, and nobody could answer"),
      { status: null, isForgotten: false, delivery: "sent" },
    );
  }

  #ask(call: AskingCall, outcome: Exclude<Outcome, { type: "result" }>): ApprovalRequest | null {
    if (outcome.type === "again") return this.#askForState(call, outcome.input);
    const { heldCalls, scope, link, isOnlyProcess } = this.#parts;
    if (!isOnlyProcess || !heldCalls.hasRoom(scope.owner)) return null;
    const { step, call: open, connection } = outcome;
    const item = this.#item({ params: step.params, call: shownCall(call), state: null });
    if (item !== null)
      heldCalls.hold(scope.owner, item.id, { open, answer: step.answer, place: link.keep(connection) });
    return item;
  }

  #askForState(call: AskingCall, { questions, requestState }: WantedInput): ApprovalRequest | null {
    const [first] = Object.entries(questions);
    if (first === undefined) return null;
    const [key, params] = first;
    const { [key]: _, ...rest } = questions;
    return this.#item({ params, call: shownCall(call), state: { key, rest, answers: {}, requestState } });
  }

  /** Null if the question cannot be shown. */
  #item(question: UserQuestion): ApprovalRequest | null {
    const { label, secrets, scope } = this.#parts;
    const { params, state } = question;
    if (state !== null && secrets.isIn(JSON.stringify(state))) return null; // Redacted, it would be of no use.
    const shownParams = secrets.redactJson(params);
    const text = writeUserQuestion({ ...question, params: isRecord(shownParams) ? shownParams : {} });
    if (text.length > QUESTION_CHARACTERS_MAX) return null;
    const id = scope.newItemId("mcpr");
    return { id, type: "mcp_approval_request", arguments: text, name: ELICITATION, server_label: label };
  }

  async #decline(
    call: AskingCall,
    outcome: Exclude<Outcome, { type: "result" }>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { link } = this.#parts;
    if (outcome.type === "again") {
      const { questions, requestState } = outcome.input;
      const answers = Object.fromEntries(Object.keys(questions).map((name) => [name, DECLINED]));
      return outcomeOf(await link.beginCall(call, retryParams(answers, requestState), signal));
    }
    const { step, call: open, connection } = outcome;
    step.answer(DECLINED);
    return outcomeOf({ type: "open", call: open, step: await link.stepOf(open, signal), connection });
  }
}

function shownCall({ name, text }: AskingCall): UserQuestion["call"] {
  return { name, arguments: text };
}

function retryParams(inputResponses: Readonly<Record<string, ElicitResult>>, requestState: string | null) {
  return { inputResponses, ...(requestState === null ? {} : { requestState }) };
}

function outcomeOf(start: BegunCall): Outcome {
  if (start.type === "over") {
    const { result } = start;
    return isInputWanted(result) ? { type: "again", input: wantedInput(result) } : { type: "result", result };
  }
  const { call, step, connection } = start;
  return step.type === "result" ? step : { type: "waits", call, connection, step };
}

function isInputWanted(result: CallToolResult | InputRequiredResult): result is InputRequiredResult {
  return result["resultType"] === "input_required";
}

/** Throws `McpFault` if the server wants something other than an answer of the user. */
function wantedInput({ inputRequests = {}, requestState }: InputRequiredResult): WantedInput {
  const questions = Object.entries(inputRequests).map(([name, request]): [string, QuestionParams] => {
    if (isRecord(request) && request["method"] === ELICITATION && isRecord(request["params"]))
      return [name, request["params"]];
    throw new McpFault(
      new ProtocolError(ProtocolErrorCode.InvalidRequest, "The server wants something that nobody offered it"),
      { status: null, isForgotten: false, delivery: "refused" },
    );
  });
  return { questions: Object.fromEntries(questions), requestState: requestState ?? null };
}

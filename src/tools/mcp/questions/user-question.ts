import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ElicitResult } from "@modelcontextprotocol/client";

type Members = Readonly<Record<string, unknown>>;

/** A question of a server to the user, as in the parameters of `elicitation/create`. Outside text. */
export type QuestionParams = Members;

/** A question, with the call that waits for its answer. */
export interface UserQuestion {
  readonly params: QuestionParams;
  /** `arguments`: JSON text, as the model wrote it. */
  readonly call: { readonly name: string; readonly arguments: string };
  /** Null if the call itself waits in this process. */
  readonly state: CallState | null;
}

/** What a server of the newer protocol wants to have back with the answers, when the call is made again. */
export interface CallState {
  /** The server's name for the question. */
  readonly key: string;
  /** The questions that follow, by their names. */
  readonly rest: Readonly<Record<string, QuestionParams>>;
  /** The answers so far, by the names of their questions. */
  readonly answers: Readonly<Record<string, ElicitResult>>;
  readonly requestState: string | null;
}

/** What is shown of a question. */
const SHOWN_MEMBERS = ["message", "mode", "requestedSchema", "url"];

/** The question as the arguments of an approval request. */
export function writeUserQuestion({ params, call, state }: UserQuestion): string {
  const members = SHOWN_MEMBERS.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]]));
  return JSON.stringify({ ...Object.fromEntries(members), call, ...(state === null ? {} : { state }) });
}

/** Reads the arguments of an approval request; null if they are no question. A client may have written them. */
export function readUserQuestion(text: string): UserQuestion | null {
  const members = jsonOrUndefined(text);
  if (!isRecord(members) || !isRecord(members["call"])) return null;
  const { call, state, ...params } = members;
  if (!isRecord(call) || typeof call["name"] !== "string" || typeof call["arguments"] !== "string") return null;
  const callState = state === undefined ? null : readState(state);
  if (callState === undefined) return null;
  return { params, call: { name: call["name"], arguments: call["arguments"] }, state: callState };
}

function readState(state: unknown): CallState | undefined {
  if (!isRecord(state)) return undefined;
  const { key, rest, answers, requestState } = state;
  if (typeof key !== "string" || !isRecord(rest) || !isRecord(answers)) return undefined;
  if (requestState !== null && typeof requestState !== "string") return undefined;
  const questions = Object.entries(rest).flatMap(([name, params]) =>
    isRecord(params) ? [[name, params] as const] : [],
  );
  const results = Object.entries(answers).flatMap(([name, answer]) => {
    const result = readElicitResult(answer);
    return result === null ? [] : [[name, result] as const];
  });
  return { key, rest: Object.fromEntries(questions), answers: Object.fromEntries(results), requestState };
}

function readElicitResult(answer: unknown): ElicitResult | null {
  if (!isRecord(answer)) return null;
  const { action, content } = answer;
  if (action === "decline") return { action };
  if (action !== "accept") return null;
  return isRecord(content) ? { action, content: flatContent(content) } : { action };
}

/** The members of a content that the protocol allows. */
export function flatContent(content: Members): NonNullable<ElicitResult["content"]> {
  const members = Object.entries(content).flatMap(([name, value]) => (isFlat(value) ? [[name, value] as const] : []));
  return Object.fromEntries(members);
}

function isFlat(value: unknown): value is string | number | boolean | string[] {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

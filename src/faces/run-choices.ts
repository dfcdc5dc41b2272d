import type { CreateResponseRequest, Response, ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelExtras } from "@antiphon/domain/models/model-request.ts";
import type { Caller } from "../responses-api/access/caller.ts";
import {
  type AnsweredResponse,
  type BegunResponse,
  beginResponse,
  type CreateContext,
} from "../responses-api/create/begin-response.ts";
import { answerCaller } from "../responses-api/create/lasting-response.ts";
import { emulatedHeader } from "../responses-api/show/reply-headers.ts";
import { responseFailure } from "./response-failure.ts";

type Requests = readonly CreateResponseRequest[];

/** Responses that were made side by side. The first one names them all. */
export interface AnsweredChoices {
  readonly first: AnsweredResponse;
  readonly responses: [Response, ...Response[]];
}

/** Makes a response for each request, side by side. Throws the `ApiError` of one that failed. */
export async function answerChoices(
  context: CreateContext,
  requests: Requests,
  caller: Caller,
): Promise<AnsweredChoices> {
  const [first, ...others] = await Promise.all(
    requests.map((request, choice) => answerCaller(context, request, caller, choice)),
  );
  if (first === undefined) throw new TypeError("there is a request");
  const responses: [Response, ...Response[]] = [first.response, ...others.map(({ response }) => response)];
  const failed = responses.find(({ status }) => status === "failed" || status === "cancelled");
  if (failed !== undefined) throw responseFailure(failed);
  return { first, responses };
}

/** Begins a response for each request, side by side. */
export async function beginChoices(
  context: CreateContext,
  requests: Requests,
  caller: Caller,
): Promise<readonly [BegunResponse, ...BegunResponse[]]> {
  const [first, ...others] = await Promise.all(requests.map((request) => beginResponse(context, request, caller)));
  if (first === undefined) throw new TypeError("there is a request");
  return [first, ...others];
}

interface RunFacts {
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: readonly ResponseNote[];
}

/** The headers of a reply that shows this response. */
export function faceHeaders(
  responseId: string,
  { headers, notes }: RunFacts,
  { extras = null }: Pick<Caller, "extras">,
): Readonly<Record<string, string>> {
  return {
    ...headers,
    ...emulatedHeader(notes),
    ...passedOnHeader(extras, notes),
    "x-antiphon-response-id": responseId,
  };
}

/** Names the members that are sent on to the model server as they are, but for those that it does not take. */
function passedOnHeader(extras: ModelExtras | null, notes: readonly ResponseNote[]): Readonly<Record<string, string>> {
  const omitted = new Set(notes.map(({ what }) => what));
  const passedOn = Object.keys({ ...extras?.unknown, ...extras?.standard }).filter((name) => !omitted.has(name));
  return passedOn.length === 0 ? {} : { "x-antiphon-passed-on": passedOn.join(", ") };
}

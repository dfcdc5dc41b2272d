/**
 * A contract test run by the compiler: `specs/sdk-ledger.yaml` lists each member and variant that the official SDK's
 * types have beyond the contract, and nothing else.
 */

import type { sdkLedger } from "@antiphon/contracts/responses-api/sdk-ledger.ts";
import type {
  CompactRequest,
  CreateResponseRequest,
  InputTokensRequest,
  Response,
  ResponseCancelFrame,
  ResponseCreateFrame,
  ResponseSteerAcceptedEvent,
  ResponseSteerFailedEvent,
  ResponseSteerFrame,
  ResponseSteerPendingEvent,
  ResponseStreamEvent,
  WebSocketErrorFrame,
} from "@antiphon/contracts/responses-api/types.ts";
import type OpenAI from "openai";
import type { InputTokenCountParams as BetaInputTokenCountParams } from "openai/resources/beta/responses/input-tokens";
import type * as Beta from "openai/resources/beta/responses/responses";
import type { InputTokenCountParams } from "openai/resources/responses/input-tokens";
import type { AllHold, Same } from "./same-types.ts";

type Scalar = string | number | boolean | null | undefined;
type Objects<T> = Exclude<T, Scalar | readonly unknown[]>;
type Elements<T> = T extends readonly (infer Element)[] ? Element : never;
type Keys<T> = T extends unknown ? keyof T & string : never;
type At<T, Key> = T extends unknown ? (Key extends keyof T ? T[Key] : never) : never;
type Tag<T> = T extends { readonly type: infer Type extends string } ? Type : "untagged";

/** The variants of `Ours` that share a tag with `Theirs`. All of them if it has no tag. */
type Matching<Theirs, Ours> = Theirs extends { readonly type: infer Type extends string }
  ? Ours extends { readonly type?: infer Mine }
    ? [Type & Mine] extends [never]
      ? never
      : Ours
    : never
  : Ours;

/**
 * The paths below `Path` that `Theirs` has and `Ours` lacks. `Depth` counts the steps, of which there are at most 7.
 */
type Missing<Theirs, Ours, Path extends string, Depth extends 0[] = []> = Depth["length"] extends 7
  ? never
  : unknown extends Ours
    ? never
    :
        | EachMissing<Objects<Theirs>, Objects<Ours>, Path, Depth>
        | ([Elements<Theirs>] extends [never]
            ? never
            : Missing<Elements<Theirs>, Elements<Ours>, `${Path}[]`, [...Depth, 0]>);

type EachMissing<Theirs, Ours, Path extends string, Depth extends 0[]> = Theirs extends object
  ? string extends keyof Theirs
    ? never
    : MissingIn<Theirs, Matching<Theirs, Ours>, Path, Depth>
  : never;

type MissingIn<Theirs, Ours, Path extends string, Depth extends 0[]> = [Ours] extends [never]
  ? `${Path} ${Tag<Theirs>}`
  : {
      [Key in keyof Theirs & string]-?: Key extends Keys<Ours>
        ? Missing<Exclude<Theirs[Key], undefined>, At<Ours, Key>, `${Path}.${Key}`, [...Depth, 0]>
        : `${Path}.${Key}`;
    }[keyof Theirs & string];

type Requests<Create, Frame extends { readonly type: string }, Count, Compact> =
  | Missing<Create, CreateResponseRequest, "request">
  | Missing<Extract<Frame, { type: "response.create" }>, ResponseCreateFrame, "request">
  | Missing<
      Exclude<Frame, { type: "response.create" }>,
      ResponseCreateFrame | ResponseCancelFrame | ResponseSteerFrame,
      "frame"
    >
  | Missing<Count, InputTokensRequest, "request">
  | Missing<Compact, CompactRequest, "request">;

type SteeringEvent = ResponseSteerAcceptedEvent | ResponseSteerFailedEvent | ResponseSteerPendingEvent;

/** What the SDK adds to a response itself, and what it reads in a prompt template, which is not supported. */
type OfTheSdk = "output_text" | "instructions";

type Replies<Sent, Event> =
  | Missing<Omit<Sent, OfTheSdk>, Response, "response">
  | Missing<
      Exclude<Event, { response: unknown } | { item: unknown }>,
      ResponseStreamEvent | WebSocketErrorFrame | SteeringEvent,
      "event"
    >;

type InSdk =
  | Requests<
      OpenAI.Responses.ResponseCreateParamsNonStreaming,
      OpenAI.Responses.ResponsesClientEvent,
      InputTokenCountParams,
      OpenAI.Responses.ResponseCompactParams
    >
  | Replies<OpenAI.Responses.Response, OpenAI.Responses.ResponsesServerEvent>;

type InBeta =
  | Requests<
      Beta.ResponseCreateParamsNonStreaming,
      Beta.BetaResponsesClientEvent,
      BetaInputTokenCountParams,
      Beta.ResponseCompactParams
    >
  | Replies<Beta.BetaResponse, Beta.BetaResponsesServerEvent>;

/** The paths that the ledger settles for one resource of the SDK. */
type Settled<Source> = {
  [Path in keyof Ledger]: Ledger[Path]["source"] extends Source ? Path : never;
}[keyof Ledger];
type Ledger = typeof sdkLedger;

export type AllSettled = AllHold<
  [Same<InSdk, Settled<"responses">>, Same<Exclude<InBeta, InSdk>, Settled<"beta.responses">>]
>;

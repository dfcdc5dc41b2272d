/**
 * A contract test run by the compiler. Whatever we send must be assignable to what the official SDK reads, and whatever
 * the SDK sends to what we accept: the request, the Response, every item, tool and event. It stops compiling when
 * either side changes. Known misfits are listed by name with their reasons; a name that fits must leave its list.
 */

import type {
  CompoundFilter,
  CreateEmbeddingsRequest,
  CreateResponseRequest,
  InputItem,
  Model,
  OutputItem,
  Response,
  ResponseStreamEvent,
  StoredItem,
  Tool,
  ToolChoice,
  ToolChoiceInput,
  ToolInput,
  Usage,
} from "@antiphon/contracts/responses-api/types.ts";
import type OpenAI from "openai";
import type { AllHold, Same } from "./same-types.ts";

type Sdk = OpenAI.Responses.Response;
type Tagged = { readonly type?: string | null };

/** The tags of the variants of `From` that are not assignable to `To`. */
type Unfit<From extends Tagged, To> = From extends To ? never : From["type"];

type Assignable<From, To> = From extends To ? true : { from: From; to: To };

/**
 * Items in which a member is sometimes absent although the SDK's types always have it, or the other way round. This
 * concerns items as they are first announced.
 */
type UnfitOutputItems =
  | "image_generation_call" // `result` is absent in output_item.added, as recorded.
  | "computer_call" // `pending_safety_checks` is absent for the GA tool.
  | "additional_tools" // holds tools, see UnfitTools
  | "tool_search_output"
  | "web_search_call"; // sources of type api, which the reference sends, are in no published schema

type UnfitStoredItems =
  | UnfitOutputItems
  | "message" // one schema for all roles, which the SDK splits in two
  | "agent_message" // items of the multi-agent beta are not in the SDK's list type
  | "multi_agent_call"
  | "multi_agent_call_output";

type UnfitTools = "mcp"; // `server_url` and `server_description` are echoed as null.

type UnfitEvents =
  | "error" // nested on the real wire, flat in the published schema
  | "keepalive"
  | "response.apply_patch_call_operation_diff.delta" // real, in no published schema
  | "response.apply_patch_call_operation_diff.done"
  | "response.output_item.added" // hold items, see UnfitOutputItems
  | "response.output_item.done"
  | SnapshotEvents;

/** These hold a Response, which holds items and tools. Checked below without those two. */
type SnapshotEvents =
  | "response.created"
  | "response.queued"
  | "response.in_progress"
  | "response.completed"
  | "response.incomplete"
  | "response.failed";

/** Members of the Response that do not fit. */
type UnfitMembers =
  | "error" // codes that are recorded, and missing from the published list
  | "text" // a missing `description` of a JSON schema is echoed as null
  | "output" // holds items, see UnfitOutputItems
  | "tools" // see UnfitTools
  | "tool_choice" // the web_search names are missing from the published list
  | "output_text" // added by the SDK
  | "usage" // null until the end, as recorded
  | "user"; // null where the request had none, as recorded

/** The members of `To` to which the same member of `From` is not assignable. */
type UnfitKeys<From, To> = {
  [K in keyof To]-?: K extends keyof From ? (From[K] extends To[K] ? never : K) : undefined extends To[K] ? never : K;
}[keyof To];

/**
 * The SDK leaves the parts of a compound filter open, and says in words that they are filters. Ours have that type.
 */
type WithFilters<T> = T extends string
  ? T
  : T extends OpenAI.CompoundFilter
    ? CompoundFilter
    : T extends object
      ? { [K in keyof T]: WithFilters<T[K]> }
      : T;

type Envelope<R> = Omit<R, "output" | "tools" | "output_text" | "tool_choice">;

export type WhatWeSend = AllHold<
  [
    Same<UnfitKeys<Response, Sdk>, UnfitMembers>,
    Same<Unfit<OutputItem, OpenAI.Responses.ResponseOutputItem>, UnfitOutputItems>,
    Same<Unfit<Tool, OpenAI.Responses.Tool>, UnfitTools>,
    Same<Unfit<ResponseStreamEvent, OpenAI.Responses.ResponseStreamEvent>, UnfitEvents>,
    Assignable<Usage, OpenAI.Responses.ResponseUsage>,
    Assignable<Model, OpenAI.Models.Model>,
    Assignable<Extract<ToolChoice, string>, OpenAI.Responses.ToolChoiceOptions>,
    Same<Unfit<StoredItem, OpenAI.Responses.ResponseItem>, UnfitStoredItems>,
  ]
>;

export type WhatWeAccept = AllHold<
  [
    Assignable<
      WithFilters<Envelope<OpenAI.Responses.ResponseCreateParamsNonStreaming>>,
      Envelope<CreateResponseRequest>
    >,
    Assignable<WithFilters<Envelope<OpenAI.Responses.ResponseCreateParamsStreaming>>, Envelope<CreateResponseRequest>>,
    Same<Unfit<WithFilters<OpenAI.Responses.ResponseInputItem>, InputItem>, never>,
    Same<Unfit<WithFilters<OpenAI.Responses.Tool>, ToolInput>, never>,
    Assignable<NonNullable<OpenAI.Responses.ResponseCreateParams["tool_choice"]>, ToolChoiceInput>,
    Assignable<OpenAI.EmbeddingCreateParams, CreateEmbeddingsRequest>,
    Same<Unfit<OutputItem, InputItem>, never>,
  ]
>;

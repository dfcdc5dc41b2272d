import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { BackendProfile } from "../profile.ts";
import { USUAL_TIERS } from "./map-request.ts";
import type { RequiredCall } from "./required-calls.ts";
import type { SchemaForm } from "./schema-forms.ts";

type NotedRequest = Pick<
  ModelRequest,
  "extras" | "items" | "promptCacheKey" | "serviceTier" | "text" | "toolChoice" | "tools"
>;

/** Facts from earlier turns of the model. */
interface LearnedForms {
  readonly schemaForm: SchemaForm;
  readonly requiredCall: RequiredCall;
}

function isRequired(choice: ModelRequest["toolChoice"]): boolean {
  return choice === "required" || (typeof choice === "object" && "mode" in choice && choice.mode === "required");
}

/** Notes on members of a turn that are not sent, because this family of model servers does not know them. */
export function notesOnRequest(
  { extras, items, promptCacheKey, serviceTier, text, toolChoice, tools }: NotedRequest,
  { acceptsReasoning, knowsVendorFields }: BackendProfile,
  { schemaForm, requiredCall }: LearnedForms,
): readonly ResponseNote[] {
  const hasSchema = text.format?.type === "json_schema";
  const hasTier = serviceTier !== null && !USUAL_TIERS.has(serviceTier);
  const hasReasoning = !acceptsReasoning && items.some(({ type }) => type === "reasoning");
  return [
    ...(promptCacheKey === null || knowsVendorFields ? [] : [CACHE_KEY]),
    ...(hasTier && !knowsVendorFields ? [TIER] : []),
    ...(hasReasoning ? [REASONING] : []),
    ...(isRequired(toolChoice) && requiredCall === "cannot" ? [NO_CALL] : []),
    ...(isRequired(toolChoice) && requiredCall === "ignores" && tools.length > 1 ? [NAMED_CALL] : []),
    ...(hasSchema && schemaForm !== "json_schema" ? [SCHEMA] : []),
    ...(knowsVendorFields ? Object.keys(extras?.unknown ?? {}).map(unknownMember) : []),
  ];
}

const CACHE_KEY: ResponseNote = {
  kind: "omitted",
  what: "prompt_cache_key",
  why: "The model server is not sent it: servers of its kind cache by the beginning of a prompt, without a key.",
};
const TIER: ResponseNote = {
  kind: "omitted",
  what: "service_tier",
  why: "The model server is not sent it: servers of its kind have one tier.",
};
const REASONING: ResponseNote = {
  kind: "omitted",
  what: "input",
  why: "The model server is not sent earlier reasoning: it takes none.",
};
const SCHEMA: ResponseNote = {
  kind: "emulated",
  what: "text.format",
  why: "The model server does not know this format, so the model is told the schema in words.",
};
const NAMED_CALL: ResponseNote = {
  kind: "emulated",
  what: "tool_choice",
  why: "The model server ignores required, so the model is first asked which tool it calls, and that one is then chosen.",
};
const NO_CALL: ResponseNote = {
  kind: "omitted",
  what: "tool_choice",
  why: "The model server ignores required, and does not let the model be made to call a tool in another way.",
};

function unknownMember(name: string): ResponseNote {
  return {
    kind: "omitted",
    what: name,
    why: "The model server is not sent it: it refuses members that it does not know.",
  };
}

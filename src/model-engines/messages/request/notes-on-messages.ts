import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { thinkingBlock } from "../sealed-thinking.ts";
import { TEMPERATURE_MAX } from "./map-request.ts";
import { answerTokensMax, type RequestForms } from "./request-forms.ts";
import { forcesCall, thinkingOf } from "./thinking.ts";

const USUAL_TIERS: ReadonlySet<string | null> = new Set([null, "auto", "default"]);
const USUAL_VERBOSITIES: ReadonlySet<string | null | undefined> = new Set([null, undefined, "medium"]);
/** Extras that are sent in another way. */
const SENT_EXTRAS: ReadonlySet<string> = new Set(["stop", "top_k"]);

const NO_PLACE = "The model server is not sent it: its API has no such member.";

/** Notes on members of a turn that this API does not have, or has in another form. */
export function notesOnMessages(request: ModelRequest, forms: RequestForms): readonly ResponseNote[] {
  return [
    ...absentNotes(request),
    ...samplingNotes(request, forms),
    ...reasoningNotes(request, forms),
    ...formatNotes(request, forms),
  ];
}

function omitted(what: string, why: string = NO_PLACE): ResponseNote {
  return { kind: "omitted", what, why };
}

function emulated(what: string, why: string): ResponseNote {
  return { kind: "emulated", what, why };
}

function absentNotes(request: ModelRequest): readonly ResponseNote[] {
  const { presencePenalty, frequencyPenalty, topLogprobs, promptCacheKey, serviceTier, text, extras } = request;
  const others = [...Object.keys(extras?.standard ?? {}), ...Object.keys(extras?.unknown ?? {})];
  return [
    ...(presencePenalty === null || presencePenalty === 0 ? [] : [omitted("presence_penalty")]),
    ...(frequencyPenalty === null || frequencyPenalty === 0 ? [] : [omitted("frequency_penalty")]),
    ...(topLogprobs === null ? [] : [omitted("top_logprobs")]),
    ...(promptCacheKey === null ? [] : [omitted("prompt_cache_key", CACHE_KEY)]),
    ...(USUAL_TIERS.has(serviceTier) ? [] : [omitted("service_tier")]),
    ...(USUAL_VERBOSITIES.has(text.verbosity) ? [] : [omitted("text.verbosity")]),
    ...others.filter((name) => !SENT_EXTRAS.has(name)).map((name) => omitted(name)),
  ];
}

const CACHE_KEY =
  "The model server is not sent it: it caches by the beginning of a prompt, at marks that are set there.";

function samplingNotes(request: ModelRequest, forms: RequestForms): readonly ResponseNote[] {
  const { temperature, topP, extras } = request;
  const hasTopK = typeof extras?.unknown["top_k"] === "number";
  const thinking = thinkingOf(request, forms, answerTokensMax(request, forms));
  const isThinking = thinking !== undefined && thinking.type !== "disabled";
  if (isThinking || !forms.sampling) {
    const why = isThinking ? THINKS : "The model server is not sent it: this model takes none.";
    return [
      ...(temperature === null ? [] : [omitted("temperature", why)]),
      ...(topP === null ? [] : [omitted("top_p", why)]),
      ...(hasTopK ? [omitted("top_k", why)] : []),
    ];
  }
  return [
    ...(temperature !== null && temperature > TEMPERATURE_MAX ? [emulated("temperature", HOT)] : []),
    ...(temperature !== null && topP !== null ? [omitted("top_p", ONE_OF_BOTH)] : []),
  ];
}

const THINKS = "The model server is not sent it: a model that thinks takes none.";
const HOT = "The model server's highest temperature is 1, and is used.";
const ONE_OF_BOTH = "The model server is not sent it: it takes temperature or top_p, not both.";

function reasoningNotes(request: ModelRequest, forms: RequestForms): readonly ResponseNote[] {
  const { effort, summary } = request.reasoning;
  const wants = (effort !== null && effort !== "none") || summary !== null;
  const isKept = request.items.every((item) => item.type !== "reasoning" || thinkingBlock(item) !== null);
  return [
    ...(isKept ? [] : [omitted("input", UNSIGNED)]),
    ...(effort === "minimal" && forms.effort ? [emulated("reasoning.effort", LOW)] : []),
    ...(wants && forcesCall(request) ? [omitted("reasoning", FORCED)] : []),
    ...(wants && !forcesCall(request) && forms.thinking === "off" ? [omitted("reasoning", NO_THINKING)] : []),
  ];
}

const UNSIGNED = "The model server is not sent earlier reasoning of another kind of server: it takes only its own.";
const LOW = "The model server's lowest effort is low, and is used.";
const FORCED = "The model does not think before a call that it is made to make.";
const NO_THINKING = "The model server does not let this model be made to think.";

function formatNotes(
  { text: { format }, tools }: Pick<ModelRequest, "text" | "tools">,
  forms: RequestForms,
): readonly ResponseNote[] {
  const isInWords = format?.type === "json_object" || (format?.type === "json_schema" && forms.schema === "words");
  const isStrict = tools.some((tool) => "strict" in tool && tool.strict === true);
  return [
    ...(isInWords ? [emulated("text.format", WORDS)] : []),
    ...(isStrict && !forms.strict ? [omitted("tools", LOOSE)] : []),
  ];
}

const WORDS = "The model server does not know this format, so the model is told of it in words.";
const LOOSE = "The model server is not told that tools are strict: it does not know that, or not these schemas.";

import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { LRUCache } from "lru-cache";
import { InputTooLong } from "../../model-server/errors/model-errors.ts";
import type { MessagesRequest } from "./messages-wire.ts";

/** How a model is asked. Models of this API differ in what they know; unknown members are refused. */
export interface RequestForms {
  /** How thinking is asked for: as much as the model sees fit, up to a number of tokens, or not at all. */
  readonly thinking: "adaptive" | "budget" | "off";
  readonly effort: boolean;
  /** How JSON of a schema is asked for: by `output_config.format`, or by an instruction. */
  readonly schema: "format" | "words";
  /** Whether strict tools are. */
  readonly strict: boolean;
  /** Whether temperature, top_p and top_k are sent. */
  readonly sampling: boolean;
  /** Whether marks for the cache are set. */
  readonly cacheMarks: boolean;
  /** Tokens of an answer if the client sets no limit. */
  readonly maxTokens: number;
  /** Of one request: the tokens of an answer for which its input leaves room; null if that is not known. */
  readonly roomTokens: number | null;
  /** Of one request: whether thinking of earlier turns is sent back, which another server may have signed. */
  readonly keepsThinking: boolean;
  /** Of one request: whether it may ask for thinking. Some histories, which other models wrote, do not allow that. */
  readonly mayThink: boolean;
}

/** Tokens of an answer without a limit of the client: this API needs one. Models that cannot write so much say so. */
const MAX_TOKENS_DEFAULT = 32_000;
/** Room for an answer behind a long input, below which the input counts as too long. */
const ANSWER_TOKENS_MIN = 1_024;

const FIRST_FORMS: RequestForms = {
  thinking: "adaptive",
  effort: true,
  schema: "format",
  strict: true,
  sampling: true,
  cacheMarks: true,
  maxTokens: MAX_TOKENS_DEFAULT,
  roomTokens: null,
  keepsThinking: true,
  mayThink: true,
};

const NEXT_THINKING = { adaptive: "budget", budget: "off", off: "off" } as const;

const MODELS_MAX = 100;
/** A server may be upgraded. */
const FRESH_MS = 60 * 60_000;

/** Remembers for each model how to ask it. */
export class ModelForms {
  readonly #byModel = new LRUCache<string, RequestForms>({ max: MODELS_MAX, ttl: FRESH_MS });

  of(model: string): RequestForms {
    return this.#byModel.get(model) ?? FIRST_FORMS;
  }

  /** The model was asked in these forms, and accepted. What is of one request is not remembered. */
  remember(model: string, forms: RequestForms): void {
    const { thinking, effort, schema, strict, sampling, cacheMarks, maxTokens } = forms;
    const learned = { thinking, effort, schema, strict, sampling, cacheMarks, maxTokens };
    if (forms !== FIRST_FORMS) this.#byModel.set(model, { ...FIRST_FORMS, ...learned });
  }
}

/** The most tokens of the request's answer. */
export function answerTokensMax(
  { maxOutputTokens }: Pick<ModelRequest, "maxOutputTokens">,
  { maxTokens, roomTokens }: RequestForms,
): number {
  return maxOutputTokens ?? Math.min(maxTokens, roomTokens ?? maxTokens);
}

/** The forms to try after a refusal; null if it is about something else, or if there is no other form. */
export function nextForms(
  forms: RequestForms,
  refusal: unknown,
  body: MessagesRequest,
  isLimitChosen: boolean,
): RequestForms | null {
  if (!(refusal instanceof ModelError) || refusal.type !== "invalid_request_error") return null;
  const limits = isLimitChosen ? null : answerLimits(refusal, body.max_tokens);
  if (limits !== null) return { ...forms, ...limits };
  if (refusal instanceof InputTooLong) return null;
  const change = CHANGES.find(({ isAbout, isIn }) => isAbout.test(refusal.message) && isIn(body));
  return change === undefined ? null : { ...forms, ...change.next(forms) };
}

/** The tokens of an answer that the refusal allows; null if it is not about them. */
function answerLimits(
  refusal: ModelError,
  maxTokens: number,
): Pick<RequestForms, "maxTokens"> | Pick<RequestForms, "roomTokens"> | null {
  if (refusal instanceof InputTooLong) {
    const { tokenCount, window } = refusal;
    const roomTokens = tokenCount === null || window === null ? 0 : window - tokenCount;
    return roomTokens >= ANSWER_TOKENS_MIN && roomTokens < maxTokens ? { roomTokens } : null;
  }
  const limit = Number(/max_tokens: \d+ > (\d+)/.exec(refusal.message)?.[1]);
  return limit > 0 && limit < maxTokens ? { maxTokens: limit } : null;
}

interface FormChange {
  /** The text of a refusal that names its subject. */
  readonly isAbout: RegExp;
  /** Whether the request has what is refused. */
  readonly isIn: (body: MessagesRequest) => boolean;
  readonly next: (forms: RequestForms) => Partial<RequestForms>;
}

/** The first that fits a refusal is made. */
const CHANGES: readonly FormChange[] = [
  {
    isAbout: /expected [`'"]?thinking|must start with a thinking block/i,
    isIn: ({ thinking }) => thinking !== undefined && thinking.type !== "disabled",
    next: () => ({ mayThink: false }),
  },
  {
    isAbout: /signature|messages\.\d+\.content\.\d+.*thinking/is,
    isIn: hasThought,
    next: () => ({ keepsThinking: false }),
  },
  {
    isAbout: /thinking|budget_tokens/i,
    isIn: ({ thinking }) => thinking !== undefined,
    next: ({ thinking }) => ({ thinking: NEXT_THINKING[thinking] }),
  },
  { isAbout: /effort/i, isIn: (body) => body.output_config?.effort !== undefined, next: () => ({ effort: false }) },
  {
    isAbout: /strict|tools\.\d+/i,
    isIn: ({ tools = [] }) => tools.some(({ strict }) => strict === true),
    next: () => ({ strict: false }),
  },
  {
    isAbout: /output_config|output_format|schema|structured output/i,
    isIn: (body) => body.output_config?.format !== undefined,
    next: () => ({ schema: "words" }),
  },
  {
    isAbout: /temperature|top_p|top_k/i,
    isIn: (body) => [body.temperature, body.top_p, body.top_k].some((value) => value !== undefined),
    next: () => ({ sampling: false }),
  },
  { isAbout: /cache_control/i, isIn: () => true, next: () => ({ cacheMarks: false }) },
];

function hasThought({ messages }: MessagesRequest): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type.endsWith("thinking")));
}

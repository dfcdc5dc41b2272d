import type { CreateResponseRequest, Response } from "../../../packages/client/src/index.ts";
import { hasMember, isMembers, jsonOrUndefined, type Members, membersAt } from "../base/members.ts";
import { requestOf } from "../exports/request-of.ts";

/** A tool as it is edited. */
export interface DraftTool {
  readonly key: number;
  readonly json: string;
}

/** The settings of a request as they are edited. Texts are empty where nothing is asked for. */
export interface Draft {
  readonly model: string;
  /** Models that are asked the same, with commas between them. */
  readonly others: string;
  readonly instructions: string;
  readonly tools: readonly DraftTool[];
  readonly toolChoice: string;
  readonly format: "text" | "json_object" | "json_schema";
  readonly schema: string;
  readonly effort: string;
  readonly summary: string;
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly isStreamed: boolean;
  readonly isBackground: boolean;
  readonly isStored: boolean;
  readonly isSpoken: boolean;
  readonly voice: string;
  /** Further members of the request, as JSON. */
  readonly more: string;
}

export const EMPTY_DRAFT: Draft = {
  model: "",
  others: "",
  instructions: "",
  tools: [],
  toolChoice: "",
  format: "text",
  schema: JSON.stringify(
    {
      name: "answer",
      schema: {
        type: "object",
        properties: { answer: { type: "string" } },
        required: ["answer"],
        additionalProperties: false,
      },
    },
    null,
    2,
  ),
  effort: "",
  summary: "",
  temperature: "",
  maxOutputTokens: "",
  isStreamed: true,
  isBackground: false,
  isStored: true,
  isSpoken: false,
  voice: "",
  more: "",
};

/** More would not fit beside each other. */
const OTHERS_MAX = 3;

/** The other models of a draft, without doubles. */
export function otherModels({ others }: Draft, model: string): readonly string[] {
  const names = others.split(",").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "" && name !== model).slice(0, OTHERS_MAX);
}

/** What a draft asks for, and what of it is no JSON. */
export interface DraftRequest {
  readonly settings: Members;
  readonly troubles: readonly string[];
}

export function readDraft(draft: Draft): DraftRequest {
  const troubles: string[] = [];
  const parse = (json: string, what: string): Members => {
    const value = jsonOrUndefined(json);
    if (isMembers(value)) return value;
    troubles.push(`${what} is no JSON object.`);
    return {};
  };
  const tools = draft.tools.map(({ json }, index) => parse(json, `Tool ${index + 1}`));
  const format =
    draft.format === "json_schema"
      ? { type: "json_schema", ...parse(draft.schema, "The schema") }
      : { type: draft.format };
  const reasoning = {
    ...(draft.effort === "" ? {} : { effort: draft.effort }),
    ...(draft.summary === "" ? {} : { summary: draft.summary }),
  };
  const settings = {
    model: draft.model,
    ...(draft.instructions === "" ? {} : { instructions: draft.instructions }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(draft.toolChoice === "" ? {} : { tool_choice: jsonOrUndefined(draft.toolChoice) ?? draft.toolChoice }),
    ...(draft.format === "text" ? {} : { text: { format } }),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(draft.temperature === "" ? {} : { temperature: Number(draft.temperature) }),
    ...(draft.maxOutputTokens === "" ? {} : { max_output_tokens: Number(draft.maxOutputTokens) }),
    ...(draft.isBackground ? { background: true } : {}),
    ...(draft.isStored ? {} : { store: false }),
    ...(draft.isSpoken
      ? { output_audio: { format: "pcm16", ...(draft.voice === "" ? {} : { voice: draft.voice }) } }
      : {}),
  };
  const more = draft.more.trim() === "" ? {} : parse(draft.more, "Further members");
  return { settings: withMore(settings, more), troubles };
}

/** Members of `text` and `reasoning` stand beside those of the settings; all others take their place. */
function withMore(settings: Members, more: Members): Members {
  const shared = ["text", "reasoning"].flatMap((name): [string, Members][] => {
    const own = membersAt(settings, name);
    const given = membersAt(more, name);
    return hasMember(settings, name) && hasMember(more, name) ? [[name, { ...own, ...given }]] : [];
  });
  return { ...settings, ...more, ...Object.fromEntries(shared) };
}

/** A body that people wrote. The server checks it, and says what is wrong with it. */
export function asRequest(body: Members): CreateResponseRequest {
  const request: CreateResponseRequest = JSON.parse(JSON.stringify(body));
  return request;
}

/** The settings of a response, to change some and run it again. */
export function draftOf(response: Response): Draft {
  const {
    model,
    input: _input,
    previous_response_id: _previous,
    conversation: _conversation,
    instructions,
    tools,
    tool_choice: toolChoice,
    text,
    reasoning,
    temperature,
    max_output_tokens: maxOutputTokens,
    background,
    store,
    ...others
  } = requestOf(response, []);
  const { format, ...moreText } = isMembers(text) ? text : {};
  const { type: formatType, ...schema } = isMembers(format) ? format : {};
  const { effort, summary, ...moreReasoning } = isMembers(reasoning) ? reasoning : {};
  const more = {
    ...others,
    ...(Object.keys(moreText).length === 0 ? {} : { text: moreText }),
    ...(Object.keys(moreReasoning).length === 0 ? {} : { reasoning: moreReasoning }),
  };
  return {
    ...EMPTY_DRAFT,
    model: typeof model === "string" ? model : "",
    instructions: typeof instructions === "string" ? instructions : "",
    tools: (Array.isArray(tools) ? tools : []).map((tool: unknown, key) => ({
      key,
      json: JSON.stringify(tool, null, 2),
    })),
    toolChoice:
      toolChoice === undefined ? "" : typeof toolChoice === "string" ? toolChoice : JSON.stringify(toolChoice),
    format: formatType === "json_schema" || formatType === "json_object" ? formatType : "text",
    schema: formatType === "json_schema" ? JSON.stringify(schema, null, 2) : EMPTY_DRAFT.schema,
    effort: typeof effort === "string" ? effort : "",
    summary: typeof summary === "string" ? summary : "",
    temperature: typeof temperature === "number" ? String(temperature) : "",
    maxOutputTokens: typeof maxOutputTokens === "number" ? String(maxOutputTokens) : "",
    isBackground: background === true,
    isStored: store !== false,
    more: Object.keys(more).length === 0 ? "" : JSON.stringify(more, null, 2),
  };
}

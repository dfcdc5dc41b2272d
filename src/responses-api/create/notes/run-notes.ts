import { isRecord } from "@antiphon/base/json/records.ts";
import { type EngineKind, ledgerNote } from "@antiphon/base/ledger/ledger-note.ts";
import type { CreateResponseRequest, InputItem, ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelPolicy } from "@antiphon/domain/models/model-policy.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { EmulatedUse } from "../../checks/check-availability.ts";
import type { AcceptedTools, OfferedHostedTool } from "../../offered-tools/accept-tools.ts";
import type { RunTask } from "../../task/run-task.ts";

/** The maximum notes of one run. Notes on omitted parts come first. */
const NOTES_MAX = 32;

/** Whether these are emulated depends on the model's abilities; see `mediaNotes`. */
const MEDIA = /^content\.input_(audio|file)(\.|$)/;
/** Engines know whether their servers support these. */
const DECIDED_BY_ENGINE: ReadonlySet<string> = new Set(["prompt_cache_key", "service_tier"]);

/** The model server. */
export interface ServedModel {
  readonly engine: ModelEngine;
  /** Decides which request fields a model supports. Changes if another model server is found later. */
  readonly kindOf: (model: string) => EngineKind;
  /** What the operator says of a model; null for nothing. */
  readonly policyOf: (model: string) => ModelPolicy | null;
}

/** What is known of a run before its model is asked. */
export interface NotedRun extends Pick<RunTask, "speech" | "compaction"> {
  readonly request: CreateResponseRequest;
  readonly offer: Pick<AcceptedTools, "hostedTools" | "omittedTools" | "partialTools">;
  readonly emulatedUses: readonly EmulatedUse[];
  /** The first turn of the model. */
  readonly turn: ModelRequest;
  /** The number of context items left out because they do not fit the model's window. */
  readonly leftOut: number;
}

/** Deviations of a run from its request, and this server's substitutes for missing features of the model server. */
export function runNotes(
  { engine, kindOf }: ServedModel,
  { request, offer, emulatedUses, turn, leftOut, speech, compaction }: NotedRun,
): readonly ResponseNote[] {
  return [
    ...[...offer.omittedTools, ...offer.partialTools].map(
      ({ param, reason }): ResponseNote => ({ kind: "omitted", what: param, why: reason }),
    ),
    ...(leftOut === 0 ? [] : [tooLong(leftOut)]),
    ...engine.notesOn(turn),
    ...toolNotes(request, offer.hostedTools),
    ...mediaNotes(request, engine.abilitiesOf(turn.model)),
    ...(speech === null ? [] : [SPOKEN]),
    ...(compaction === null ? [] : [COMPACTED]),
    ...ledgerNotes(emulatedUses, kindOf(turn.model)),
  ].slice(0, NOTES_MAX);
}

const SPOKEN: ResponseNote = {
  kind: "emulated",
  what: "output_audio",
  why: "A voice of this server speaks the text of the model.",
};
const COMPACTED: ResponseNote = {
  kind: "emulated",
  what: "context_management",
  why: "This server asks the same model for a summary of the context.",
};

function tooLong(count: number): ResponseNote {
  const items = count === 1 ? "The oldest item of the context is" : `The ${count} oldest items of the context are`;
  return { kind: "omitted", what: "input", why: `${items} left out, so that it fits the model's window.` };
}

/** Tools that the model sees only as functions of this server. */
function toolNotes(
  { tools }: Pick<CreateResponseRequest, "tools">,
  hostedTools: readonly OfferedHostedTool[],
): readonly ResponseNote[] {
  if (hostedTools.length === 0) return [];
  const places = new Map((tools ?? []).map((tool, index) => [tool, index]));
  return hostedTools.map(({ kind, tool }) => ({
    kind: "emulated" as const,
    what: `tools[${places.get(tool) ?? 0}]`,
    why: isRunByClient(kind, tool)
      ? `The model is offered ${tool.type} as functions, and their calls are turned into calls of the tool.`
      : `This server runs ${tool.type}, and offers it to the model as functions.`,
  }));
}

function isRunByClient(kind: OfferedHostedTool["kind"], tool: OfferedHostedTool["tool"]): boolean {
  if (tool.type === "shell") return tool.environment?.type.startsWith("container") !== true;
  return kind === "computer" || kind === "local_shell" || kind === "apply_patch";
}

/** The field ledger's notes on emulated members. A member is not noted if its parent is. */
function ledgerNotes(uses: readonly EmulatedUse[], engine: EngineKind): readonly ResponseNote[] {
  const notedPaths = new Set<string>();
  return uses.flatMap(({ path, param, note }): readonly ResponseNote[] => {
    const isDecided = MEDIA.test(path) || (engine !== "built-in" && DECIDED_BY_ENGINE.has(path));
    const why = isDecided || notedPaths.has(path.slice(0, path.lastIndexOf("."))) ? null : ledgerNote(note, engine);
    if (why === null) return [];
    notedPaths.add(path);
    return [{ kind: "emulated", what: param, why: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.` }];
  });
}

/** What becomes of pictures, files and recordings of the request that the model cannot read as they are. */
function mediaNotes(
  { input }: Pick<CreateResponseRequest, "input">,
  abilities: ModelAbilities,
): readonly ResponseNote[] {
  const notes = new Map<string, ResponseNote>();
  for (const [index, item] of Array.isArray(input) ? input.entries() : [])
    for (const { part, param } of placedParts(item, `input[${index}]`)) {
      const why = whyChanged(part, abilities);
      if (why !== null && !notes.has(why)) notes.set(why, { kind: "emulated", what: param, why });
    }
  return [...notes.values()];
}

interface PlacedPart {
  readonly part: Readonly<Record<string, unknown>>;
  readonly param: string;
}

function* placedParts(item: InputItem, param: string): Generator<PlacedPart> {
  const members = new Map<string, unknown>(Object.entries(item));
  for (const member of ["content", "output"]) {
    const parts = members.get(member);
    for (const [index, part] of Array.isArray(parts) ? parts.entries() : [])
      if (isRecord(part)) yield { part, param: `${param}.${member}[${index}]` };
  }
}

/** Null if the model gets the part as it is. */
function whyChanged(part: PlacedPart["part"], { imageUrls, files, audioFormats }: ModelAbilities): string | null {
  switch (part["type"]) {
    case "input_image":
      return !imageUrls && /^https?:/i.test(String(part["image_url"]))
        ? "This server fetches the picture and sends it with the request, because the model server fetches none."
        : null;
    case "input_file":
      return files ? null : "The model is given the text of the file, because it reads no files.";
    case "input_audio": {
      const format = isRecord(part["input_audio"]) ? part["input_audio"]["format"] : null;
      const isTaken = audioFormats.some((candidate) => candidate === (format === "pcm" ? "wav" : format));
      return isTaken ? null : "The model is given a transcript of the recording, because it does not take such sound.";
    }
    default:
      return null;
  }
}

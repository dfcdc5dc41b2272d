import type { CreateResponseRequest, InputItem, ResponseNote } from "../../../../generated/responses-api/types.ts";
import { isRecord } from "../../../base/json/records.ts";
import type { ModelAbilities } from "../../../runs/ports/model-engine.ts";

/** How images, files and recordings of the request that the model cannot read are treated. */
export function mediaNotes(
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

/** Null if the model gets the part unchanged. */
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
      const isTaken = audioFormats.some((taken) => taken === (format === "pcm" ? "wav" : format));
      return isTaken ? null : "The model is given a transcript of the recording, because it does not take such sound.";
    }
    default:
      return null;
  }
}

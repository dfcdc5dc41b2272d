import type { CreateResponseRequest } from "../../../generated/responses-api/types.ts";
import { invalidValue, unsupportedParameter } from "../errors/parameter-errors.ts";
import type { Speech, SpokenOutput } from "../ports.ts";

/** How the answer to a request is spoken; null if it is not. Throws the `ApiError` where that cannot be done here. */
export async function settleSpeech(
  spokenOutput: SpokenOutput,
  { output_audio: asked }: CreateResponseRequest,
  signal: AbortSignal,
): Promise<Speech | null> {
  if (asked == null) return null;
  const settled = await spokenOutput.settle(asked, signal);
  switch (settled.type) {
    case "settled":
      return settled.speech;
    case "refused":
      throw unsupportedParameter(settled.param, settled.reason);
    case "unknown_voice":
      throw invalidValue("output_audio.voice", settled.voice, settled.voices);
  }
}

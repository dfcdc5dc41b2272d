import type { EngineModel } from "../engine-api.ts";
import type { PromptPart } from "./chat-turn.ts";

type Tokenizer = Pick<EngineModel, "tokenize" | "tokens">;

/** The tokens of a prompt: markers of the template as special tokens, words never. */
export function promptTokens(model: Tokenizer, parts: readonly PromptPart[]): readonly number[] {
  const tokens = joinedAlike(parts).flatMap(({ text, isTemplate }, place) =>
    place === 0 ? model.tokenize(text, isTemplate) : model.tokenize(text, isTemplate, "trimLeadingSpace"),
  );
  const { bos, shouldPrependBosToken } = model.tokens;
  return bos === null || !shouldPrependBosToken || tokens[0] === bos ? tokens : [bos, ...tokens];
}

/** Neighbours of one kind as one part, so that they are cut into tokens as one text. */
function joinedAlike(parts: readonly PromptPart[]): readonly PromptPart[] {
  const joined: PromptPart[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before?.isTemplate === part.isTemplate)
      joined[joined.length - 1] = { text: before.text + part.text, isTemplate: part.isTemplate };
    else joined.push(part);
  }
  return joined;
}

import type { SkillInput } from "./skill.ts";

const REQUEST =
  /^(?:please[\s,]+)?(?:(?:can|could|would|will) you (?:please )?)?(?:say|repeat|echo|(?:reply|respond|answer)(?: only| just| exactly)? with)[\s:,]+(.+)$/is;
/** Words before the text that are not part of it. */
const PREAMBLE =
  /^(?:(?:exactly|only|just|back|after me|this(?=\s*:)|the following(?: (?:words?|text|phrase|sentence|message))?|(?:the|one|a single) (?:words?|text|phrase|sentence|message|string))(?![\p{L}\p{N}])[\s:,]*)+/iu;
const QUOTED = /^(?:"([^"]+)"|“([^”]+)”|'([^']+)'|`([^`]+)`)/;

/** Answers "say X" and "reply with X" with X. If X begins with a quotation, only the quotation is repeated. */
export function repeatText({ text }: SkillInput): string | null {
  const request = REQUEST.exec(text)?.[1]?.trim();
  if (request === undefined || request === "") return null;
  const wanted = request.replace(PREAMBLE, "") || request;
  return (
    QUOTED.exec(wanted)
      ?.slice(1)
      .find((part) => part !== undefined) ?? wanted
  );
}

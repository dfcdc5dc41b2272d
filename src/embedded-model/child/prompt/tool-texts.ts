import { type ChatTurn, type PromptPart, type TurnFunction, templateText, words } from "./chat-turn.ts";

/** Around a call in a text: the form that most instructed models have seen. */
export const CALL_OPENING = "<tool_call>\n";
export const CALL_CLOSING = "\n</tool_call>";

const OUTPUT_OPENING = "<tool_response>\n";
const OUTPUT_CLOSING = "\n</tool_response>";

const CALL_FORM =
  'To call a function, answer with nothing but its name and arguments in this form:\n<tool_call>\n{"name": "NAME", "arguments": {…}}\n</tool_call>';

/** The beginning of a call, up to the name. */
export const NAME_OPENING = '{"name": "';
/** Between the closing quote of the name and the arguments. */
export const ARGUMENTS_OPENING = ', "arguments": ';

/** A call of an earlier turn, as the model wrote it. */
export function callParts(name: string, args: string): readonly PromptPart[] {
  const call = `${NAME_OPENING}${name}"${ARGUMENTS_OPENING}${args === "" ? "{}" : args}}`;
  return [templateText(CALL_OPENING), words(call), templateText(CALL_CLOSING)];
}

/** The output of a function, as a text of the user. */
export function toolOutputParts(text: string): readonly PromptPart[] {
  return [templateText(OUTPUT_OPENING), words(text), templateText(OUTPUT_CLOSING)];
}

/**
 * What is added to the system text: the functions, and the shape of the answer. It stays the same from turn to turn, so
 * that it is read once. Without it, a grammar gives the right shape with wrong contents.
 */
export function systemAdditions({
  functions,
  choice,
  format,
}: Pick<ChatTurn, "functions" | "choice" | "format">): string {
  const texts = [
    ...(functions.length === 0 || choice.type === "none" ? [] : [functionsText(functions)]),
    ...(format.type === "json_object" ? ["Answer with a JSON object and nothing else."] : []),
    ...(format.type === "json_schema"
      ? [`Answer with JSON of this schema and nothing else:\n${JSON.stringify(format.schema)}`]
      : []),
  ];
  return texts.join("\n\n");
}

function functionsText(functions: readonly TurnFunction[]): string {
  const lines = functions.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }));
  return `You can call these functions:\n${lines.join("\n")}\n\n${CALL_FORM}`;
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["input_tokens", "input"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["logprobs", "top_logprobs"],
]);

/**
 * The member of our request behind a path into the chat-completions request. Positions of messages are lost: items and
 * messages differ.
 */
export function requestPathOf(chatPath: string): string {
  const field = /^[A-Za-z_]+/.exec(chatPath)?.[0] ?? chatPath;
  if (field === "response_format") return chatPath.replace(/^response_format(?:\.json_schema)?/, "text.format");
  if (field === "tools") return chatPath.replace(".function.", ".");
  return FIELDS.get(field) ?? chatPath;
}

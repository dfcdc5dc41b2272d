import { type Inner, item, type Members, type SampleItem } from "./sample-events.fixture.ts";

const cite = (start: number): Members => ({
  type: "url_citation",
  start_index: start,
  end_index: start + 1,
  url: "https://example.com/",
  title: "A",
});
const text = (value: string, annotations: readonly Members[] = []): Members => ({
  type: "output_text",
  annotations,
  logprobs: [],
  text: value,
});

export function message(
  id: number,
  deltas: readonly string[],
  { annotated = false, status = "completed", phase = "final_answer" } = {},
): SampleItem {
  const at = { content_index: 0 };
  const annotations = annotated ? deltas.map((_, index) => cite(index)) : [];
  const inner = deltas.flatMap((delta, index): Inner[] => [
    ["output_text.delta", { ...at, delta, logprobs: [] }],
    ...annotations
      .slice(index, index + 1)
      .map((annotation): Inner => ["output_text.annotation.added", { ...at, annotation_index: index, annotation }]),
  ]);
  const whole = deltas.join("");
  return item(
    "message",
    { id, status: "in_progress", content: [], role: "assistant", phase },
    [
      ["content_part.added", { ...at, part: text("") }],
      ...inner,
      ["output_text.done", { ...at, text: whole, logprobs: [] }],
      ["content_part.done", { ...at, part: text(whole, annotations) }],
    ],
    { status, content: [text(whole, annotations)] },
  );
}

export function refusal(): SampleItem {
  const at = { content_index: 0 };
  return item(
    "message",
    { status: "in_progress", content: [], role: "assistant" },
    [
      ["content_part.added", { ...at, part: { type: "refusal", refusal: "" } }],
      ["refusal.delta", { ...at, delta: "I can" }],
      ["refusal.delta", { ...at, delta: "not." }],
      ["refusal.done", { ...at, refusal: "I cannot." }],
      ["content_part.done", { ...at, part: { type: "refusal", refusal: "I cannot." } }],
    ],
    { status: "completed", content: [{ type: "refusal", refusal: "I cannot." }] },
  );
}

export function reasoning(id: number, summary: readonly string[]): SampleItem {
  const part = (value: string): Members => ({ type: "summary_text", text: value });
  const inner = summary.flatMap((value, index): Inner[] => [
    ["reasoning_summary_part.added", { summary_index: index, part: part("") }],
    ["reasoning_summary_text.delta", { summary_index: index, delta: value.slice(0, 2) }],
    ["reasoning_summary_text.delta", { summary_index: index, delta: value.slice(2) }],
    ["reasoning_summary_text.done", { summary_index: index, text: value }],
    ["reasoning_summary_part.done", { summary_index: index, part: part(value) }],
  ]);
  return item("reasoning", { id, summary: [], encrypted_content: "a" }, inner, {
    summary: summary.map(part),
    encrypted_content: "b",
  });
}

export function openReasoning(): SampleItem {
  const at = { content_index: 0 };
  const part = { type: "reasoning_text", text: "Hmm" };
  return item(
    "reasoning",
    { summary: [] },
    [
      ["content_part.added", { ...at, part: { ...part, text: "" } }],
      ["reasoning_text.delta", { ...at, delta: "Hm" }],
      ["reasoning_text.delta", { ...at, delta: "m" }],
      ["reasoning_text.done", { ...at, text: "Hmm" }],
      ["content_part.done", { ...at, part }],
    ],
    { content: [part] },
  );
}

/** An item with a single text, sent in two deltas. */
export function textual(type: string, family: string, member: string, others: Members = {}): SampleItem {
  return item(
    type,
    { status: "in_progress", [member]: "", ...others },
    [
      [`${family}.delta`, { delta: "{" }],
      [`${family}.delta`, { delta: "}" }],
      [`${family}.done`, { [member]: "{}" }],
    ],
    { status: "completed", [member]: "{}" },
  );
}

export const functionCall = (id: number): SampleItem =>
  textual("function_call", "function_call_arguments", "arguments", { id, call_id: `call_${id}`, name: "f" });

/** An item of a tool that reports only its progress. */
export const steps = (type: string, names: readonly string[], done: Members = {}): SampleItem =>
  item(
    type,
    { status: "in_progress" },
    names.map((name): Inner => [`${type}.${name}`]),
    { status: "completed", ...done },
  );

export function codeInterpreter(): SampleItem {
  const type = "code_interpreter_call";
  const { added, inner, ...others } = textual(type, `${type}_code`, "code", { container_id: "cntr_1", outputs: null });
  return {
    ...others,
    added,
    inner: [[`${type}.in_progress`], ...inner, [`${type}.interpreting`], [`${type}.completed`]],
  };
}

export function mcpCall(end: "completed" | "failed"): SampleItem {
  const { added, inner, done, id } = textual("mcp_call", "mcp_call_arguments", "arguments", {
    server_label: "s",
    name: "f",
    output: null,
  });
  return {
    id,
    added,
    inner: [["mcp_call.in_progress"], ...inner, [`mcp_call.${end}`]],
    done: { ...done, status: end, output: "x" },
  };
}

export const mcpList = (): SampleItem =>
  item(
    "mcp_list_tools",
    { server_label: "s", tools: [] },
    [["mcp_list_tools.in_progress"], ["mcp_list_tools.completed"]],
    {
      tools: [{ name: "f" }],
    },
  );

export function image(): SampleItem {
  const type = "image_generation_call";
  const partial = (index: number): Inner => [
    `${type}.partial_image`,
    { partial_image_index: index, partial_image_b64: "AA==" },
  ];
  return item(
    type,
    { status: "in_progress" },
    [[`${type}.in_progress`], [`${type}.generating`], partial(0), partial(1), [`${type}.completed`]],
    { status: "completed", result: "AA==" },
  );
}

export function shell(): SampleItem {
  const commands = ["ls -l", "pwd"];
  const inner = commands.flatMap((command, index): Inner[] => [
    ["shell_call_command.added", { command_index: index, command: "" }],
    ["shell_call_command.delta", { command_index: index, delta: command.slice(0, 2) }],
    ["shell_call_command.delta", { command_index: index, delta: command.slice(2) }],
    ["shell_call_command.done", { command_index: index, command }],
  ]);
  const action = { max_output_length: null, timeout_ms: null };
  return item("shell_call", { status: "in_progress", call_id: "call_1", action: { ...action, commands: [] } }, inner, {
    status: "completed",
    action: { ...action, commands },
  });
}

export function shellOutput(): SampleItem {
  const output = [{ stdout: "ab", stderr: "", outcome: { type: "exit", exit_code: 0 } }];
  const at = { command_index: 0 };
  return item(
    "shell_call_output",
    { status: "completed", call_id: "call_1", output: [], max_output_length: null },
    [
      ["shell_call_output_content.delta", { ...at, delta: { stdout: "a" } }],
      ["shell_call_output_content.delta", { ...at, delta: { stdout: "b" } }],
      ["shell_call_output_content.done", { ...at, output }],
    ],
    { output },
  );
}

export function applyPatch(): SampleItem {
  const family = "apply_patch_call_operation_diff";
  const operation = { type: "update_file", path: "a.txt" };
  return item(
    "apply_patch_call",
    { status: "in_progress", call_id: "call_1", operation: { ...operation, diff: "" } },
    [
      [`${family}.delta`, { delta: "-a\n" }],
      [`${family}.delta`, { delta: "+b\n" }],
      [`${family}.done`, { diff: "-a\n+b\n" }],
    ],
    { status: "completed", operation: { ...operation, diff: "-a\n+b\n" } },
  );
}

/** An item that ended early, after this many of its events. Its texts were complete by then, or had not begun. */
export function cut(
  whole: SampleItem,
  status: "incomplete" | "failed",
  events: number = whole.inner.length,
): SampleItem {
  const inner = whole.inner.slice(0, events);
  const done = inner.some(([name]) => name.endsWith(".done")) ? whole.done : whole.added;
  return { ...whole, inner, done: { ...done, status } };
}

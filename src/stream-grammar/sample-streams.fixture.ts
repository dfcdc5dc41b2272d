export type SampleEvent = Readonly<Record<string, unknown>> & { readonly type: string };

type Members = Readonly<Record<string, unknown>>;
/** An event about the inside of an item, without `response.`, its id and its place. */
type Inner = readonly [name: string, members?: Members];

interface SampleItem {
  readonly id: string;
  readonly added: Members;
  readonly inner: readonly Inner[];
  readonly done: Members;
}

function item(type: string, added: Members, inner: readonly Inner[] = [], done: Members = {}): SampleItem {
  const id = `${type}_${String(added["id"] ?? 1)}`;
  const whole = { ...added, id, type };
  return { id, added: whole, inner, done: { ...whole, ...done } };
}

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

function message(
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

function refusal(): SampleItem {
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

function reasoning(id: number, summary: readonly string[]): SampleItem {
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

function openReasoning(): SampleItem {
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

/** An item whose one text is told in two deltas. */
function textual(type: string, family: string, member: string, others: Members = {}): SampleItem {
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

const functionCall = (id: number): SampleItem =>
  textual("function_call", "function_call_arguments", "arguments", { id, call_id: `call_${id}`, name: "f" });

/** A tool that only tells how far it is. */
const steps = (type: string, names: readonly string[], done: Members = {}): SampleItem =>
  item(
    type,
    { status: "in_progress" },
    names.map((name): Inner => [`${type}.${name}`]),
    { status: "completed", ...done },
  );

function codeInterpreter(): SampleItem {
  const type = "code_interpreter_call";
  const { added, inner, ...others } = textual(type, `${type}_code`, "code", { container_id: "cntr_1", outputs: null });
  return {
    ...others,
    added,
    inner: [[`${type}.in_progress`], ...inner, [`${type}.interpreting`], [`${type}.completed`]],
  };
}

function mcpCall(end: "completed" | "failed"): SampleItem {
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

const mcpList = (): SampleItem =>
  item(
    "mcp_list_tools",
    { server_label: "s", tools: [] },
    [["mcp_list_tools.in_progress"], ["mcp_list_tools.completed"]],
    {
      tools: [{ name: "f" }],
    },
  );

function image(): SampleItem {
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

function shell(): SampleItem {
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

function shellOutput(): SampleItem {
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

function applyPatch(): SampleItem {
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

interface Frame {
  readonly background?: boolean;
  readonly end?: "completed" | "incomplete" | "failed" | "cancelled";
  readonly sound?: boolean;
}

/** A whole stream, its events numbered. */
function stream(
  items: readonly SampleItem[],
  { background = false, end = "completed", sound = false }: Frame = {},
): SampleEvent[] {
  const response = (status: string, output: readonly Members[] = []): Members => ({
    response: {
      id: "resp_1",
      object: "response",
      status,
      output,
      usage: status === "completed" ? { total_tokens: 2 } : null,
    },
  });
  const begun: Inner[] = background
    ? [
        ["created", response("queued")],
        ["queued", response("queued")],
        ["in_progress", response("in_progress")],
      ]
    : [
        ["created", response("in_progress")],
        ["in_progress", response("in_progress")],
      ];
  const ended: Inner = [
    end === "cancelled" ? "failed" : end,
    response(
      end,
      items.map(({ done }) => done),
    ),
  ];
  const error = { type: "server_error", code: "server_error", message: "Broke.", param: null };
  return numbered([
    ...begun,
    ...items.flatMap(eventsOfItem),
    ...(sound ? SOUND : []),
    ...(end === "failed" ? [["error", { error }] as const] : []),
    ended,
  ]);
}

const SOUND: readonly Inner[] = [
  ["audio.delta", { delta: "AA==" }],
  ["audio.transcript.delta", { delta: "Hi" }],
  ["audio.done"],
  ["audio.transcript.done"],
];

function eventsOfItem({ id, added, inner, done }: SampleItem, index: number): Inner[] {
  const place = { output_index: index };
  return [
    ["output_item.added", { ...place, item: added }],
    ...inner.map(
      ([name, members]): Inner => [
        name,
        { ...place, ...(name.startsWith("shell_call_command.") ? {} : { item_id: id }), ...members },
      ],
    ),
    ["output_item.done", { ...place, item: done }],
  ];
}

function numbered(events: readonly Inner[]): SampleEvent[] {
  return events.map(([name, members], index) => ({
    type: name === "error" ? name : `response.${name}`,
    sequence_number: index,
    ...members,
  }));
}

/** A legal stream of each kind of output. */
export const SAMPLE_STREAMS: Readonly<Record<string, readonly SampleEvent[]>> = {
  "a text": stream([message(1, ["Hel", "lo"])]),
  "a text without a word": stream([message(1, [])]),
  "a text with citations": stream([message(1, ["one", "two"], { annotated: true })]),
  "commentary and answer": stream([message(1, ["a"], { phase: "commentary" }), message(2, ["b"])]),
  "reasoning with a summary": stream([reasoning(1, ["First", "Second"]), message(1, ["Done"])]),
  "reasoning without a summary": stream([reasoning(1, []), message(1, ["Done"])]),
  "open reasoning": stream([openReasoning(), message(1, ["Done"])]),
  "a function call": stream([functionCall(1)]),
  "parallel calls": stream([functionCall(1), functionCall(2)]),
  "a custom tool call": stream([
    textual("custom_tool_call", "custom_tool_call_input", "input", { call_id: "call_1", name: "c" }),
  ]),
  "a refusal": stream([refusal()]),
  "an incomplete text": stream([message(1, ["Hel", "lo"], { status: "incomplete" })], { end: "incomplete" }),
  "a failure": stream([], { end: "failed" }),
  "a failure in mid-text": stream([message(1, ["Hel"], { status: "incomplete" })], { end: "failed" }),
  "a cancelled response": stream([message(1, ["Hel"], { status: "incomplete" })], {
    background: true,
    end: "cancelled",
  }),
  "a response of the background": stream([message(1, ["Hel", "lo"])], { background: true }),
  "a web search": stream([
    reasoning(1, []),
    steps("web_search_call", ["in_progress", "searching", "completed"], { action: { type: "search", query: "a" } }),
    message(1, ["one"], { annotated: true }),
  ]),
  "a file search": stream([
    steps("file_search_call", ["in_progress", "searching", "completed"], { queries: ["a"], results: null }),
  ]),
  "a code interpreter": stream([codeInterpreter()]),
  "a picture": stream([image(), message(1, [])]),
  "MCP tools that are listed and called": stream([mcpList(), mcpCall("completed"), message(1, ["Done"])]),
  "an MCP call that fails": stream([mcpCall("failed"), message(1, ["Sorry"])]),
  "an MCP call that wants approval": stream([
    mcpList(),
    item("mcp_approval_request", { server_label: "s", name: "f", arguments: "{}" }),
  ]),
  "a local shell": stream([item("local_shell_call", { call_id: "call_1", action: { type: "exec", command: [] } })]),
  "a shell in a container": stream([shell(), shellOutput(), message(1, ["Done"])]),
  "a patch": stream([applyPatch()]),
  "a computer": stream([item("computer_call", { call_id: "call_1", action: { type: "wait" } })]),
  "a search for tools": stream([
    item("tool_search_call", { call_id: "a" }, [], { call_id: "b" }),
    item("tool_search_output", { tools: [] }),
  ]),
  "a program": stream([item("program", { call_id: "call_1" }), item("program_output", { call_id: "call_1" })]),
  "a compaction": stream([
    message(1, ["Hi"]),
    item("compaction", { encrypted_content: "a" }, [], { encrypted_content: "b" }),
  ]),
  "a spoken answer": stream([message(1, ["Hi"])], { sound: true }),
};

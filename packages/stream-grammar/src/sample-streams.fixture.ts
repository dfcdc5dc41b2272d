import { item, type SampleEvent, stream } from "./sample-events.fixture.ts";
import {
  applyPatch,
  codeInterpreter,
  cut,
  functionCall,
  image,
  mcpCall,
  mcpList,
  message,
  openReasoning,
  reasoning,
  refusal,
  shell,
  shellOutput,
  steps,
  textual,
} from "./sample-items.fixture.ts";

export type { SampleEvent } from "./sample-events.fixture.ts";

/** One legal stream for each kind of output. */
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
  "a program": stream([
    item("program", { call_id: "call_1", code: "", fingerprint: "a" }, [], { code: "1", fingerprint: "b" }),
    item("program_output", { call_id: "call_1" }),
  ]),
  "a compaction": stream([
    message(1, ["Hi"]),
    item("compaction", { encrypted_content: "a" }, [], { encrypted_content: "b" }),
  ]),
  "a search that was cut": stream([cut(steps("web_search_call", ["in_progress"]), "failed")], { end: "failed" }),
  "code that was cut while it was written": stream([cut(codeInterpreter(), "incomplete", 4)], { end: "failed" }),
  "a picture that was cut": stream([cut(image(), "failed", 1)], { end: "failed" }),
  "an MCP call that was cut": stream([cut(mcpCall("completed"), "incomplete", 4)], { end: "failed" }),
  "an MCP call that was cut at once": stream([cut(mcpCall("completed"), "incomplete", 1)], { end: "failed" }),
  "a spoken answer": stream([message(1, ["Hi"])], { sound: true }),
};

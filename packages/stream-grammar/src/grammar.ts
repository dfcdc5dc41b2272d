import { type Grammar, readGrammar } from "./read-grammar.ts";

/**
 * The legal order of events, whose names lack `response.`. Angle brackets hold the status of the event's response or
 * the type of its part. `inside` is any event about an item or audio, including `output_item.*`.
 */
const STREAM = `
ending     = completed<completed> | incomplete<incomplete> | error failed<failed> | failed<cancelled>
foreground = created<in_progress> in_progress<in_progress> inside* ending
background = created<queued> queued<queued> (in_progress<in_progress> inside* ending | error failed<failed> | failed<cancelled>)
stream     = foreground | background
`;

const PARTS = `
text           = content_part.added<output_text> (output_text.delta output_text.annotation.added*)*
                 output_text.done content_part.done<output_text>
refusal        = content_part.added<refusal> refusal.delta* refusal.done content_part.done<refusal>
reasoning-text = content_part.added<reasoning_text> reasoning_text.delta* reasoning_text.done content_part.done<reasoning_text>
summary        = reasoning_summary_part.added reasoning_summary_text.delta* reasoning_summary_text.done reasoning_summary_part.done
command        = shell_call_command.added shell_call_command.delta* shell_call_command.done
command-output = shell_call_output_content.delta* shell_call_output_content.done
code           = code_interpreter_call_code.delta* code_interpreter_call_code.done
pictures       = image_generation_call.generating image_generation_call.partial_image*
arguments      = [mcp_call_arguments.delta+ [mcp_call.in_progress]] mcp_call_arguments.done
cut            = output_item.done<incomplete> | output_item.done<failed>
`;

/**
 * The events of each item type, from first to last. Events of different items do not interleave, except those of lists
 * of MCP tools. An item with the status in angle brackets may end early; any other end is `output_item.done`.
 */
const ITEMS = `
message               = output_item.added (text | refusal)* output_item.done
reasoning             = output_item.added summary* reasoning-text* output_item.done
function_call         = output_item.added function_call_arguments.delta* function_call_arguments.done output_item.done
custom_tool_call      = output_item.added custom_tool_call_input.delta* [custom_tool_call_input.done] output_item.done
web_search_call       = output_item.added web_search_call.in_progress
                        (web_search_call.searching web_search_call.completed output_item.done
                        | [web_search_call.searching] [web_search_call.completed] cut)
file_search_call      = output_item.added file_search_call.in_progress
                        (file_search_call.searching file_search_call.completed output_item.done
                        | [file_search_call.searching] [file_search_call.completed] cut)
code_interpreter_call = output_item.added code_interpreter_call.in_progress
                        (code code_interpreter_call.interpreting code_interpreter_call.completed output_item.done
                        | [code [code_interpreter_call.interpreting]] [code_interpreter_call.completed] cut)
image_generation_call = output_item.added image_generation_call.in_progress
                        (pictures image_generation_call.completed output_item.done
                        | [pictures] [image_generation_call.completed] cut)
mcp_list_tools        = output_item.added mcp_list_tools.in_progress (mcp_list_tools.completed | mcp_list_tools.failed) output_item.done
mcp_call              = output_item.added mcp_call.in_progress
                        (arguments (mcp_call.completed | mcp_call.failed) output_item.done
                        | [arguments] [mcp_call.completed | mcp_call.failed] output_item.done<incomplete>)
mcp_approval_request  = output_item.added output_item.done
shell_call            = output_item.added command* output_item.done
shell_call_output     = output_item.added command-output* output_item.done
local_shell_call      = output_item.added output_item.done
apply_patch_call      = output_item.added [apply_patch_call_operation_diff.delta* apply_patch_call_operation_diff.done] output_item.done
computer_call         = output_item.added output_item.done
tool_search_call      = output_item.added output_item.done
tool_search_output    = output_item.added output_item.done
additional_tools      = output_item.added output_item.done
compaction            = output_item.added [compaction.compacting] output_item.done
program               = output_item.added output_item.done
program_output        = output_item.added output_item.done
`;

/** Audio belongs to no item, so it may come between any other events. */
const SOUND = `
sound = (audio.delta | audio.transcript.delta)* audio.done audio.transcript.done
`;

export const STREAM_GRAMMAR: Grammar = readGrammar(STREAM);
export const ITEM_GRAMMAR: Grammar = readGrammar(ITEMS, readGrammar(PARTS));
export const SOUND_GRAMMAR: Grammar = readGrammar(SOUND);

/** The output of `lint-stream --grammar`. */
export const GRAMMAR_TEXT = [STREAM, PARTS, ITEMS, SOUND].map((text) => text.trim()).join("\n\n");

/** Item types whose items may be open at the same time as others of their type. */
export const CONCURRENT_ITEMS: ReadonlySet<string> = new Set(["mcp_list_tools"]);

/** All rules by name. The sentence is printed when the rule is broken. */
export const RULES = {
  "content-type": "A stream has status 200 and the content type text/event-stream; charset=utf-8.",
  "frame-lines":
    "A frame is one event line, one data line and a blank line; an id line, if there is one, has the event's number. Lines end with a line feed; there is no byte order mark.",
  "frame-name": "The event line repeats the type of the event.",
  "frame-whole": "A stream ends after a whole frame.",
  "no-done-mark": "There is no [DONE]: the event that ends the response is the last thing sent.",
  "event-json": "The data of a frame is one JSON object with a type.",
  "known-type": "The type is one of those that the reference sends.",
  "event-members": "An event has the members of its type.",
  "error-member": "Only the event error has a member error; clients treat any other event that has one as a failure.",
  "sequence-number": "Events are numbered from 0, one after the other.",
  "stream-order":
    "A stream has the events that begin a response, then events about items, then the events that end the response.",
  "one-ending": "A stream ends with response.completed, response.incomplete or response.failed.",
  "nothing-after-ending": "Nothing follows the event that ends the response.",
  "response-id": "All snapshots of a stream have the same response id.",
  "first-snapshot": "Before the first item a response has no output and no usage.",
  "item-type": "The type of an item is one of those that the reference sends.",
  "item-order": "The events of an item come in the order of its type.",
  "one-item-at-a-time": "An item is done before the next is added, except lists of MCP tools.",
  "item-ends": "Every item is done before the response ends.",
  "output-index": "Each new item has the next output index, and its events repeat it.",
  "item-id": "An item has one id, no other item has it, and its events repeat it.",
  "call-id": "A call has one id, which no other item of its type has.",
  "content-index": "Each new part has the next content index, and its events repeat it.",
  "summary-index": "Each new part of a summary has the next summary index, and its events repeat it.",
  "command-index": "Each new command has the next command index, and its events repeat it.",
  "annotation-index": "Each new annotation has the next annotation index of its part.",
  "partial-image-index": "Each partial image has the next index.",
  "added-empty": "Text that deltas will send is empty when its item, part or command is added.",
  "deltas-add-up": "The deltas, joined, are the text of their done event.",
  "done-part": "A finished part equals what its events gave.",
  "done-item": "A finished item equals what its events gave.",
  "final-output": "The last snapshot holds the finished items, except for encrypted contents.",
  "chat-chunk":
    "Chat completions: a frame is one data line, without an event line, and its data is a chunk: object chat.completion.chunk, with choices.",
  "chat-head": "Chat completions: all chunks have the same id, created and model.",
  "chat-role": "Chat completions: the first delta of a choice has the role assistant.",
  "chat-delta": "Chat completions: texts of a delta are strings.",
  "chat-call":
    "Chat completions: a call begins with the next index, an id, a type, a name and empty arguments; its other pieces keep the id.",
  "chat-finish":
    "Chat completions: each choice has one finish_reason, with an empty delta, in its last chunk; it is tool_calls if there was a call.",
  "chat-usage":
    "Chat completions: the usage comes once, in a chunk without choices after all choices have finished, and is null before; or no chunk has it.",
  "chat-done": "Chat completions: a stream that did not fail ends with [DONE], and nothing follows its end.",
  "messages-name": "Messages: each frame has an event line, which is the type of its data.",
  "messages-start":
    "Messages: a stream begins with one message_start, whose message has no content and its input tokens.",
  "messages-event": "Messages: the types of events are those of messages.",
  "messages-block": "Messages: blocks follow each other, numbered from 0, and begin empty if deltas follow.",
  "messages-delta": "Messages: a delta has the type of its block; the signature is the last one of a thinking.",
  "messages-input": "Messages: the pieces of an input are a JSON object together, or nothing.",
  "messages-result": "Messages: the result of a tool of the server follows its call.",
  "messages-reason":
    "Messages: message_delta has a stop_reason and the usage; the reason is not end_turn after a call of the client.",
  "messages-end":
    "Messages: a stream that did not fail ends with message_delta and message_stop, and nothing follows its end.",
  "sound-order": "Audio ends with response.audio.done and response.audio.transcript.done, before the response ends.",
} as const satisfies Readonly<Record<string, string>>;

export type RuleName = keyof typeof RULES;

/** Deviations that the reference shares. They are reported as notes and break no rule. */
export const NOTES = {
  "lists-done-once":
    "One response.output_item.done stands for several lists of MCP tools, as in the reference; each list should have its own.",
} as const satisfies Readonly<Record<string, string>>;

export type NoteName = keyof typeof NOTES;

/** Reports a note at the current event. */
export type Note = (note: NoteName, says: string) => void;

/** Reports a broken rule at the current event. */
export type Report = (rule: RuleName, says: string) => void;

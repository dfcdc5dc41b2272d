/** Every rule by its name; the sentence is what you read when it is broken. */
export const RULES = {
  "content-type": "A stream comes with status 200 as text/event-stream; charset=utf-8.",
  "frame-lines":
    "A frame is one event line, one data line and a blank line, ended by line feeds, without a byte order mark.",
  "frame-name": "The event line repeats the type of the event.",
  "frame-whole": "A stream ends after a whole frame.",
  "no-done-mark": "There is no [DONE]: the event that ends the response is the last thing sent.",
  "event-json": "The data of a frame is one JSON object with a type.",
  "known-type": "The type is one of those that the reference sends.",
  "event-members": "An event has the members of its type.",
  "error-member": "Only the event error has a member error; clients give up where another has one.",
  "sequence-number": "Events are numbered from 0, one after the other.",
  "stream-order": "A stream begins as its response does, tells of items, and ends as its response does.",
  "one-ending": "A stream ends with response.completed, response.incomplete or response.failed.",
  "nothing-after-ending": "Nothing follows the event that ends the response.",
  "response-id": "All events tell of one response.",
  "first-snapshot": "Before the first item a response has no output and no usage.",
  "item-type": "The type of an item is one of those that the reference sends.",
  "item-order": "The events of an item come in the order of its type.",
  "one-item-at-a-time": "An item is done before the next is added, lists of MCP tools apart.",
  "item-ends": "Every item is done before the response ends.",
  "output-index": "Items take the next place in the output, and their events repeat it.",
  "item-id": "An item has one id, no other item has it, and its events repeat it.",
  "call-id": "A call has one id, which no other item of its type has.",
  "content-index": "Parts take the next place in the content, and their events repeat it.",
  "summary-index": "Paragraphs take the next place in the summary, and their events repeat it.",
  "command-index": "Commands take the next place in their call, and their events repeat it.",
  "annotation-index": "Annotations take the next place in their part.",
  "partial-image-index": "Unfinished pictures take the next place.",
  "added-empty": "What is told in deltas is empty when its item, part or command is added.",
  "deltas-add-up": "The deltas, put together, are the text of the event that ends them.",
  "done-part": "A part that is done is what was told of it.",
  "done-item": "An item that is done is what was told of it.",
  "final-output": "The last snapshot holds the items as they were done, ciphertexts apart.",
  "sound-order": "Sound ends with response.audio.done and response.audio.transcript.done, before the response does.",
} as const satisfies Readonly<Record<string, string>>;

export type RuleName = keyof typeof RULES;

/** What the reference does as well, though a correct server does better; it breaks no rule. */
export const NOTES = {
  "lists-done-once":
    "One response.output_item.done stands for several lists of MCP tools, as the reference sends it; each list should have its own.",
} as const satisfies Readonly<Record<string, string>>;

export type NoteName = keyof typeof NOTES;

/** Tells of something remarkable at the event that is being looked at. */
export type Note = (note: NoteName, says: string) => void;

/** Tells of a broken rule at the event that is being looked at. */
export type Report = (rule: RuleName, says: string) => void;

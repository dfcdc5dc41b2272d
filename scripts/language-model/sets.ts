/** The sets of the trial: written for it, small, in English. */

export interface Question {
  readonly ask: string;
  readonly right: RegExp;
}

export const QUESTIONS: readonly Question[] = [
  { ask: "What is the capital of France?", right: /paris/i },
  { ask: "What is the capital of Italy?", right: /rome/i },
  { ask: "What is the capital of Japan?", right: /tokyo/i },
  { ask: "What is the capital of Spain?", right: /madrid/i },
  { ask: "What is the capital of Germany?", right: /berlin/i },
  { ask: "Which planet do we live on?", right: /earth/i },
  { ask: "What is 2 + 2?", right: /\b(4|four)\b/i },
  { ask: "What is 10 - 3?", right: /\b(7|seven)\b/i },
  { ask: "What is 5 times 3?", right: /\b(15|fifteen)\b/i },
  { ask: "Which colour has the sky on a clear day?", right: /blue/i },
  { ask: "Which animal says meow?", right: /cat/i },
  { ask: "How many days has a week?", right: /\b(7|seven)\b/i },
  { ask: "What do bees make?", right: /honey/i },
  { ask: "What is the opposite of hot?", right: /cold/i },
  { ask: "Repeat this word: heron", right: /heron/i },
  { ask: "My name is Ada. What is my name?", right: /ada/i },
  { ask: "Is ice hot or cold?", right: /cold/i },
  { ask: "What is frozen water called?", right: /ice/i },
  { ask: "Who wrote Hamlet?", right: /shakespeare/i },
  { ask: "What is the largest ocean?", right: /pacific/i },
];

const TEXT = { type: "string" } as const;

function object(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Ten schemas, each with five prompts. */
export const SHAPES: readonly {
  readonly name: string;
  readonly schema: object;
  readonly prompts: readonly string[];
}[] = [
  {
    name: "person",
    schema: object({ name: TEXT, age: { type: "integer", minimum: 0, maximum: 130 } }),
    prompts: ["Ann is 31.", "Bob, aged 7", "A man called Carl who is 99", "Dora turned 18", "Eve, 45 years old"],
  },
  {
    name: "sentiment",
    schema: object({
      sentiment: { enum: ["good", "bad", "neutral"] },
      sure: { type: "number", minimum: 0, maximum: 1 },
    }),
    prompts: ["I love it", "I hate it", "It is a table", "Never again!", "Best day ever"],
  },
  {
    name: "date",
    schema: object({ day: { type: "string", format: "date" }, event: TEXT }),
    prompts: ["Party on 3 May 2026", "Exam on 2025-12-01", "We meet on 1 June 2027", "Moon landing", "New year 2030"],
  },
  {
    name: "list",
    schema: object({ items: { type: "array", items: TEXT, minItems: 1, maxItems: 5 } }),
    prompts: ["Three fruits", "Two colours", "Some animals", "Tools of a gardener", "Planets"],
  },
  {
    name: "order",
    schema: {
      ...object({
        customer: { $ref: "#/$defs/customer" },
        lines: { type: "array", items: { $ref: "#/$defs/line" }, minItems: 1, maxItems: 3 },
      }),
      $defs: {
        customer: object({ name: TEXT }),
        line: object({ product: TEXT, count: { type: "integer", minimum: 1, maximum: 99 } }),
      },
    },
    prompts: [
      "Ann wants 2 apples",
      "Bob: 3 pens, 1 book",
      "Carl orders tea",
      "Dora buys 12 eggs",
      "Eve: 4 chairs, 1 table",
    ],
  },
  {
    name: "nullable",
    schema: object({ city: { anyOf: [TEXT, { type: "null" }] }, zip: { type: ["string", "null"], maxLength: 10 } }),
    prompts: ["I live in Oslo", "No address", "10115 Berlin", "Somewhere", "Paris, 75001"],
  },
  {
    name: "tree",
    schema: {
      $ref: "#/$defs/node",
      $defs: {
        node: object({ label: TEXT, children: { type: "array", items: { $ref: "#/$defs/node" }, maxItems: 2 } }),
      },
    },
    prompts: ["A family", "A company", "A file tree", "Animals", "A book with chapters"],
  },
  {
    name: "code",
    schema: object({ code: { type: "string", pattern: "^[A-Z]{3}-\\d{3}$" }, kind: { const: "part" } }),
    prompts: ["Part ABC-123", "Screw", "Wheel number 7", "Part XYZ-999", "A door"],
  },
  {
    name: "answer",
    schema: object({ answer: { type: "boolean" }, why: { type: "string", minLength: 5, maxLength: 60 } }),
    prompts: ["Is snow white?", "Can fish fly?", "Is 5 more than 3?", "Is fire cold?", "Do dogs bark?"],
  },
  {
    name: "either",
    schema: object({
      what: {
        anyOf: [
          object({ type: { const: "circle" }, radius: { type: "number", minimum: 0.5, maximum: 9.5 } }),
          object({ type: { const: "square" }, side: { type: "integer", minimum: 1, maximum: 20 } }),
        ],
      },
    }),
    prompts: ["A circle of radius 2", "A square of side 4", "Something round", "A box", "A wheel"],
  },
];

export const FUNCTIONS = [
  {
    name: "get_weather",
    description: "Tells the weather of a city",
    parameters: object({ city: TEXT }),
    asks: [
      "What is the weather in Rome?",
      "Will it rain in Oslo?",
      "Is it sunny in Lima?",
      "How warm is it in Cairo?",
      "Weather in Bonn, please",
      "Does it snow in Kiev?",
      "Is it windy in Cork?",
      "Tell me the weather of Madrid",
    ],
  },
  {
    name: "set_timer",
    description: "Sets a timer for some minutes",
    parameters: object({ minutes: { type: "integer", minimum: 1, maximum: 600 } }),
    asks: [
      "Set a timer for 5 minutes",
      "Wake me in 30 minutes",
      "Timer: 10 minutes",
      "Remind me in 45 minutes",
      "Start a timer of 2 minutes",
      "Count down 15 minutes",
      "Tell me when 20 minutes have passed",
    ],
  },
  {
    name: "send_message",
    description: "Sends a message to a person",
    parameters: object({ to: TEXT, text: TEXT }),
    asks: [
      "Tell Ann that I am late",
      "Write to Bob: thanks",
      "Send Carl a hello",
      "Message Dora that dinner is ready",
      "Let Eve know that I agree",
      "Text Max: happy birthday",
      "Say goodbye to Kim by message",
      "Ask Lea by message whether she comes",
    ],
  },
  {
    name: "calculate",
    description: "Computes an arithmetic expression",
    parameters: object({ expression: TEXT }),
    asks: [
      "What is 12 * 7?",
      "Compute 3 + 4 * 2",
      "How much is 100 / 8?",
      "Calculate 2 to the power of 10",
      "Work out 15 - 6",
      "Add 13 and 29",
      "Multiply 6 by 9",
    ],
  },
] as const;

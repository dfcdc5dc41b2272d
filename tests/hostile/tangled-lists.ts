import type { LongList } from "./long-lists.ts";

/** Two items each, and as many tools as allowed. */
const LONGEST = 4_800;
const TOOLS_LONGEST = 2_000;

type Members = Readonly<Record<string, unknown>>;

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const call = (id: number, type = "function_call"): Members => ({
  type,
  call_id: `call_${id}`,
  name: "f",
  arguments: "{}",
});
const customCall = (id: number): Members => ({ type: "custom_tool_call", call_id: `call_${id}`, name: "f", input: "" });
const output = (id: number, type = "function_call_output"): Members => ({ type, call_id: `call_${id}`, output: "x" });
const message = (index: number): Members => ({ role: "user", content: `hi ${index}` });
const tool = (index: number, members: Members = {}): Members => ({
  type: "function",
  name: `f${index}`,
  strict: false,
  parameters: { type: "object", properties: {} },
  ...members,
});
const text = { type: "string" };
const property = (index: number, schema: Members = text): Members => ({ [`p${index}`]: schema });
const named = (length: number, schema: Members = text): Members =>
  Object.assign({}, ...many(length, (i) => property(i, schema)));
const names = (length: number): string[] => many(length, (index) => `p${index}`);
const strictObject = (length: number): Members => ({
  type: "object",
  properties: named(length),
  required: names(length),
  additionalProperties: false,
});
const answerIn = (schema: Members, strict = false): Members => ({
  text: { format: { type: "json_schema", name: "s", strict, schema } },
});
const allowed = (tools: readonly Members[]): Members => ({
  tool_choice: { type: "allowed_tools", mode: "auto", tools },
});
const recursive = (schema: Members): Members => ({ type: "object", ...schema, additionalProperties: { $ref: "#" } });

/** Lists whose elements refer to each other or to another list, so that each element needs a lookup. */
export const TANGLED_LISTS: readonly LongList[] = [
  list("messages", (n) => ({ input: many(n, message) })),
  list("calls and their outputs", (n) => ({ input: many(n, (i) => [call(i), output(i)]).flat() })),
  list("calls, then outputs", (n) => ({ input: [...many(n, (i) => call(i)), ...many(n, (i) => output(i))] })),
  list("calls, then outputs in reverse", (n) => ({
    input: [...many(n, (i) => call(i)), ...many(n, (i) => output(n - 1 - i))],
  })),
  list("calls with one id", (n) => ({ input: [...many(n, () => call(0)), ...many(n, () => output(0))] })),
  list("calls and tool results", (n) => ({
    input: [...many(n, customCall), ...many(n, (i) => output(i, "tool_result"))],
  })),
  list("tool results of no call", (n) => ({ input: many(n, (i) => output(i, "tool_result")) })),
  list("tool results before their calls", (n) => ({
    input: [...many(n, (i) => output(i, "tool_result")), ...many(n, (i) => call(n - 1 - i))],
  })),
  list("top-level parts", (n) => ({ input: many(n, (i) => ({ type: "input_text", text: `${i}` })) })),
  list("references to nothing", (n) => ({ input: many(n, (i) => ({ type: "item_reference", id: `msg_${i}` })) })),
  list("reasoning and answers", (n) => ({
    input: many(n, (i) => [
      { type: "reasoning", id: `rs_${i}`, summary: [{ type: "summary_text", text: "x" }] },
      { role: "assistant", content: "a" },
    ]).flat(),
  })),
  list("parts of a tool result", (n) => ({
    input: [call(0), { ...output(0, "tool_result"), output: many(n, () => ({ type: "input_text", text: "x" })) }],
  })),
  list("tools of many additions", (n) => ({
    input: [...many(n, (i) => ({ type: "additional_tools", role: "developer", tools: [tool(i)] })), message(0)],
  })),
  list("tools", (n) => ({ tools: many(n, (i) => tool(i)) })),
  list("allowed tools", (n) => ({
    tools: many(n, (i) => tool(i)),
    ...allowed(many(n, (i) => ({ type: "function", name: `f${n - 1 - i}` }))),
  })),
  list("one allowed tool, many times", (n) => ({
    tools: many(n, (i) => tool(i)),
    ...allowed(many(n, () => ({ type: "function", name: `f${n - 1}` }))),
  })),
  list("one namespace, many times", (n) => ({
    tools: [{ type: "namespace", name: "ns", description: "d", tools: many(n, (i) => tool(i)) }],
    ...allowed(many(n, () => ({ type: "namespace", name: "ns" }))),
  })),
  list("properties of a strict tool", (n) => ({ tools: [tool(0, { strict: true, parameters: strictObject(n) })] })),
  list("properties of a strict answer", (n) => answerIn(strictObject(n), true)),
  list("properties of a tool that leaves strict out", (n) => ({
    tools: [{ type: "function", name: "f", parameters: strictObject(n) }],
  })),
  list("allOf", (n) =>
    answerIn({ type: "object", allOf: many(n, (i) => ({ properties: property(i), required: [`p${i}`] })) }),
  ),
  list("allOf of one property", (n) =>
    answerIn({ type: "object", allOf: many(n, () => ({ properties: property(0), required: ["p0"] })) }),
  ),
  list("allOf of enumerations", (n) =>
    answerIn({ type: "object", properties: { a: { allOf: many(n, () => ({ enum: ["x", "y"] })) } }, required: ["a"] }),
  ),
  list("anyOf", (n) =>
    answerIn({ type: "object", properties: { a: { anyOf: many(n, (i) => ({ const: `${i}` })) } }, required: ["a"] }),
  ),
  list("values of an enumeration", (n) =>
    answerIn({ type: "object", properties: { a: { enum: names(n) } }, required: ["a"] }),
  ),
  list("enumerations of a recursive schema", (n) =>
    answerIn(recursive({ properties: { a: { enum: names(n) } }, required: ["a", "b"] })),
  ),
  list("required names of a recursive schema", (n) => answerIn(recursive({ required: names(n) }))),
  list("types of a recursive schema", (n) =>
    answerIn({ ...recursive({ required: ["a", "b", "c"] }), type: ["object", ...names(n)] }),
  ),
  list("keywords of a recursive schema", (n) => answerIn({ ...recursive({ required: ["a", "b", "c"] }), ...named(n) })),
  list("rules of a grammar", (n) =>
    grammar(`start: r0\n${many(Math.min(n, 900), (i) => `r${i}: r${i + 1} /a{90}/\n`).join("")}`),
  ),
  list("repetitions of a grammar", (n) => grammar(`start: ${"(".repeat(n % 9)}"x"${"~900)".repeat(n % 9)}`)),
];

function grammar(definition: string): Members {
  return {
    tools: [{ type: "custom", name: "c", format: { type: "grammar", syntax: "lark", definition } }],
    tool_choice: { type: "custom", name: "c" },
  };
}

function list(name: string, make: LongList["make"]): LongList {
  return { name, make, longest: "tools" in make(1) ? TOOLS_LONGEST : LONGEST };
}

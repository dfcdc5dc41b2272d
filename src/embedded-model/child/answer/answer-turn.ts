import type { EngineGrammar } from "../engine-api.ts";
import { literal } from "../grammar/grammar-rules.ts";
import { objectGrammar, SchemaUnsayable, schemaGrammar } from "../grammar/schema-grammar.ts";
import type { LoadedModel } from "../loaded-model.ts";
import type { ChatTurn, TurnFunction } from "../prompt/chat-turn.ts";
import { ARGUMENTS_OPENING, CALL_OPENING, NAME_OPENING } from "../prompt/tool-texts.ts";
import { RequestRefused } from "../request-refused.ts";
import { OpenJson } from "./closing.ts";
import type { Generation, GenerationEnd, Sampled } from "./generation.ts";
import { StopWatch } from "./stop-watch.ts";
import { TextStream } from "./text-stream.ts";

export type AnswerEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly name: string }
  | { readonly type: "arguments"; readonly text: string };

export type AnswerFinish = "stop" | "length" | "tool_calls";

/** The grammars of a turn, compiled before it takes a slot: a schema that cannot be said is refused at once. */
export interface TurnGrammars {
  /** Of the whole text; null if it is free. */
  readonly text: EngineGrammar | null;
  readonly names: EngineGrammar | null;
  readonly argumentsOf: ReadonlyMap<string, EngineGrammar>;
}

const CALL_MARK = CALL_OPENING.trim();
const FORMAT_PARAM = "response_format.json_schema.schema";
/** The choice among the best tokens; the sampler's own default. */
const TOP_K = 40;

/** Rejects with `RequestRefused`. */
export async function compileGrammars({ grammars }: LoadedModel, turn: ChatTurn): Promise<TurnGrammars> {
  const { choice, format } = turn;
  const functions = callable(turn);
  const names = functions.length < 2 ? null : await grammars.compile(namesGrammar(functions), "tools");
  const argumentsOf = new Map<string, EngineGrammar>();
  for (const { name, parameters } of functions)
    argumentsOf.set(name, await grammars.compile(argumentsGrammar(parameters), "tools"));
  if (format.type === "text" || choice.type === "call") return { text: null, names, argumentsOf };
  const shape = format.type === "json_object" ? objectGrammar() : formatGrammar(format.schema);
  const text = choice.type === "auto" ? shape.replace("root ::= ", `root ::= ${literal(CALL_MARK)} | `) : shape;
  return { text: await grammars.compile(text, FORMAT_PARAM), names, argumentsOf };
}

function callable({ choice, functions }: Pick<ChatTurn, "choice" | "functions">): readonly TurnFunction[] {
  if (choice.type === "none") return [];
  return choice.type === "auto" ? functions : choice.functions;
}

function namesGrammar(functions: readonly TurnFunction[]): string {
  return `root ::= (${functions.map(({ name }) => literal(name)).join(" | ")}) "\\""`;
}

/** Arguments whose schema no grammar says are any object: the schema stands in the prompt all the same. */
function argumentsGrammar(parameters: unknown): string {
  try {
    return schemaGrammar(parameters);
  } catch (error) {
    if (!(error instanceof SchemaUnsayable)) throw error;
    return objectGrammar();
  }
}

function formatGrammar(schema: unknown): string {
  try {
    return schemaGrammar(schema);
  } catch (error) {
    if (!(error instanceof SchemaUnsayable)) throw error;
    throw new RequestRefused(error.message, { param: FORMAT_PARAM, code: "invalid_json_schema" });
  }
}

/** Writes the answer to a turn whose prompt has been read. */
export class TurnWriter {
  readonly #runtime: LoadedModel;
  readonly #turn: ChatTurn;
  readonly #grammars: TurnGrammars;
  readonly #generation: Generation;
  readonly #tell: (event: AnswerEvent) => void;

  constructor(
    runtime: LoadedModel,
    { turn, grammars, generation }: { turn: ChatTurn; grammars: TurnGrammars; generation: Generation },
    tell: (event: AnswerEvent) => void,
  ) {
    this.#runtime = runtime;
    this.#turn = turn;
    this.#grammars = grammars;
    this.#generation = generation;
    this.#tell = tell;
  }

  async write(): Promise<AnswerFinish> {
    const { choice } = this.#turn;
    if (choice.type === "call") return await this.#writeCall(CALL_OPENING);
    return await this.#writeText(choice.type === "auto");
  }

  async #writeText(mayCall: boolean): Promise<AnswerFinish> {
    const grammar = this.#grammars.text;
    const json = grammar === null ? null : this.#openJson(this.#turn.format);
    const stream = new TextStream(this.#runtime.model, this.#generation.output);
    const watch = new StopWatch([...(mayCall ? [CALL_MARK] : []), ...(grammar === null ? this.#turn.stops : [])]);
    let call: { readonly opening: string } | null = null;
    let isStopped = false;
    const end = await this.#generation.write(this.#sampling(grammar, json), (token) => {
      const piece = stream.add(token);
      json?.add(piece);
      const { text, stop, rest } = watch.add(piece);
      this.#say(text);
      if (stop === null) return true;
      if (stop === CALL_MARK && mayCall) call = { opening: piece.slice(0, piece.length - rest.length) };
      else isStopped = true;
      return false;
    });
    const opening = this.#openingOf(call);
    if (opening !== null) {
      this.#generation.takeBack(); // The last token may reach beyond the mark.
      return await this.#writeCall(`${opening}\n`);
    }
    if (!isStopped) this.#say(watch.add(stream.end()).text + watch.end());
    return finishOf(end, "stop");
  }

  /** Typed again, because a variable that only a callback sets has the type of its first value. */
  #openingOf(call: { readonly opening: string } | null): string | null {
    return call?.opening ?? null;
  }

  async #writeCall(opening: string): Promise<AnswerFinish> {
    const { names } = this.#grammars;
    const [first] = callable(this.#turn);
    if (names === null && first === undefined) return "stop";
    if (!(await this.#force(opening, true)) || !(await this.#force(NAME_OPENING, false))) return "length";
    const name = names === null ? await this.#writeName(first?.name ?? "") : await this.#chooseName(names);
    if (name === null || !(await this.#force(ARGUMENTS_OPENING, false))) return "length";
    this.#tell({ type: "call", name });
    const stream = new TextStream(this.#runtime.model, this.#generation.output);
    const tell = (text: string): void => {
      if (text !== "") this.#tell({ type: "arguments", text });
    };
    const grammar = this.#grammars.argumentsOf.get(name) ?? null;
    const json = this.#openJson(callable(this.#turn).find((each) => each.name === name)?.parameters);
    const end = await this.#generation.write(this.#sampling(grammar, json), (token) => {
      const piece = stream.add(token);
      json.add(piece);
      tell(piece);
      return true;
    });
    tell(stream.end());
    return finishOf(end, "tool_calls");
  }

  async #writeName(name: string): Promise<string | null> {
    return (await this.#force(`${name}"`, false)) ? name : null;
  }

  /** Null if the limit cuts the name. */
  async #chooseName(names: EngineGrammar): Promise<string | null> {
    const stream = new TextStream(this.#runtime.model, this.#generation.output);
    let text = "";
    const end = await this.#generation.write(this.#sampling(names, null), (token) => {
      text += stream.add(token);
      return !text.endsWith('"');
    });
    return end === "limit" && !text.endsWith('"') ? null : text.slice(0, -1);
  }

  async #force(text: string, isTemplate: boolean): Promise<boolean> {
    return await this.#generation.force(this.#runtime.model.tokenize(text, isTemplate, "trimLeadingSpace"));
  }

  /** Under a grammar, the likeliest token unless the request asks for chance. */
  #sampling(grammar: EngineGrammar | null, json: OpenJson | null): Sampled {
    const { temperature, topP, seed, frequencyPenalty, presencePenalty } = this.#turn.sampling;
    const { advice } = this.#runtime;
    return {
      options: {
        temperature: temperature ?? (grammar === null ? advice.temperature : 0),
        topP: topP ?? advice.topP,
        topK: TOP_K,
        ...(seed === null ? {} : { seed }),
      },
      frequencyPenalty,
      presencePenalty,
      shape: grammar === null ? null : { grammar, json },
    };
  }

  /** A schema names each member once, so its text is about as long as the smallest object. */
  #openJson(schema: unknown): OpenJson {
    const text = JSON.stringify(schema ?? {});
    return new OpenJson(this.#runtime.model.tokenize(text, false, "trimLeadingSpace").length);
  }

  #say(text: string): void {
    if (text !== "") this.#tell({ type: "text", text });
  }
}

function finishOf(end: GenerationEnd, otherwise: AnswerFinish): AnswerFinish {
  return end === "limit" ? "length" : otherwise;
}

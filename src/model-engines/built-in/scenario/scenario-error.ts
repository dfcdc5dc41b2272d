/** A scenario file is invalid. The message names the file and the place in it. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** A place in a scenario file, such as `scenarios[0].events[2].call.name`. */
export class Place {
  readonly #file: string;
  readonly #path: string;

  constructor(file: string, path = "") {
    this.#file = file;
    this.#path = path;
  }

  member(name: string): Place {
    return new Place(this.#file, this.#path === "" ? name : `${this.#path}.${name}`);
  }

  element(index: number): Place {
    return new Place(this.#file, `${this.#path}[${index}]`);
  }

  /** `complaint` is the rest of a sentence whose subject is the place. */
  error(complaint: string): ScenarioError {
    return new ScenarioError(`${this.#file}: ${this.#path === "" ? "the file" : this.#path} ${complaint}.`);
  }

  expected(what: string, value: unknown): ScenarioError {
    return this.error(
      value === undefined ? `is missing; expected ${what}` : `should be ${what}, but is ${describe(value)}`,
    );
  }
}

function describe(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? `'${value.slice(0, 60)}'` : JSON.stringify(value);
}

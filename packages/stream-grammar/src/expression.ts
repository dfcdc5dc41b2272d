/** A regular expression over event names: the sequences that may still follow. */
export type Expression =
  | { readonly kind: "nothing" }
  | { readonly kind: "end" }
  | { readonly kind: "event"; readonly name: string }
  | { readonly kind: "sequence"; readonly first: Expression; readonly rest: Expression }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "many"; readonly of: Expression };

export const NOTHING: Expression = { kind: "nothing" };
export const END: Expression = { kind: "end" };

/** What may follow after `name`; NOTHING if `name` is not allowed here. This is Brzozowski's derivative. */
export function after(expression: Expression, name: string): Expression {
  switch (expression.kind) {
    case "nothing":
    case "end":
      return NOTHING;
    case "event":
      return expression.name === name ? END : NOTHING;
    case "sequence": {
      const inFirst = sequence(after(expression.first, name), expression.rest);
      return mayEnd(expression.first) ? choice([inFirst, after(expression.rest, name)]) : inFirst;
    }
    case "choice":
      return choice(expression.options.map((option) => after(option, name)));
    case "many":
      return sequence(after(expression.of, name), expression);
  }
}

/** Whether the sequence may end here. */
export function mayEnd(expression: Expression): boolean {
  switch (expression.kind) {
    case "nothing":
    case "event":
      return false;
    case "end":
    case "many":
      return true;
    case "sequence":
      return mayEnd(expression.first) && mayEnd(expression.rest);
    case "choice":
      return expression.options.some(mayEnd);
  }
}

/** The names that may come next. */
export function nextNames(expression: Expression): readonly string[] {
  switch (expression.kind) {
    case "nothing":
    case "end":
      return [];
    case "event":
      return [expression.name];
    case "sequence": {
      const first = nextNames(expression.first);
      return mayEnd(expression.first) ? unique([...first, ...nextNames(expression.rest)]) : first;
    }
    case "choice":
      return unique(expression.options.flatMap(nextNames));
    case "many":
      return nextNames(expression.of);
  }
}

export function sequence(first: Expression, rest: Expression): Expression {
  if (first.kind === "nothing" || rest.kind === "nothing") return NOTHING;
  if (first.kind === "end") return rest;
  return rest.kind === "end" ? first : { kind: "sequence", first, rest };
}

export function choice(all: readonly Expression[]): Expression {
  const options = all.filter(({ kind }) => kind !== "nothing");
  const [only, ...others] = options;
  if (only === undefined) return NOTHING;
  return others.length === 0 ? only : { kind: "choice", options };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

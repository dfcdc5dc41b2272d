import { recordOf } from "../records.fixture.ts";
import { resolve, type Schema } from "./shapes.fixture.ts";
import { type Finding, findUncovered, type Outcome } from "./uncovered.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** How we serve an operation: `announced` ones answer 501, `absent` ones are not in our contract. */
export type Service = "served" | "announced" | "absent";

export interface OperationScore extends Outcome {
  /** Method and path, as the reference writes them. */
  readonly operation: string;
  readonly service: Service;
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const NOT_SERVED = "501";

/**
 * Compares every operation of the reference with ours, and finds where ours accepts less or sends more. Paths start
 * with `request`, `reply`, or the location of a parameter.
 */
export function compareOperations(reference: Json, ours: Json, prefix: string): OperationScore[] {
  return operationsOf(reference).map(({ name, operation }): OperationScore => {
    const own = operationsOf(ours).find((candidate) => candidate.name === name.replace(" ", ` ${prefix}`));
    if (own === undefined) return { operation: name, service: "absent", places: 0, findings: [] };
    const service: Service = NOT_SERVED in recordOf(own.operation["responses"]) ? "announced" : "served";
    const theirs = new Side(operation, reference);
    const mine = new Side(own.operation, ours);
    const outcomes = [
      ...compareParameters(theirs, mine),
      ...compareBodies(theirs, mine),
      ...compareReplies(theirs, mine),
    ];
    return {
      operation: name,
      service,
      places: outcomes.reduce((sum, { places }) => sum + places, 0),
      findings: outcomes.flatMap(({ findings }) => findings),
    };
  });
}

/** An operation of one document, with references resolved. */
export class Side {
  readonly operation: Json;
  readonly document: Json;

  constructor(operation: Json, document: Json) {
    this.operation = operation;
    this.document = document;
  }

  parameters(): Json[] {
    const { parameters } = this.operation;
    return Array.isArray(parameters) ? parameters.map((parameter) => this.resolved(parameter)) : [];
  }

  /** Returns the schemas by media type. */
  contents(holder: unknown): Map<string, Schema> {
    const { content } = this.resolved(holder);
    return new Map(Object.entries(recordOf(content)).map(([type, media]) => [type, this.schemaOf(recordOf(media))]));
  }

  schemaOf(holder: Json): Schema {
    return { json: recordOf(holder["schema"]), document: this.document };
  }

  resolved(value: unknown): Json {
    const json = recordOf(value);
    return typeof json["$ref"] === "string" ? resolve(this.document, json["$ref"]).json : json;
  }
}

export function compareParameters(theirs: Side, mine: Side): Outcome[] {
  const own = mine.parameters();
  const known = theirs.parameters().map(({ in: where, name }) => `${where} ${name}`);
  const demanded = own
    .filter((parameter) => parameter["required"] === true)
    .map((parameter) => `${parameter["in"]} ${parameter["name"]}`)
    .filter((place) => !known.includes(place))
    .map((place) => fault(place, "must be there"));
  const compared = theirs.parameters().map((parameter) => {
    const place = `${parameter["in"]} ${parameter["name"]}`;
    const twin = own.find(({ name, in: where }) => name === parameter["name"] && where === parameter["in"]);
    if (twin === undefined) return fault(place, "no such parameter");
    if (twin["required"] === true && parameter["required"] !== true) return fault(place, "may be left out");
    return inside(place, findUncovered(theirs.schemaOf(parameter), mine.schemaOf(twin), true));
  });
  return [...demanded, ...compared];
}

export function compareBodies(theirs: Side, mine: Side): Outcome[] {
  const [body, ownBody] = [theirs, mine].map((side) => side.resolved(side.operation["requestBody"]));
  const own = mine.contents(ownBody);
  const compared = [...theirs.contents(body)].map(([type, schema]) => {
    const twin = own.get(type);
    return twin === undefined
      ? fault(`request ${type}`, "not accepted")
      : inside("request", findUncovered(schema, twin, true));
  });
  const isDemanded = ownBody?.["required"] === true && body?.["required"] !== true;
  return isDemanded ? [fault("request", "may be left out"), ...compared] : compared;
}

/** Compares the statuses that the reference lists. It lists almost no errors. */
function compareReplies(theirs: Side, mine: Side): Outcome[] {
  return Object.entries(recordOf(theirs.operation["responses"])).flatMap(([status, reply]) => {
    const declared = theirs.contents(reply);
    return [...mine.contents(recordOf(mine.operation["responses"])[status])].map(([type, schema]) => {
      const twin = declared.get(type);
      return twin === undefined
        ? fault(`reply ${type}`, "not declared")
        : inside("reply", findUncovered(schema, twin, false));
    });
  });
}

export function operationsOf(document: Json): { name: string; operation: Json }[] {
  return Object.entries(recordOf(document["paths"])).flatMap(([path, item]) =>
    Object.entries(recordOf(item))
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        operation: { ...recordOf(operation), parameters: [item, operation].flatMap(parametersOf) },
      })),
  );
}

function parametersOf(holder: unknown): readonly unknown[] {
  const { parameters } = recordOf(holder);
  return Array.isArray(parameters) ? parameters : [];
}

export function fault(path: string, words: string): Outcome {
  const finding: Finding = { path, fault: words };
  return { places: 1, findings: [finding] };
}

export function inside(place: string, { places, findings }: Outcome): Outcome {
  return { places, findings: findings.map((finding) => ({ ...finding, path: `${place} ${finding.path}`.trim() })) };
}

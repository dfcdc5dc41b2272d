import { clientMethod } from "./client-types.ts";
import type { Contract } from "./contracts.ts";
import { handlerTypes } from "./handler-types.ts";
import { type Json, type JsonObject, objectAt } from "./json.ts";
import { type Operation, operationsOf } from "./operations.ts";
import { literalLines, routeOf } from "./route.ts";

/**
 * Returns the document that the OpenAPI generator reads: version 3.0.3, operations only, each with the TypeScript that
 * the templates print. It has no schemas, because the generator handles 3.1 schemas badly. So the generator's version
 * does not affect the output.
 */
export function skeletonOf(document: JsonObject, contract: Contract): JsonObject {
  const info = objectAt(document, "info");
  const paths: Record<string, Record<string, Json>> = {};
  for (const [index, operation] of operationsOf(document).entries()) {
    const item = (paths[operation.path] ??= {});
    item[operation.method] = skeletonOperation(document, contract, operation, index);
  }
  return { openapi: "3.0.3", info: { title: info["title"] ?? "", version: info["version"] ?? "" }, paths };
}

function skeletonOperation(document: JsonObject, contract: Contract, operation: Operation, index: number): JsonObject {
  const handler = handlerTypes(document, operation);
  const steps = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
  return {
    // The generator sorts by it, so this keeps our order, literal paths first.
    operationId: `op${String(index).padStart(3, "0")}`,
    tags: [contract.name], // The generator writes one file per tag.
    parameters: steps.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    responses: { "200": { description: "See x-handler." } },
    "x-name": operation.id,
    "x-type-name": operation.id.charAt(0).toUpperCase() + operation.id.slice(1),
    "x-summary": `\`${operation.method.toUpperCase()} ${operation.path}\` ${operation.summary}`,
    "x-handler": { ...handler },
    "x-client": { ...clientMethod(document, operation) },
    "x-route": literalLines(routeOf(document, operation)),
  };
}

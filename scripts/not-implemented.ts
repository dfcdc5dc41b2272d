/** Lists the operations of each contract that are routed but answer `not_implemented`. */

import { notImplementedOperations as notInResponsesApi } from "../src/servers/handlers/responses-api-handlers.ts";
import { notImplementedSttOperations as notInLocalStt } from "../src/servers/local-stt.ts";

console.log(describe("responses-api", notInResponsesApi()));
console.log(describe("local-stt", notInLocalStt()));

function describe(server: string, operations: readonly string[]): string {
  if (operations.length === 0) return `${server}: every operation is implemented`;
  return `${server}: ${operations.length} answer not_implemented: ${operations.join(", ")}`;
}

import { expect, test } from "vitest";
import { clientMethod } from "./client-types.ts";
import { handlerTypes } from "./handler-types.ts";
import { type JsonObject, objectAt } from "./json.ts";
import { operationsOf } from "./operations.ts";
import { literalLines, routeOf } from "./route.ts";
import { skeletonOf } from "./skeleton.ts";

const json = (name: string): JsonObject => ({
  "application/json": { schema: { $ref: `#/components/schemas/${name}` } },
});
const ok = (content: JsonObject): JsonObject => ({
  "200": { description: "", content },
  "400": { $ref: "#/components/responses/Bad" },
});
const id: JsonObject = { name: "thing_id", in: "path", required: true, schema: { type: "string" } };

const document: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Things", version: "1" },
  security: [{ bearer: [] }],
  paths: {
    "/things/{thing_id}": {
      parameters: [id],
      get: {
        operationId: "getThing",
        summary: "Fetch",
        parameters: [{ $ref: "#/components/parameters/Limit" }],
        responses: ok(json("Thing")),
      },
    },
    "/things/latest": {
      get: { operationId: "getLatest", security: [], responses: ok({ "text/plain": { schema: { type: "string" } } }) },
    },
    "/things": {
      post: {
        operationId: "createThing",
        requestBody: { required: true, content: json("NewThing") },
        responses: ok({ ...json("Thing"), "text/event-stream": { schema: { $ref: "#/components/schemas/Change" } } }),
      },
    },
  },
  components: {
    parameters: { Limit: { name: "limit", in: "query", schema: { $ref: "#/components/schemas/Limit", default: 20 } } },
    responses: { Bad: { description: "", content: json("Fault") } },
    schemas: {
      Limit: { type: "integer", maximum: 100 },
      NewThing: { properties: { stream: { type: "boolean" } } },
      Thing: {},
      Change: {},
      Fault: {},
    },
  },
};

function operation(name: string) {
  const found = operationsOf(document).find((one) => one.id === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

test("a literal path comes before a parameter path that matches it too", () => {
  expect(operationsOf(document).map((one) => one.id)).toEqual(["createThing", "getLatest", "getThing"]);
});

test("a route has everything that a server needs to read a request", () => {
  expect(routeOf(document, operation("getThing"))).toMatchObject({
    path: "/things/:thing_id",
    secured: true,
    query: { limit: { kind: "integer", array: false, required: false, aliases: [], maximum: 100, default: 20 } },
    replies: { "200": ["application/json"], "400": ["application/json"] },
    replySchema: "Thing",
  });
  expect(routeOf(document, operation("getLatest"))).toMatchObject({ secured: false, replySchema: null });
});

test("a handler may return the declared replies only", () => {
  expect(handlerTypes(document, operation("createThing"))).toMatchObject({
    body: "Schema.NewThing",
    replies: ["BodyReply<200, Schema.Thing>", "EventsReply<200, Schema.Change>", "BodyReply<400, Schema.Fault>"],
  });
});

test("a client method returns events if the body asks for a stream", () => {
  const { overloads, request } = clientMethod(document, operation("createThing"));
  expect(overloads[0]).toContain(
    "{ readonly stream: true }, options?: RequestOptions): Promise<EventStream<Schema.Change>>",
  );
  expect(request).toContain('body.stream === true ? "events" : "json"');
});

test("the generator reads version 3.0.3 and string schemas only", () => {
  const skeleton = skeletonOf(document, {
    folder: "things",
    name: "Things",
    openapi: "",
    streams: [],
    fieldNames: null,
    usesSchemasOfOthers: false,
  });
  expect(skeleton["openapi"]).toBe("3.0.3");
  expect(skeleton["components"]).toBeUndefined();
  expect(Object.keys(objectAt(skeleton, "paths"))).toEqual(["/things", "/things/latest", "/things/{thing_id}"]);
});

test("names are quoted only if necessary", () => {
  expect(literalLines({ kind: "integer", replies: { "200": ["a"] }, query: {} })).toEqual([
    'kind: "integer",',
    'replies: { "200": ["a"] },',
    "query: {},",
  ]);
});

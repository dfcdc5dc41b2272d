import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { boolean, fromProviderState, integer, regex, string } = MatchersV3;

const ENDPOINT_ID = "whe_0123456789abcdef0067000000012345";
const EVENT_ID = "evt_0123456789abcdef0067000000012345";
const UNKNOWN_ENDPOINT = "whe_ffffffffffffffff0067000000ffffff";

const endpoints = "/v1/webhook_endpoints";
const endpointPath = pathOf("");
const deliveriesPath = pathOf("/deliveries");
const redeliverPath = pathOf("/deliveries/${event_id}/redeliver");

function pathOf(rest: string) {
  const path = `${endpoints}/\${webhook_endpoint_id}${rest}`;
  return fromProviderState(path, path.replace("${webhook_endpoint_id}", ENDPOINT_ID).replace("${event_id}", EVENT_ID));
}

const PARAMS = { name: "Answers", url: "http://127.0.0.1:9/", event_types: ["response.completed" as const] };
const ENDPOINT = {
  id: ENDPOINT_ID,
  object: "webhook_endpoint",
  created_at: 1_795_000_000,
  disabled_at: null,
  disabled_reason: null,
  event_types: ["response.completed"],
  failing_since: null,
  name: "Answers",
  signing_secret_hint: "…abc=",
  status: "enabled",
  updated_at: 1_795_000_000,
  url: "http://127.0.0.1:9/",
} as const;
const WITH_SECRET = { ...ENDPOINT, signing_secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" } as const;
const DELIVERY = {
  id: EVENT_ID,
  object: "webhook_endpoint.delivery",
  attempt_count: 0,
  attempts: [],
  created_at: 1_795_000_000,
  data: { id: "resp_0123456789abcdef0067000000012345" },
  event_type: "response.completed",
  next_attempt_at: 1_795_000_005,
  status: "waiting",
} as const;

function endpointShape(endpoint: object) {
  return { ...Object(shapeOf(endpoint)), signing_secret_hint: string("…abc=") };
}

function secretShape() {
  const secret = regex("^whsec_[A-Za-z0-9+/]{43}=$", WITH_SECRET.signing_secret);
  return { ...endpointShape(ENDPOINT), signing_secret: secret };
}

/** Attempts may have been made by now. */
function deliveryShape() {
  const { attempts: _attempts, ...shape } = Object(shapeOf(DELIVERY));
  return { ...shape, attempt_count: integer(0) };
}

function listShape(one: { readonly id: string }, shape: unknown) {
  return {
    object: "list",
    data: [shape],
    first_id: string(one.id),
    has_more: boolean(true),
    last_id: string(one.id),
  };
}

const given = ["a webhook endpoint"] as const;
const delivered = ["a webhook endpoint that was sent two events"] as const;

describe("a client that keeps webhook endpoints", () => {
  test("makes one, and is shown its secret", async () => {
    verifies("webhooks.endpoints.object-of-the-reference", "webhooks.endpoints.secret-shown-once");
    await checkAnswer(
      {
        request: "to make a webhook endpoint",
        method: "POST",
        path: endpoints,
        body: PARAMS,
        reply: { json: secretShape() },
      },
      WITH_SECRET,
      { official: (client) => client.webhooks.create(PARAMS), own: (client) => client.createWebhookEndpoint(PARAMS) },
    );
  });

  test("lists them", async () => {
    verifies("webhooks.endpoints.object-of-the-reference");
    await checkAnswer(
      {
        given: [...given, ...given],
        request: "for webhook endpoints",
        method: "GET",
        path: endpoints,
        query: { limit: "1" },
        reply: { json: listShape(ENDPOINT, endpointShape(ENDPOINT)) },
      },
      { data: [ENDPOINT] },
      {
        official: (client) => client.webhooks.list({ limit: 1 }),
        own: (client) => client.listWebhookEndpoints({ limit: 1 }),
      },
    );
  });

  test("reads one", async () => {
    verifies("webhooks.endpoints.object-of-the-reference");
    await checkAnswer(
      {
        given,
        request: "for a webhook endpoint",
        method: "GET",
        path: endpointPath,
        reply: { json: endpointShape(ENDPOINT) },
      },
      ENDPOINT,
      {
        official: (client) => client.webhooks.retrieve(ENDPOINT_ID),
        own: (client) => client.getWebhookEndpoint(ENDPOINT_ID),
      },
    );
  });

  test("changes one", async () => {
    verifies("webhooks.endpoints.object-of-the-reference");
    const body = { event_types: ["response.failed" as const] };
    const changed = { ...ENDPOINT, event_types: ["response.failed"] };
    await checkAnswer(
      {
        given,
        request: "to change a webhook endpoint",
        method: "POST",
        path: endpointPath,
        body,
        reply: { json: endpointShape(changed) },
      },
      changed,
      {
        official: (client) => client.webhooks.update(ENDPOINT_ID, body),
        own: (client) => client.updateWebhookEndpoint(ENDPOINT_ID, body),
      },
    );
  });

  test("replaces its secret", async () => {
    verifies("webhooks.endpoints.rotation");
    const body = { keep_old_secret_active_for_24_hours: true };
    await checkAnswer(
      {
        given,
        request: "to replace the secret of a webhook endpoint",
        method: "POST",
        path: pathOf("/rotate_secret"),
        body,
        reply: { json: secretShape() },
      },
      WITH_SECRET,
      {
        official: (client) => client.webhooks.rotateSecret(ENDPOINT_ID, body),
        own: (client) => client.rotateWebhookSecret(ENDPOINT_ID, body),
      },
    );
  });

  test("has a sample event sent", async () => {
    verifies("webhooks.endpoints.sample-event");
    const body = { event_type: "response.completed" as const };
    const answer = {
      object: "webhook_endpoint.test",
      event_type: "response.completed",
      status_code: 200,
      success: true,
      webhook_endpoint_id: ENDPOINT_ID,
    } as const;
    await checkAnswer(
      {
        given: ["a webhook endpoint that answers"],
        request: "for a sample event",
        method: "POST",
        path: pathOf("/test"),
        body,
        reply: { json: shapeOf(answer) },
      },
      answer,
      {
        official: (client) => client.webhooks.test(ENDPOINT_ID, body),
        own: (client) => client.testWebhookEndpoint(ENDPOINT_ID, body),
      },
    );
  });

  test("removes one", async () => {
    verifies("webhooks.endpoints.object-of-the-reference");
    const deleted = { id: ENDPOINT_ID, object: "webhook_endpoint.deleted", deleted: true } as const;
    await checkAnswer(
      {
        given,
        request: "to remove a webhook endpoint",
        method: "DELETE",
        path: endpointPath,
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.webhooks.delete(ENDPOINT_ID),
        own: (client) => client.deleteWebhookEndpoint(ENDPOINT_ID),
      },
    );
  });

  test("asks which events there are", async () => {
    verifies("webhooks.events.wanted-ones");
    const types = { object: "list", data: ["response.completed"] } as const;
    await checkAnswer(
      {
        request: "for the types of events",
        method: "GET",
        path: "/v1/webhook_event_types",
        reply: { json: { object: "list", data: MatchersV3.arrayContaining("response.completed") } },
      },
      types,
      {
        official: (client) => client.webhooks.eventTypes.list(),
        own: (client) => client.listWebhookEventTypes(),
      },
    );
  });
});

describe("a client that looks after deliveries", () => {
  test("lists them", async () => {
    verifies("webhooks.deliveries.listed");
    await checkAnswer(
      {
        given: delivered,
        request: "for the deliveries of a webhook endpoint",
        method: "GET",
        path: deliveriesPath,
        query: { limit: "1" },
        reply: { json: listShape(DELIVERY, deliveryShape()) },
      },
      { data: [{ id: EVENT_ID, data: DELIVERY.data }] },
      {
        official: (client) => client.get(`/webhook_endpoints/${ENDPOINT_ID}/deliveries`, { query: { limit: 1 } }),
        own: (client) => client.listWebhookDeliveries(ENDPOINT_ID, { limit: 1 }),
      },
    );
  });

  test("has one sent again", async () => {
    verifies("webhooks.deliveries.again");
    await checkAnswer(
      {
        given: delivered,
        request: "to deliver an event again",
        method: "POST",
        path: redeliverPath,
        reply: { json: deliveryShape() },
      },
      { id: EVENT_ID, status: "waiting" },
      {
        official: (client) => client.post(`/webhook_endpoints/${ENDPOINT_ID}/deliveries/${EVENT_ID}/redeliver`),
        own: (client) => client.redeliverWebhook(ENDPOINT_ID, EVENT_ID),
      },
    );
  });
});

test("a client that looks for an unknown webhook endpoint gets 404", async () => {
  verifies("webhooks.endpoints.object-of-the-reference");
  await checkRefusal(
    { request: "for an unknown webhook endpoint", method: "GET", path: `${endpoints}/${UNKNOWN_ENDPOINT}` },
    { status: 404, param: null, message: string(`Webhook endpoint with id '${UNKNOWN_ENDPOINT}' not found.`) },
    {
      official: (client) => client.webhooks.retrieve(UNKNOWN_ENDPOINT),
      own: (client) => client.getWebhookEndpoint(UNKNOWN_ENDPOINT),
    },
  );
});

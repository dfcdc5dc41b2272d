import { assert } from "@antiphon/base/assert.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import { readTraceContext } from "@antiphon/base/trace-context.ts";
import { Router } from "@koa/router";
import type { DefaultState } from "koa";
import { hasBody } from "../body/body-chunks.ts";
import { checkBody, readBody, readBodyQuery, takesForms } from "../body/read-body.ts";
import { UploadSpool } from "../body/upload-spool.ts";
import type { OperationRoute } from "../contract.ts";
import { type Exchange, singleHeader } from "../exchange/exchange.ts";
import { readQuery } from "../exchange/read-query.ts";
import type { Handler, OperationRequest, Reply, RequestContext } from "../handler.ts";
import type { ServedInterface } from "../options.ts";
import { writeReply } from "../stream/write-reply.ts";

/** The part of Koa's context that the first middleware sets for later ones. */
export interface ExchangeHolder {
  exchange: Exchange;
}

export type OperationRouter = Router<DefaultState, ExchangeHolder>;

/** Serves one operation. `params` holds the parameters of its path. */
type Mount = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>;

export interface MountedOperations {
  readonly router: OperationRouter;
  /** Finds operations whose path has no parameters, which are the busiest, without a search; null if there is none. */
  readonly findFixed: (method: string, path: string) => Mount | null;
}

/** Mounts a handler for each operation of the contract. Throws an error that names operations without a handler. */
export function mountOperations<P>(service: ServedInterface<P>): MountedOperations {
  const { routes } = service.contract;
  const missing = routes.map(({ operationId }) => operationId).filter((id) => !Object.hasOwn(service.handlers, id));
  assert(missing.length === 0, `every operation has a handler; these have none: ${missing.join(", ")}`);
  const router: OperationRouter = new Router({ exclusive: "specificity", sensitive: true });
  const fixedMounts = new Map<string, Mount>();
  for (const route of routes) {
    const handler = service.handlers[route.operationId];
    assert(handler !== undefined, "an operation that is not missing has a handler");
    const operation = { route, handler };
    const mount: Mount = (exchange, params) => {
      exchange.operationId = route.operationId;
      exchange.route = route.path;
      return serveOperation(operation, exchange, params, service);
    };
    router.register(route.path, [route.method], ({ exchange, params }) => mount(exchange, params));
    if (!route.path.includes(":")) fixedMounts.set(`${route.method.toUpperCase()} ${route.path}`, mount);
  }
  return { router, findFixed: (method, path) => fixedMounts.get(`${method} ${path}`) ?? null };
}

async function serveOperation<P>(
  { route, handler }: { readonly route: OperationRoute; readonly handler: Handler<P> },
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
  service: ServedInterface<P>,
): Promise<void> {
  const { admission, faults, options } = service;
  const { headers } = exchange.request;
  // Authenticates before reading the body, so that callers without a key cannot upload.
  const principal = route.secured ? await admission.authenticate(headers) : admission.anonymous;
  if (route.secured) {
    exchange.callerHeaders = admission.headersFor?.(principal) ?? {};
    exchange.callerFields = admission.logFieldsFor?.(principal) ?? {};
  }
  const query = readQuery(route.query, await searchOf(route, exchange, service), faults);
  const spool = takesForms(route) ? new UploadSpool(options.uploadFolder, options.incoming.open()) : null;
  try {
    const answer = async (): Promise<Reply> => {
      const body = await readCheckedBody(route, { exchange, spool, principal }, service);
      const request: OperationRequest = { path: params, query, headers: namedHeaders(route, exchange), body };
      return handler(request, requestContext(route, exchange, principal));
    };
    // Writing may take long. Written this way, no frame keeps the request's or the reply's body in memory meanwhile.
    await answer().then((reply) => writeReply(exchange, reply, service));
  } finally {
    if (spool !== null) await spool.release();
  }
}

interface BodySource<P> {
  readonly exchange: Exchange;
  readonly spool: UploadSpool | null;
  readonly principal: P;
}

/** Reads the body and checks it. Reports a refused body. */
async function readCheckedBody<P>(
  route: OperationRoute,
  { exchange, spool, principal }: BodySource<P>,
  service: ServedInterface<P>,
): Promise<unknown> {
  const { contract, faults, options } = service;
  let sentBody: unknown = null;
  try {
    sentBody = await readBody(route, { request: exchange.request, spool }, options, faults);
    const slices = new Slices();
    const body: unknown = await checkBody(route, sentBody, contract, faults);
    if (slices.isOver) await slices.next(); // A body that took long to check will also take long to handle.
    return body;
  } catch (error) {
    service.onRefused?.({ operationId: route.operationId, principal, sentBody, error });
    throw error;
  }
}

/** The query string, preceded by parameters from the body if the contract allows them. The last value counts. */
function searchOf<P>(
  route: OperationRoute,
  { request, search }: Exchange,
  { options, faults }: ServedInterface<P>,
): string | Promise<string> {
  if (route.queryInBody !== true || !hasBody(request)) return search;
  return readBodyQuery(request, options, faults).then((bodyQuery) => `${bodyQuery}&${search}`);
}

function namedHeaders(route: OperationRoute, { request }: Exchange): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of route.headers) {
    const value = singleHeader(request.headers[name]);
    if (value !== null) result[name] = value;
  }
  return result;
}

function requestContext<P>(route: OperationRoute, exchange: Exchange, principal: P): RequestContext<P> {
  return {
    requestId: exchange.requestId,
    clientRequestId: exchange.clientRequestId,
    principal,
    peer: exchange.caller,
    trace: exchange.watch === null ? readTraceContext(exchange.caller.headers) : exchange.watch.trace,
    signal: exchange.signal,
    operationId: route.operationId,
    log: exchange.log,
  };
}

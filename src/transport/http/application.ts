import type { RequestListener } from "node:http";
import Koa, { type DefaultState, type Next } from "koa";
import type { Logger } from "../../base/logger.ts";
import type { Contract } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { HandlerTable } from "../handler.ts";
import { InFlight } from "../in-flight.ts";
import { TRANSPORT_DEFAULTS, type TransportOptions } from "../options.ts";
import type { RequestObserver } from "../request-observer.ts";
import { writeWhole } from "../stream/write-reply.ts";
import { acceptUpgrades, type Upgrade, type UpgradeListener } from "../websocket/websocket.ts";
import { type Admission, admitCaller } from "./admission.ts";
import { answerError } from "./answer-error.ts";
import { type Assets, assetServer } from "./assets.ts";
import { isPreflight, preflightHeaders } from "./cross-origin.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import { allowHeader, fixedPaths } from "./known-paths.ts";
import { type ExchangeHolder, mountOperations, type OperationRouter } from "./mount-operations.ts";

export interface ApplicationParts<P> {
  readonly contract: Contract;
  readonly handlers: HandlerTable<P>;
  readonly admission: Admission<P>;
  readonly faults: Faults;
  readonly log: Logger;
  readonly assets?: Assets;
  readonly upgrades?: readonly Upgrade<P>[];
  readonly options?: Partial<TransportOptions>;
  readonly observer?: RequestObserver;
}

/** An interface ready to be listened with. */
export interface Application {
  readonly serve: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly inFlight: InFlight;
  readonly faults: Faults;
  readonly log: Logger;
}

/** Puts an interface together. Throws if an operation has no handler. */
export function createApplication<P>(parts: ApplicationParts<P>): Application {
  const options = { ...TRANSPORT_DEFAULTS, ...parts.options };
  const inFlight = new InFlight();
  const exchangeParts = { inFlight, log: parts.log, options, observer: parts.observer };
  const serveAsset = assetServer(parts.assets ?? {});
  const router = mountOperations({ ...parts, options });
  const fixed = fixedPaths({
    contract: parts.contract,
    assetPaths: Object.keys(parts.assets ?? {}),
    upgradePaths: (parts.upgrades ?? []).map(({ path }) => path),
  });
  const answering = { admission: parts.admission, faults: parts.faults, options, inFlight };
  const koa = new Koa<DefaultState, ExchangeHolder>();
  koa.on("error", (error: unknown) => parts.log.debug({ err: error }, "a connection failed"));
  koa.use((ctx, next) => {
    ctx.respond = false; // Replies are written by write-reply and its kin only.
    ctx.exchange = openExchange(ctx.req, ctx.res, exchangeParts);
    return answered(ctx.exchange, next, answering);
  });
  koa.use(({ exchange }, next) => {
    const methods = fixed.get(exchange.path);
    const isKnown = methods === undefined || methods.has(exchange.caller.method);
    return isKnown ? next() : answerOtherMethod(exchange, methods, parts.faults);
  });
  koa.use(async ({ exchange }, next) => {
    // Not awaited: while a stream lasts, each function that waits for it takes memory.
    return (await serveAsset(exchange)) ? undefined : next();
  });
  koa.use(router.routes());
  koa.use(({ exchange }) => refuseUnknown(exchange, router, parts));
  const upgrade = acceptUpgrades({ ...parts, upgrades: parts.upgrades ?? [], options, inFlight });
  const serve = koa.callback();
  return {
    serve: (request, response) => void serve(request, response),
    upgrade,
    inFlight,
    faults: parts.faults,
    log: parts.log,
  };
}

interface AnsweringParts<P> extends Pick<ApplicationParts<P>, "admission" | "faults"> {
  readonly options: TransportOptions;
  readonly inFlight: InFlight;
}

async function answered<P>(
  exchange: Exchange,
  next: Next,
  { admission, faults, options, inFlight }: AnsweringParts<P>,
): Promise<void> {
  try {
    if (lacksHost(exchange)) throw faults.malformedRequest(400);
    admitCaller(exchange.caller, admission, inFlight, faults);
    if (isPreflight(exchange.caller, options)) await writeWhole(exchange, 204, preflightHeaders(exchange.caller), null);
    else await next();
  } catch (error) {
    await answerError(exchange, error, faults, options.prettyJson);
  }
}

/** HTTP/1.1 wants a host in every request. */
function lacksHost({ request }: Exchange): boolean {
  return request.httpVersion === "1.1" && request.headers.host === undefined;
}

/**
 * The path is known and the method is not one of its own: OPTIONS is answered, others are refused. So is the preflight
 * of a page that may not ask.
 */
async function answerOtherMethod(exchange: Exchange, methods: Iterable<string>, faults: Faults): Promise<void> {
  const { method, headers } = exchange.caller;
  const allow = allowHeader(methods);
  const isRefusedPreflight = headers["access-control-request-method"] !== undefined;
  if (method !== "OPTIONS" || isRefusedPreflight) throw faults.methodNotAllowed(method, exchange.path, allow);
  await writeWhole(exchange, 204, { allow }, null);
}

async function refuseUnknown<P>(
  exchange: Exchange,
  router: OperationRouter,
  { faults, upgrades = [] }: ApplicationParts<P>,
): Promise<void> {
  const { path, caller } = exchange;
  const methods = router.match(path, caller.method).path.flatMap((layer) => layer.methods);
  if (methods.length > 0) return answerOtherMethod(exchange, methods, faults);
  const isUpgradePath = upgrades.some((upgrade) => upgrade.path === path);
  if (isUpgradePath && faults.upgradeRequired !== undefined) throw faults.upgradeRequired(path);
  throw faults.unknownRoute(caller.method, path);
}

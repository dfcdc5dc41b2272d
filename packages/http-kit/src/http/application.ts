import type { RequestListener } from "node:http";
import type { Logger } from "@antiphon/base/logger.ts";
import Koa, { type DefaultState, type Next } from "koa";
import { isPreflight, preflightHeaders } from "../exchange/cross-origin.ts";
import { admitCaller, type Exchange, openExchange, splitUrl } from "../exchange/exchange.ts";
import type { Faults } from "../faults.ts";
import { InFlight } from "../in-flight.ts";
import { type ServedInterface, TRANSPORT_DEFAULTS, type TransportOptions } from "../options.ts";
import { writeWhole } from "../stream/write-reply.ts";
import { acceptUpgrades, type Upgrade, type UpgradeListener } from "../websocket/websocket.ts";
import { answerError } from "./answer-error.ts";
import { type Assets, assetServer } from "./assets.ts";
import { allowHeader, fixedPaths } from "./known-paths.ts";
import { type ExchangeHolder, mountOperations, type OperationRouter } from "./mount-operations.ts";

/** An interface as described by its server. Missing members of `options` default to `TRANSPORT_DEFAULTS`. */
export interface ApplicationOptions<P> extends Omit<ServedInterface<P>, "options" | "inFlight"> {
  readonly assets?: Assets;
  readonly upgrades?: readonly Upgrade<P>[];
  readonly options?: Partial<TransportOptions>;
}

/** An interface that `listen` can serve. */
export interface Application {
  readonly serve: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly inFlight: InFlight;
  readonly faults: Faults;
  readonly log: Logger;
}

/** Builds an application from an interface. Throws if an operation has no handler. */
export function createApplication<P>({
  assets = {},
  upgrades = [],
  options = {},
  ...definition
}: ApplicationOptions<P>): Application {
  const service = { ...definition, options: { ...TRANSPORT_DEFAULTS, ...options }, inFlight: new InFlight() };
  const { contract, faults, inFlight, log } = service;
  const serveAsset = assetServer(assets);
  const { router, findFixed } = mountOperations(service);
  const methodsByPath = fixedPaths({
    contract,
    assetPaths: Object.keys(assets),
    upgradePaths: upgrades.map(({ path }) => path),
  });
  const koa = new Koa<DefaultState, ExchangeHolder>();
  const logBroken = (error: unknown): void => log.debug({ err: error }, "connection failed");
  koa.on("error", logBroken);
  koa.use((ctx, next) => {
    ctx.respond = false; // Only the functions of transport/stream write replies.
    ctx.exchange = openExchange(ctx.req, ctx.res, service);
    return answerExchange(ctx.exchange, next, service);
  });
  koa.use(({ exchange }, next) => {
    const methods = methodsByPath.get(exchange.path);
    const isKnown = methods === undefined || methods.has(exchange.caller.method);
    return isKnown ? next() : answerOtherMethod(exchange, methods, faults);
  });
  koa.use(async ({ exchange }, next) => {
    // Not awaited: each function that waits for a stream takes memory while the stream lasts.
    return (await serveAsset(exchange)) ? undefined : next();
  });
  koa.use(router.routes());
  koa.use(({ exchange }) => refuseUnknown(exchange, router, { faults, upgrades }));
  const upgrade = acceptUpgrades(upgrades, service);
  const searchAndServe = koa.callback();
  const serve: RequestListener = (request, response) => {
    const mount = findFixed(request.method ?? "", splitUrl(request.url ?? "/")[0]);
    if (mount === null) return void searchAndServe(request, response);
    const exchange = openExchange(request, response, service);
    answerExchange(exchange, () => mount(exchange, {}), service).catch(logBroken);
  };
  return {
    serve,
    upgrade,
    inFlight,
    faults,
    log,
  };
}

async function answerExchange<P>(exchange: Exchange, next: Next, service: ServedInterface<P>): Promise<void> {
  const { faults, options } = service;
  try {
    if (lacksHost(exchange)) throw faults.malformedRequest(400);
    admitCaller(exchange.caller, service);
    if (isPreflight(exchange.caller, options)) await writeWhole(exchange, 204, preflightHeaders(exchange.caller), null);
    else await next();
  } catch (error) {
    await answerError(exchange, error, service);
  }
}

/** HTTP/1.1 requires the header Host in every request. */
function lacksHost({ request }: Exchange): boolean {
  return request.httpVersion === "1.1" && request.headers.host === undefined;
}

/**
 * Answers a known path with another method: OPTIONS gets the allowed methods; others, and refused preflights, get a
 * 405.
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
  { faults, upgrades }: { readonly faults: Faults; readonly upgrades: readonly Upgrade<P>[] },
): Promise<void> {
  const { path, caller } = exchange;
  const methods = router.match(path, caller.method).path.flatMap((layer) => layer.methods);
  if (methods.length > 0) return answerOtherMethod(exchange, methods, faults);
  const isUpgradePath = upgrades.some((upgrade) => upgrade.path === path);
  if (isUpgradePath && faults.upgradeRequired !== undefined) throw faults.upgradeRequired(path);
  throw faults.unknownRoute(caller.method, path);
}

import { useMemo } from "react";
import type { Response } from "../../../packages/client/src/index.ts";
import { formatCount, formatMs } from "../base/format.ts";
import { listAt, type Members, textAt } from "../base/members.ts";
import { requestOf } from "../exports/request-of.ts";
import { asShownItem, type ShownItem } from "../items/fold-events.ts";
import { ItemCard } from "../items/item-card.tsx";
import { MissingRun } from "../run/missing-run.tsx";
import { type RunTimes, timesOf } from "../run/run-times.ts";
import { type Run, useRun } from "../run/use-run.ts";
import { Link } from "../shell/link.tsx";
import { runRoute } from "../shell/route.ts";
import { StatusPill } from "../shell/status-pill.tsx";
import { diffTexts, type Stretch } from "./word-diff.ts";

/** Two runs side by side, with their differences marked. */
export function ComparePage({ left, right }: { readonly left: string; readonly right: string }) {
  const one = useRun(left);
  const other = useRun(right);
  const oneResponse = one.response.reply;
  const otherResponse = other.response.reply;
  const error = one.response.error ?? other.response.error;
  if (oneResponse === null || otherResponse === null)
    return error === null ? (
      <p className="loading" role="status">
        Loading the runs…
      </p>
    ) : (
      <MissingRun error={error} />
    );
  return <Compared left={sideOf(one, oneResponse)} right={sideOf(other, otherResponse)} />;
}

interface Side {
  readonly response: Response;
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
  readonly times: RunTimes;
}

function sideOf({ input, log }: Run, response: Response): Side {
  return {
    response,
    input: (input.reply ?? []).flatMap((item) => asShownItem(item) ?? []),
    output: response.output.flatMap((item) => asShownItem(item) ?? []),
    times: timesOf(log.events, response.usage?.output_tokens ?? null),
  };
}

function Compared({ left, right }: { readonly left: Side; readonly right: Side }) {
  const requests = useMemo(
    () => diffTexts(jsonOf(requestOf(left.response, left.input)), jsonOf(requestOf(right.response, right.input))),
    [left.response, right.response, left.input.length, right.input.length],
  );
  const texts = useMemo(() => diffTexts(textOf(left.output), textOf(right.output)), [left.response, right.response]);
  return (
    <div className="compare">
      <div className="page-head">
        <h1>Two runs</h1>
        <span className="hint">What only one side has is marked.</span>
      </div>
      <div className="pair">
        <SideHead side={left} name="Left" />
        <SideHead side={right} name="Right" />
      </div>
      <Figures left={left} right={right} />
      <h2>Answer</h2>
      <div className="pair">
        <Marked stretches={texts} side="left" label="Answer of the left run" />
        <Marked stretches={texts} side="right" label="Answer of the right run" />
      </div>
      <h2>Request</h2>
      <div className="pair">
        <Marked stretches={requests} side="left" label="Request of the left run" isCode />
        <Marked stretches={requests} side="right" label="Request of the right run" isCode />
      </div>
      <h2>Items</h2>
      <div className="pair">
        <SideItems side={left} name="left" />
        <SideItems side={right} name="right" />
      </div>
    </div>
  );
}

function SideHead({ side: { response }, name }: { readonly side: Side; readonly name: string }) {
  return (
    <div className="card side-head">
      <span className="hint">{name}</span> <strong>{response.model}</strong> <StatusPill status={response.status} />
      <p>
        <Link to={runRoute(response.id)}>{response.id}</Link>
      </p>
    </div>
  );
}

function Figures({ left, right }: { readonly left: Side; readonly right: Side }) {
  const rows: readonly (readonly [
    name: string,
    of: (side: Side) => number | null,
    format: (value: number | null) => string,
  ])[] = [
    ["Duration", ({ times }) => times.endedMs, formatMs],
    ["First token", ({ times }) => times.firstTokenMs, formatMs],
    ["Input tokens", ({ response }) => response.usage?.input_tokens ?? null, formatCount],
    ["Output tokens", ({ response }) => response.usage?.output_tokens ?? null, formatCount],
    ["Items", ({ output }) => output.length, formatCount],
  ];
  return (
    <table className="figures card">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col" className="number">
            Left
          </th>
          <th scope="col" className="number">
            Right
          </th>
          <th scope="col" className="number">
            Change
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, of, format]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{format(of(left))}</td>
            <td className="number">{format(of(right))}</td>
            <td className="number">{changeText(of(left), of(right))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function changeText(left: number | null, right: number | null): string {
  if (left === null || right === null || left === 0) return "";
  const percent = Math.round((right / left - 1) * 100);
  return percent === 0 ? "same" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}

interface MarkedProps {
  readonly stretches: readonly Stretch[];
  readonly side: "left" | "right";
  readonly label: string;
  readonly isCode?: boolean;
}

function Marked({ stretches, side, label, isCode = false }: MarkedProps) {
  const shown = stretches.filter((stretch) => stretch.in === "both" || stretch.in === side);
  return (
    <div className={isCode ? "marked mono card" : "marked card"} role="region" tabIndex={0} aria-label={label}>
      {shown.length === 0 ? <span className="hint">Nothing.</span> : null}
      {shown.map((stretch, index) =>
        stretch.in === "both" ? (
          <span key={index}>{stretch.text}</span>
        ) : (
          <mark key={index} data-side={side}>
            {stretch.text}
          </mark>
        ),
      )}
    </div>
  );
}

function SideItems({ side: { input, output }, name }: { readonly side: Side; readonly name: string }) {
  return (
    <section aria-label={`Items of the ${name} run`}>
      {input.map((item, index) => (
        <ItemCard key={`in-${index}`} item={item} isInput />
      ))}
      {output.map((item, index) => (
        <ItemCard key={`out-${index}`} item={item} />
      ))}
    </section>
  );
}

function textOf(items: readonly ShownItem[]): string {
  return items
    .filter(({ type }) => type === "message")
    .flatMap((item) => listAt(item, "content").map((part) => textAt(part, "text") || textAt(part, "refusal")))
    .join("\n\n");
}

function jsonOf(request: Members): string {
  return JSON.stringify(request, null, 2);
}

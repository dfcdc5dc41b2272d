import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { formatTick } from "../base/format.ts";

export interface Series {
  readonly name: string;
  readonly colour: "accent" | "second" | "third" | "alarm";
  /** One for each bucket; null if nothing was measured. */
  readonly values: readonly (number | null)[];
}

export interface Axis {
  /** Unix seconds at which each bucket starts. */
  readonly starts: readonly number[];
  readonly bucketSeconds: number;
  readonly from: number;
  readonly to: number;
}

interface PlotProps {
  readonly title: string;
  readonly figure: string;
  readonly kind: "bars" | "lines";
  readonly axis: Axis;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly onSpan: (from: number, to: number) => void;
}

const WIDTH = 300;
const HEIGHT = 72;

/**
 * A small plot over time. Hovering or the arrow keys tell a bucket's values; a click or Enter narrows the list to it.
 */
export function Plot({ title, figure, kind, axis, series, format, onSpan }: PlotProps) {
  const [at, setAt] = useState<number | null>(null);
  const count = axis.starts.length;
  const most = Math.max(1, ...axis.starts.map((_, index) => heightOf(series, kind, index)));
  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setAt(Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - left) / width) * count))));
  };
  const choose = (): void => {
    if (at === null) return;
    const start = axis.starts[at] ?? axis.from;
    onSpan(start, start + axis.bucketSeconds);
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter") choose();
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setAt(Math.max(0, Math.min(count - 1, (at ?? count) + step)));
  };
  const said = at === null ? figure : bucketText({ axis, series, format }, at);
  return (
    <figure className="plot">
      <figcaption>
        <span className="plot-title">{title}</span>
        <span className="plot-figure">{said}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="slider"
        tabIndex={0}
        aria-label={`${title} over time`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={at ?? Math.max(0, count - 1)}
        aria-valuetext={said}
        onPointerMove={point}
        onPointerLeave={() => setAt(null)}
        onBlur={() => setAt(null)}
        onKeyDown={press}
        onClick={choose}
      >
        <line className="plot-base" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {at === null ? null : (
          <rect className="plot-at" x={(at / count) * WIDTH} width={WIDTH / count} y="0" height={HEIGHT} />
        )}
        <Drawn kind={kind} series={series} count={count} most={most} />
      </svg>
      <div className="plot-axis" aria-hidden="true">
        <span>{tickOf(axis, axis.from)}</span>
        <span>{most === 1 && heightOf(series, kind, 0) === 0 ? "" : `up to ${format(most)}`}</span>
        <span>{tickOf(axis, axis.to)}</span>
      </div>
    </figure>
  );
}

function tickOf({ from, to, bucketSeconds }: Axis, seconds: number): string {
  return formatTick(seconds, { from, to, stepSeconds: bucketSeconds });
}

/** Bars stand on one another; lines do not. */
function heightOf(series: readonly Series[], kind: PlotProps["kind"], index: number): number {
  const values = series.map(({ values: all }) => all[index] ?? 0);
  return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
}

function bucketText({ axis, series, format }: Pick<PlotProps, "axis" | "series" | "format">, index: number): string {
  const start = axis.starts[index] ?? axis.from;
  const values = series.map(({ name, values: all }) => {
    const value = all[index] ?? null;
    return value === null ? null : `${format(value)} ${name}`;
  });
  return `${tickOf(axis, start)}: ${values.filter((text) => text !== null).join(", ") || "nothing"}`;
}

interface MarksProps {
  readonly series: readonly Series[];
  readonly count: number;
  readonly most: number;
}

function Drawn({ kind, ...marks }: MarksProps & Pick<PlotProps, "kind">) {
  return kind === "bars" ? <Bars {...marks} /> : <Lines {...marks} />;
}

function Bars({ series, count, most }: MarksProps) {
  const width = WIDTH / count;
  const floors = Array.from({ length: count }, () => HEIGHT);
  return series.map(({ name, colour, values }) => (
    <g key={name} data-colour={colour}>
      {values.map((value, index) => {
        if (value === null || value === 0) return null;
        const height = Math.max(1.5, (value / most) * (HEIGHT - 4));
        const y = (floors[index] ?? HEIGHT) - height;
        floors[index] = y;
        return <rect key={index} x={index * width + width * 0.12} width={width * 0.76} y={y} height={height} />;
      })}
    </g>
  ));
}

function Lines({ series, count, most }: MarksProps) {
  return series.map(({ name, colour, values }) => {
    const points = values.flatMap((value, index) =>
      value === null ? [] : [{ x: ((index + 0.5) / count) * WIDTH, y: HEIGHT - 2 - (value / most) * (HEIGHT - 8) }],
    );
    return (
      <g key={name} data-colour={colour}>
        <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} vectorEffect="non-scaling-stroke" />
        {points.map(({ x, y }, index) => (
          <line key={index} x1={x} x2={x + 0.01} y1={y} y2={y} vectorEffect="non-scaling-stroke" />
        ))}
      </g>
    );
  });
}

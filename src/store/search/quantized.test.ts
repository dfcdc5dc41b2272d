import fc from "fast-check";
import { expect, test } from "vitest";
import { eachProduct, quantize } from "./quantized.ts";

function unitVector(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => (length === 0 ? 0 : value / length));
}

const SETS = fc.integer({ min: 1, max: 70 }).chain((dimensions) => {
  const vector = fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions })
    .map(unitVector);
  return fc.record({ dimensions: fc.constant(dimensions), query: vector, rows: fc.array(vector, { maxLength: 30 }) });
});

test("estimated products are near the true ones", () => {
  fc.assert(
    fc.property(SETS, ({ dimensions, query, rows }) => {
      const all = new Float32Array(rows.length * dimensions);
      for (const [index, row] of rows.entries()) all.set(row, index * dimensions);
      const products = rows.map(() => 0);
      eachProduct(quantize(all, dimensions), query, (row, product) => {
        products[row] = product;
      });
      for (const [index, row] of rows.entries()) {
        const exact = row.reduce((sum, value, k) => sum + value * (query[k] ?? 0), 0);
        expect(Math.abs((products[index] ?? 0) - exact)).toBeLessThan(0.03);
      }
    }),
  );
});

test("more rows than fit into the memory of the kernel", () => {
  const dimensions = 16;
  const count = 100_000;
  const all = new Float32Array(count * dimensions);
  for (let row = 0; row < count; row++) all[row * dimensions + (row % dimensions)] = 1;
  const query = new Float32Array(dimensions);
  query[3] = 1;
  let found = 0;
  let taken = 0;
  eachProduct(quantize(all, dimensions), query, (row, product) => {
    taken += 1;
    if (product > 0.9 && row % dimensions === 3) found += 1;
  });
  expect([taken, found]).toEqual([count, count / dimensions]);
});

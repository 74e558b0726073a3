import { z } from "zod";
export const Row = z.object({ n: z.number() });
export function work(n: number): number { let x = 1; for (let i = 0; i < n; i++) { x = (Math.imul(x, 48271) + i) >>> 0; } return Row.parse({ n: x }).n; }

import test from "node:test"; import assert from "node:assert"; import { work } from "./work";
for (let i = 0; i < 20; i++) test("work " + i, () => { assert.notStrictEqual(work(90000000 + i), work(90000001 + i)); });

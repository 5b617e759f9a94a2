import assert from "node:assert/strict";
import { test } from "node:test";

import { local } from "mnemark/node";

import { daemon, here } from "./servers.js";

test("a client goes on with the daemon that was started anew, which has another token", async (t) => {
  const where = await here(t);
  const first = await daemon(t, where);
  const memory = local({ workspace: where.workspace });
  await memory.turns({ session: "s", turns: [{ role: "user", content: "The ferry leaves at nine." }] });
  await first.end();
  await assert.rejects(memory.status(), { code: "no_daemon" });
  const second = await daemon(t, where);
  assert.notEqual(second.token, first.token);
  assert.equal((await memory.said({ session: "s" })).turns.length, 1);
  await second.end("SIGKILL");
  const third = daemon(t, where);
  await assert.rejects(memory.forget({ query: "ferry" }, { retries: 0 }));
  await third;
  assert.equal((await memory.forget({ query: "ferry" })).action, "hidden");
});

test("a daemon is killed in the middle: each turn that is sent is kept, and none twice", async (t) => {
  const where = await here(t);
  const first = await daemon(t, where);
  const memory = local({ workspace: where.workspace, retries: 50, timeoutMs: 120_000 });
  let answered = 0;
  const sent = Array.from({ length: 150 }, async (_, number) => {
    await memory.turns({ session: "s", turns: [{ role: "user", content: `第 ${number} 句` }] });
    if (++answered === 30) first.end("SIGKILL");
  });
  while (answered < 30) await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([daemon(t, where), ...sent]);
  const { turns } = await memory.said({ session: "s", limit: 1000 });
  const words = turns.map(({ turn }) => turn.content).sort();
  assert.deepEqual(words, Array.from({ length: 150 }, (_, number) => `第 ${number} 句`).sort());
});

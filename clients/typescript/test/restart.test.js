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

test("a request that waits while the daemon is killed says so, or is answered by the next one", async (t) => {
  const where = await here(t);
  const first = await daemon(t, where);
  const memory = local({ workspace: where.workspace });
  await memory.status();
  const asked = Array.from({ length: 20 }, () => memory.sync({ embed: false }));
  await first.end("SIGKILL");
  for (const answer of await Promise.allSettled(asked)) {
    if (answer.status === "rejected") assert.match(answer.reason.code, /^(unreachable|no_daemon)$/);
  }
});

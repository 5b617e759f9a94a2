/** A client of mnemark's HTTP API, for Node and browsers. docs/http.md says what each call does. */
import type { paths } from "./api.js";
import { ONCE } from "./table.js";

export type * from "./api.js";
export { FLOOR, INSTRUCTIONS, TOOLS, VERSION } from "./table.js";

/** The calls of the API: `POST /v1/<name>`. */
export type CallName = { [P in keyof paths]: P extends `/v1/${infer N}` ? N : never }[keyof paths];
type Post<N extends CallName> = paths[`/v1/${N}`]["post"];
/** What a call is sent, without the workspace. */
export type Body<N extends CallName> = Omit<
  Post<N>["requestBody"]["content"]["application/json"],
  "workspace"
>;
/** What a call answers. */
export type Answer<N extends CallName> = Post<N>["responses"][200]["content"]["application/json"];
export type Health = paths["/health"]["get"]["responses"][200]["content"]["application/json"];
type Call<N extends CallName> = {} extends Body<N>
  ? (body?: Body<N>, options?: Options) => Promise<Answer<N>>
  : (body: Body<N>, options?: Options) => Promise<Answer<N>>;

/** Where a daemon or a server is. A proxy of your own that adds the token needs none. */
export interface Daemon {
  url: string;
  /** Of a daemon; of a server, the key of a memory. */
  token?: string;
}

export interface Settings extends Options {
  /** Absolute path of the folder on the daemon's machine. Leave it out for a server, whose key names a memory. */
  workspace?: string;
  fetch?: typeof fetch;
}

export interface Options {
  /** Ends the call, which then rejects with the signal's reason, as `fetch` does. */
  signal?: AbortSignal;
  /** Milliseconds for all of a call, retries included; 30,000 by default. */
  timeoutMs?: number;
  /** How often a call that may be sent again is, at most; 3 by default. */
  retries?: number;
}

/** What went wrong. `status` is 0 where nothing was answered. */
export class MnemarkError extends Error {
  override readonly name = "MnemarkError";
  /** What to do about it. */
  readonly fix: string;

  constructor(
    message: string,
    /** As in docs/http.md; of the client: `no_daemon unreachable timeout answer version usage`. */
    readonly code: string,
    readonly status = 0,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options);
    this.fix = FIXES[code] ?? message.slice(message.lastIndexOf("; ") + 1).trim();
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }

  /** How long the server asked to wait. */
  readonly retryAfterMs: number;
}

/** Where the message itself does not end with what to do. */
const FIXES: Record<string, string> = {
  origin: "call the daemon from a server of your own: a browser may not",
  host: "use the url in daemon.json as it is, without another name for the machine",
  token: "read the token in daemon.json again: it changes with each start of the daemon",
  key: "give the key of a memory as token; whoever runs the server makes one with `mnemark db keys NAME add KEY`",
  http: "look at what stands between this client and the daemon",
};
/** A daemon has 200 connections for all of its clients. */
const MOST_AT_ONCE = 50;
const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const LONGEST_PAUSE_MS = 4_000;
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class Mnemark {
  readonly workspace: string | undefined;
  readonly #find: () => Promise<Daemon>;
  readonly #moves: boolean;
  readonly #options: Options;
  readonly #fetch: typeof fetch;
  readonly #enter = gate(MOST_AT_ONCE);
  #daemon: Promise<Daemon> | undefined;

  /** Give `url` and `token`; or `find`, which is asked again when the daemon that it found has gone. */
  constructor(settings: Settings & (Daemon | { find: () => Promise<Daemon> })) {
    const { workspace, fetch: given, ...more } = settings;
    if (!("find" in more) && !more.url) {
      throw new MnemarkError("there is no url; give the one in daemon.json, or use `local` of mnemark/node", "usage");
    }
    this.workspace = workspace;
    this.#moves = "find" in more;
    this.#find = "find" in more ? more.find : async () => more;
    this.#options = more;
    this.#fetch = given ?? ((request) => fetch(request));
  }

  /** Search notes, facts and conversations. */
  readonly search = this.#call("search");
  /** Recall text for a prompt, within a deadline. */
  readonly recall = this.#call("recall");
  /** Read a file or some of its lines. */
  readonly read = this.#call("read");
  /** Record turns of a session; they are on the disk when this resolves. It may be repeated: `call` is made. */
  readonly turns: Call<"turns"> = (body, options) => this.#post("turns", { call: newId(), ...body }, options);
  /** Record a tool call. */
  readonly observe = this.#call("observe");
  /** End a session: summarize it and save its facts. */
  readonly endSession = this.#call("session/end");
  /** Remember a fact; it is on the disk when this resolves. */
  readonly remember = this.#call("remember");
  /** Correct a fact that is wrong, as if it had always been so; `undo` takes it back. */
  readonly correct = this.#call("correct");
  /** List the facts that are true now, or were at a given time. */
  readonly facts = this.#call("facts");
  /** Forget something; resolves to a receipt. */
  readonly forget = this.#call("forget");
  /** Undo a change. */
  readonly undo = this.#call("undo");
  /** Bring everything of another memory of yours into this one. */
  readonly merge = this.#call("merge");
  /** Undo everything that came from one session or source. */
  readonly revert = this.#call("revert");
  /** Keep something from being archived. */
  readonly pin = this.#call("pin");
  /** List turns by session, time, role and tool. */
  readonly said = this.#call("said");
  /** Write a note. */
  readonly write = this.#call("write");
  /** List the latest turns, notes and changes. */
  readonly timeline = this.#call("timeline");
  /** Core memory and today's notes, without recall. */
  readonly context = this.#call("context");
  /** Assemble all layers of a prompt, with recall. */
  readonly prompt = this.#call("prompt");
  /** Update the index after files have changed. */
  readonly sync = this.#call("sync");
  /** Show the contents and state of the workspace. */
  readonly status = this.#call("status");
  /** Merge duplicates, archive unused facts, update core memory. */
  readonly consolidate = this.#call("consolidate");
  /** Explain where a passage or fact comes from, and why a query finds it or not. */
  readonly why = this.#call("why");
  /** Accept a proposal, or a change made in a fact file. */
  readonly accept = this.#call("accept");
  /** Reject a proposal, or revert a change made in a fact file. */
  readonly reject = this.#call("reject");
  /** List what needs a person. */
  readonly attention = this.#call("attention");
  /** Check the workspace; nothing is changed. */
  readonly doctor = this.#call("doctor");
  /** Lists for people, a page at a time. */
  readonly browse = {
    search: this.#call("browse/search"),
    facts: this.#call("browse/facts"),
    timeline: this.#call("browse/timeline"),
    activity: this.#call("browse/activity"),
    sessions: this.#call("browse/sessions"),
    agents: this.#call("browse/agents"),
    turns: this.#call("browse/turns"),
    attachments: this.#call("browse/attachments"),
    review: this.#call("browse/review"),
    changes: this.#call("browse/changes"),
    change: this.#call("browse/change"),
    spend: this.#call("browse/spend"),
    disk: this.#call("browse/disk"),
    used: this.#call("browse/used"),
    recalled: this.#call("browse/recalled"),
  };

  /** Call one of the memory tools for models, by its name; see `TOOLS`. */
  tool(name: string, args: Record<string, unknown>, options?: Options): Promise<Answer<"tools/memory_search">> {
    return this.#post(`tools/${encodeURIComponent(name)}`, { arguments: args }, options);
  }

  /** Show version, process and open workspaces of the daemon. */
  health(options?: Options): Promise<Health> {
    return this.#send("/health", undefined, true, options);
  }

  #call<N extends CallName>(name: N): Call<N> {
    return ((body: object | undefined, options?: Options) => this.#post(name, body, options)) as Call<N>;
  }

  #post<T>(name: string, body: object = {}, options?: Options): Promise<T> {
    return this.#send(`/v1/${name}`, { workspace: this.workspace, ...body }, !ONCE.has(name), options);
  }

  async #send<T>(path: string, body: object | undefined, repeatable: boolean, given: Options = {}): Promise<T> {
    const { signal, timeoutMs = TIMEOUT_MS, retries = RETRIES } = { ...this.#options, ...defined(given) };
    const late = timeout(timeoutMs);
    const until = Date.now() + timeoutMs;
    const ends = signal ? AbortSignal.any([signal, late]) : late;
    try {
      const leave = await this.#enter(ends);
      try {
        return (await this.#answered(path, body, ends, until, repeatable ? retries : 0)) as T;
      } finally {
        leave();
      }
    } catch (cause) {
      signal?.throwIfAborted();
      if (!late.aborted) throw cause;
      const waited = `mnemark has not answered ${path} within ${timeoutMs} ms`;
      throw new MnemarkError(`${waited}; give it a longer timeoutMs, or try again`, "timeout", 0, { cause });
    }
  }

  async #answered(path: string, body: object | undefined, ends: AbortSignal, until: number, retries: number) {
    let asked = false;
    for (let attempt = 0; ; attempt++) {
      try {
        const daemon = await (this.#daemon ??= this.#found());
        return await this.#exchange(daemon, path, body, ends);
      } catch (cause) {
        if (ends.aborted || !(cause instanceof MnemarkError)) throw cause;
        const { code, status, retryAfterMs } = cause;
        const moved = this.#moves && (code === "token" || code === "unreachable");
        if (moved) this.#daemon = undefined;
        // A daemon that was started anew has another token: with the old one nothing was done.
        if (moved && code === "token" && !asked) {
          asked = true;
          continue;
        }
        // One that is being started anew is not there for a moment; one that never was will not come.
        const comes = code === "no_daemon" && attempt > 0;
        const passes = comes || code === "unreachable" || code === "busy" || status === 429 || status === 503;
        const pause = retryAfterMs + Math.random() * Math.min(200 * 2 ** attempt, LONGEST_PAUSE_MS);
        if (!passes || attempt >= retries || Date.now() + pause >= until) throw cause;
        await sleep(pause, ends);
      }
    }
  }

  async #found(): Promise<Daemon> {
    try {
      return await this.#find();
    } catch (error) {
      this.#daemon = undefined;
      throw error;
    }
  }

  async #exchange({ url, token }: Daemon, path: string, body: object | undefined, signal: AbortSignal) {
    const request = prepared(url, path, token, body, signal);
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(request);
      text = await response.text();
    } catch (cause) {
      const why = (cause as Error).cause instanceof Error ? ` (${((cause as Error).cause as Error).message})` : "";
      // A browser does not say why: it may be that the daemon refuses pages.
      const fix = "document" in globalThis ? "let a server of your own ask for a page" : "start it with `mnemark serve`";
      throw new MnemarkError(`the daemon at ${url} cannot be reached${why}; ${fix}`, "unreachable", 0, { cause });
    }
    let answer: any;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = undefined;
    }
    if (response.ok && answer !== undefined) return answer;
    const said = answer?.error;
    const message =
      typeof said?.message === "string" ? said.message : `${url}${path} answers ${response.status} without JSON`;
    throw new MnemarkError(message, response.ok ? "answer" : String(said?.code ?? "http"), response.status, {
      retryAfterMs: retryAfter(response.headers.get("retry-after")),
    });
  }
}

/** Make a request; what is wrong with it is said before anything is sent. */
function prepared(url: string, path: string, token: string | undefined, body: object | undefined, signal: AbortSignal) {
  try {
    const headers = new Headers({ "content-type": "application/json" });
    if (token) headers.set("authorization", `Bearer ${token}`);
    const data = body && JSON.stringify(body, wellFormed);
    const method = body ? "POST" : "GET";
    return new Request(url.replace(/\/+$/, "") + path, { method, headers, body: data, signal, redirect: "error" });
  } catch (cause) {
    throw new MnemarkError(`this cannot be sent to ${url}: ${(cause as Error).message}`, "usage", 0, { cause });
  }
}

/** Half of a character, as a text that was cut has it, is not JSON that all take. */
function wellFormed(_: string, value: unknown) {
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
}

function timeout(milliseconds: number): AbortSignal {
  if (!(milliseconds > 0 && milliseconds <= LONGEST_TIMEOUT_MS)) {
    throw new MnemarkError(`timeoutMs must be a number from 1 to ${LONGEST_TIMEOUT_MS}, not ${milliseconds}`, "usage");
  }
  return AbortSignal.timeout(Math.ceil(milliseconds));
}

function defined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function retryAfter(header: string | null): number {
  if (!header) return 0;
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Math.max(wait || 0, 0);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

/** Let so many in at once; the others wait in line for as long as their signals let them. */
function gate(most: number): (signal: AbortSignal) => Promise<() => void> {
  let free = most;
  const line = new Set<() => void>();
  function leave() {
    const [next] = line;
    if (!next) free++;
    else if (line.delete(next)) next();
  }
  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else {
      await new Promise<void>((resolve, reject) => {
        line.add(resolve);
        signal.addEventListener("abort", () => line.delete(resolve) && reject(signal.reason), { once: true });
      });
    }
    return leave;
  };
}

function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

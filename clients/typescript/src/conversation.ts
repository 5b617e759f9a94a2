/** What a framework needs of memory around a model: recall before a call, record what was said. */
import { FLOOR, type Mnemark, MnemarkError, type Options, type Recall, TOOLS } from "./index.js";

export interface ConversationSettings {
  /** Id of the conversation: one whose messages the model is sent along. Each conversation has its own. */
  session: string;
  /** Whose memory it is; the workspace's own by default. */
  user?: string;
  agent?: string;
  project?: string;
  /** Tokens of a recall; as configured by default. */
  budget?: number;
  /** Seconds that a recall may take; as configured by default. */
  deadline?: number;
  /** Confidence, from 0 to 1, below which the model is given nothing; 0 for always. */
  floor?: number;
  /** Told of what failed: the model is asked all the same. By default a warning on the console. */
  onError?: (error: unknown) => void;
}

interface Message {
  role: string;
  content: unknown;
}

const DEADLINE_SECONDS = 0.15;
/** Beyond the deadline of a recall, for a daemon that opens the workspace first. */
const GRACE_MS = 2_000;
const MOST_BLOCKS = 32;

/** Return the two halves of a turn; neither ever fails. */
export function conversation(memory: Mnemark, settings: ConversationSettings) {
  const { budget, deadline, floor = FLOOR, onError = warn, ...owner } = settings;
  const blocks = new Map<string, string>();
  const recorded = new WeakSet<object>();
  let writing: Promise<unknown> = Promise.resolve();

  /** Record in the order of what was said, one turn after the other. */
  function record(role: string, content: string): Promise<unknown> {
    if (content.trim()) {
      writing = writing.then(() => memory.turns({ ...owner, turns: [{ role, content }] })).catch(onError);
    }
    return writing;
  }

  async function recall(query: string): Promise<string> {
    const timeoutMs = (deadline ?? DEADLINE_SECONDS) * 1000 + GRACE_MS;
    let found: Recall;
    try {
      found = await memory.recall({ ...owner, query, budget, deadline }, { timeoutMs, retries: 0 });
    } catch (error) {
      onError(error);
      return "";
    }
    // Nothing was searched, which does not mean that there is nothing.
    if (found.mode === "none" && found.degraded.length) onError(new MnemarkError(found.degraded.join("; "), "degraded"));
    return found.on_topic >= floor ? found.text : "";
  }

  /**
   * Return the prompt with what memory knows, in the user's last message and before its words; and record these.
   *
   * A prompt that goes on after the message, as after a call of a tool, is given the same again. `request` is the same
   * object when a call of the model that failed is repeated.
   */
  async function before<P extends readonly Message[]>(prompt: P, request: object): Promise<P> {
    const at = prompt.findLastIndex((message) => message.role === "user");
    const words = at < 0 ? "" : textOf(prompt[at]!.content);
    if (!words.trim()) return prompt;
    const key = `${at} ${words}`;
    let block = blocks.get(key);
    const begins = at === prompt.length - 1;
    if (begins || block === undefined) {
      block = await recall(words);
      blocks.set(key, block);
      if (blocks.size > MOST_BLOCKS) blocks.delete(blocks.keys().next().value!);
    }
    if (begins && !recorded.has(request)) {
      recorded.add(request);
      void record("user", words);
    }
    if (!block) return prompt;
    const content = prompt[at]!.content;
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content as object[]);
    const message = { ...prompt[at]!, content: [{ type: "text", text: block }, ...parts] };
    return prompt.with(at, message) as unknown as P;
  }

  return { before, after: (reply: string) => record("assistant", reply) };
}

/** Run a tool for a model: resolve to its data, or fail with what the model should read. */
export async function run(memory: Mnemark, name: string, args: unknown, options: Options): Promise<unknown> {
  const result = await memory.tool(name, args as Record<string, unknown>, options);
  const text = result.content.map((part) => part.text).join("\n");
  if (result.isError) throw new Error(text);
  return result.structuredContent ?? text;
}

/** Make the tools of a framework, by name. */
export function toolsAs<T>(make: (tool: (typeof TOOLS)[number]) => T): Record<string, T> {
  return Object.fromEntries(TOOLS.map((tool) => [tool.name, make(tool)]));
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.flatMap((part) => (part?.type === "text" ? [String(part.text)] : [])).join("\n");
}

function warn(error: unknown): void {
  console.warn(`mnemark: ${error instanceof Error ? error.message : String(error)}`);
}

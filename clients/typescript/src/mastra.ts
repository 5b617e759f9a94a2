/** Memory for Mastra: tools for an agent, and a processor that recalls and records. */
import type { Processor } from "@mastra/core/processors";
import type { RequestContext } from "@mastra/core/request-context";
import type { PublicSchema } from "@mastra/core/schema";
import { createTool, type Tool } from "@mastra/core/tools";

import { conversation, type ConversationSettings, run, toolsAs } from "./conversation.js";
import type { Mnemark } from "./index.js";

export type { ConversationSettings } from "./conversation.js";

const MOST_CONVERSATIONS = 256;

/** Return the memory tools, for `new Agent({ tools })`. */
export function tools(memory: Mnemark): Record<string, Tool<any, any>> {
  return toolsAs(({ name, title, description, parameters }) =>
    createTool({
      id: name,
      title,
      description,
      inputSchema: parameters as unknown as PublicSchema<Record<string, unknown>>,
      execute: (args, context) => run(memory, name, args, { signal: context?.abortSignal }),
    }),
  );
}

/**
 * Return a processor, to be named in both `inputProcessors` and `outputProcessors`: what memory knows about the user's
 * last message is put before it, quoted and within the deadline; the message and the answer are recorded as turns.
 *
 * An agent of many conversations gives a function, which says of a request whose it is.
 */
export function memoryProcessor(
  memory: Mnemark,
  settings: ConversationSettings | ((context?: RequestContext) => ConversationSettings),
): Processor<"mnemark"> & Required<Pick<Processor, "processLLMRequest" | "processOutputResult">> {
  const conversations = new Map<string, ReturnType<typeof conversation>>();
  function of(context?: RequestContext) {
    const own = typeof settings === "function" ? settings(context) : settings;
    const key = JSON.stringify([own.session, own.user, own.agent, own.project]);
    const found = conversations.get(key) ?? conversation(memory, own);
    conversations.delete(key);
    conversations.set(key, found); // the last used is the last to go
    if (conversations.size > MOST_CONVERSATIONS) conversations.delete(conversations.keys().next().value!);
    return found;
  }
  return {
    id: "mnemark",
    processLLMRequest: async ({ prompt, state, requestContext }) => ({
      prompt: await of(requestContext).before(prompt, state),
    }),
    async processOutputResult({ messages, result, requestContext }) {
      await of(requestContext).after(result.text);
      return messages;
    },
  };
}

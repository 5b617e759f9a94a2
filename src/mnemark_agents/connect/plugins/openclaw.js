// OpenClaw: a native plug-in, https://docs.openclaw.ai/plugins/hooks
const text = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n").trim()

/** Only what a person says: not cron, heartbeats, other sessions and the host itself. */
const isSpoken = (ctx) =>
  (ctx.trigger ?? "user") === "user" && (ctx.inputProvenance?.kind ?? "external_user") === "external_user"

export default {
  id: "mnemark",
  name: "mnemark",
  description: "Memory in a folder of plain text",
  register(api) {
    tell = (line) => api.logger.warn(line)
    // Without its folder: that is a git repository, but no project; it is where the person is talked to.
    const about = (ctx) => ({ session_id: ctx.sessionId ?? "" })
    const asked = new Map()

    api.on("before_prompt_build", async (event, ctx) => {
      const prompt = (event.currentUserMessage ?? event.prompt ?? "").trim()
      if (!prompt || !ctx.sessionId || !isSpoken(ctx)) return
      asked.set(ctx.runId, prompt)
      const data = { ...about(ctx), turn_id: ctx.runId, prompt }
      const blocks = [await ask("session-start", data), await ask("prompt", data)].filter(Boolean)
      if (blocks.length) return { appendContext: blocks.join("\n\n") }
    })

    api.on("after_tool_call", async (event, ctx) => {
      const data = { tool_name: event.toolName, tool_input: event.params, tool_use_id: event.toolCallId }
      const done = { tool_response: text(event.result?.content), error: event.error, duration_ms: event.durationMs }
      if (ctx.sessionId) await ask("tool", { ...about(ctx), ...data, ...done })
    })

    api.on("agent_end", async (event, ctx) => {
      if (!asked.delete(ctx.runId)) return
      const last = (event.messages ?? []).findLast((one) => one.role === "assistant")
      const said = text(last?.content)
      if (said) await ask("response", { ...about(ctx), turn_id: ctx.runId, text: said })
    })

    api.on("before_compaction", async (event, ctx) => {
      if (ctx.sessionId) await ask("compact", about(ctx))
    })

    api.on("session_end", async (event, ctx) => {
      const sessionId = event.sessionId ?? ctx.sessionId
      if (sessionId) await ask("session-end", { session_id: sessionId })
    })
  },
}

// OpenCode: a plug-in file, https://opencode.ai/docs/plugins
const said = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\n").trim()

export const Mnemark = async ({ client, directory }) => {
  tell = (message) => client.app.log({ body: { service: "mnemark", level: "error", message } }).catch(() => {})
  const briefed = new Set()
  const told = new Set()
  const inner = new Set()
  // The last answer of each session as its events tell it: `opencode run` may end before it could be asked for.
  const answers = new Map()

  const about = (sessionID) => ({ session_id: sessionID, cwd: directory })

  const heard = (sessionID, { info, part }) => {
    if (info?.role === "assistant" && answers.get(sessionID)?.info.id !== info.id)
      answers.set(sessionID, { info, parts: [] })
    const answer = answers.get(sessionID)
    if (!part || answer?.info.id !== part.messageID) return
    const at = answer.parts.findIndex((one) => one.id === part.id)
    answer.parts[at < 0 ? answer.parts.length : at] = part
  }

  const asked = async (sessionID) => {
    const { data } = await client.session.messages({ path: { id: sessionID } })
    return (data ?? []).findLast((one) => one.info.role === "assistant")
  }

  const answered = async (sessionID) => {
    const answer = answers.get(sessionID)
    const last = answer && said(answer.parts) ? answer : await asked(sessionID)
    if (!last || told.has(last.info.id)) return
    told.add(last.info.id)
    await ask("response", { ...about(sessionID), turn_id: last.info.parentID, text: said(last.parts) })
  }

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = said(parts)
      if (!prompt || inner.has(sessionID)) return
      const data = about(sessionID)
      const blocks = [briefed.has(sessionID) ? "" : await ask("session-start", data)]
      briefed.add(sessionID)
      blocks.push(await ask("prompt", { ...data, turn_id: message.id, prompt }))
      for (const text of blocks.filter(Boolean)) {
        const id = `prt_${(Date.now() * 4096).toString(16).padStart(12, "0").slice(-12)}${Math.random().toString(36).slice(2, 16).padEnd(14, "0")}`
        parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      }
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, { output }) => {
      if (!inner.has(sessionID))
        await ask("tool", { ...about(sessionID), tool_name: tool, tool_input: args, tool_response: output, tool_use_id: callID })
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      briefed.delete(sessionID)
      await ask("compact", about(sessionID))
    },
    event: async ({ event: { type, properties } }) => {
      const sessionID = properties?.sessionID ?? properties?.info?.sessionID ?? properties?.part?.sessionID ?? properties?.info?.id
      if (type === "session.created" && properties.info?.parentID) inner.add(sessionID)
      else if (inner.has(sessionID)) return
      else if (type === "message.updated" || type === "message.part.updated") heard(sessionID, properties)
      else if (type === "session.idle") await answered(sessionID)
      else if (type === "session.deleted") await ask("session-end", about(sessionID))
    },
  }
}

import { spawn } from "node:child_process"

const COMMAND = []
const SECONDS = 10
const GONE =
  "mnemark could not be started, so nothing is remembered or recalled. Install it again, or put it on the PATH; then run: mnemark self-check"

/** Shows a line to the person; set by the plug-in. */
let tell = console.warn
let told = false

/** Tell mnemark of an event; return what it says, empty if it fails or takes too long. */
const ask = (event, data) =>
  new Promise((resolve) => {
    const [program, ...words] = COMMAND.map((word) => (word === "EVENT" ? event : word))
    const run = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], timeout: SECONDS * 1000, windowsHide: true })
    let answer = ""
    run.stdout.setEncoding("utf8").on("data", (text) => (answer += text))
    run.on("error", () => {
      resolve("")
      if (told) return
      told = true
      try {
        tell(GONE)
      } catch {
        console.warn(GONE)
      }
    })
    run.stdin.on("error", () => {})
    run.on("close", () => {
      try {
        resolve(JSON.parse(answer).additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    run.stdin.end(JSON.stringify(data))
  })

/** Find the daemon of this machine's user. None is started. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import process from "node:process";

import { type Daemon, Mnemark, MnemarkError, type Settings } from "./index.js";
import { VERSION } from "./table.js";

export interface Found extends Daemon {
  token: string;
  pid: number;
  version: string;
}

/** Return a client of the daemon that runs on this machine, and of the next one, should it be started anew. */
export function local(settings: Settings): Mnemark {
  return new Mnemark({ ...settings, find: running });
}

/**
 * Return the user's daemon; undefined where none runs, whatever its version.
 *
 * As in Python, a state file that others may read, or that a killed daemon left, is ignored. Node has no word for the
 * lock that tells this: the process has to live and to answer as the one that is named.
 */
export async function find(): Promise<Found | undefined> {
  const found = await announced();
  if (!found || !lives(found.pid)) return undefined;
  try {
    const asked = new Mnemark({ ...found, workspace: "", timeoutMs: 2_000, retries: 1 });
    const { name, pid } = await asked.health();
    return name === "mnemark" && pid === found.pid ? found : undefined;
  } catch (error) {
    if (error instanceof MnemarkError) return undefined;
    throw error;
  }
}

async function running(): Promise<Daemon> {
  const found = await find();
  if (!found) {
    throw new MnemarkError("no daemon is running on this machine; start it with `mnemark serve`", "no_daemon");
  }
  if (series(found.version) !== series(VERSION)) {
    const both = `the daemon is mnemark ${found.version} and this package ${VERSION}`;
    throw new MnemarkError(`${both}; install the package of version ${series(found.version)}`, "version");
  }
  return found;
}

/** Return the part of a version within which the API only grows. */
function series(version: string): string {
  const [major, minor] = version.split(".");
  return major === "0" ? `0.${minor}` : `${major}`;
}

async function announced(): Promise<Found | undefined> {
  try {
    const file = await open(join(stateFolder(), "daemon.json"), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const status = await file.stat();
      const others = process.platform !== "win32" && (status.uid !== process.geteuid?.() || status.mode & 0o077);
      if (!status.isFile() || others) return undefined;
      const { url, token, pid, version } = JSON.parse(await file.readFile("utf8"));
      return { url: String(url), token: String(token), pid: Number(pid), version: String(version) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // there is none, or it cannot be read
  }
}

function stateFolder(): string {
  const { XDG_STATE_HOME = "", LOCALAPPDATA } = process.env;
  if (isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, "mnemark");
  if (process.platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData/Local"), "mnemark");
  if (process.platform === "darwin") return join(homedir(), "Library/Application Support/mnemark");
  return join(homedir(), ".local/state/mnemark");
}

function lives(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch {
    return false; // gone, or another user's
  }
}

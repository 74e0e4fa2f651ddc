// Ends what `pnpm start` and `pnpm dev` run when npx or pnpm above it is gone: npx passes no signal on, and its end would leave a server that
// holds the port and the database. As a program it prints the process ids of these runners, as a preload (`--import`) it watches them.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const hasProc = existsSync('/proc/self/cmdline')
const isRunner = (command: string) => /^(\S*\/)?((node|bun) (\S*\/)?)?(npm|npx|pnpm|pnpx)(-cli)?(\.[cm]?js)?( |$)/.test(command)
const isShell = (command: string) => /^-?(\S*\/)?(sh|ash|dash|bash|zsh) /.test(`${command} `)

/** Small images have no `ps`, macOS no `/proc`. A process that has ended, also one that nobody has waited for, has no command. */
const commandOf = (pid: number) =>
	hasProc ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') : ps('command', pid)
const parentOf = (pid: number) =>
	Number(hasProc ? /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] : ps('ppid', pid))
const ps = (column: string, pid: number) =>
	execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** Not what started the first runner: a terminal or a script may end long before. None where nobody says which there are. */
function runnersAbove(pid: number): number[] {
	try {
		const parent = parentOf(pid)
		const command = parent > 0 ? commandOf(parent) : ''
		if (isRunner(command)) return [parent, ...runnersAbove(parent)]
		return isShell(command) ? runnersAbove(parent) : []
	} catch {
		return []
	}
}

function isRunning(pid: number): boolean {
	try {
		return hasProc ? commandOf(pid) !== '' : process.kill(pid, 0)
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM'
	}
}

/** `node --watch` restarts its child, and ends with it on a signal. */
const target = process.env.WATCH_REPORT_DEPENDENCIES ? process.ppid : process.pid

function watch(runners: readonly number[]): void {
	const timer = setInterval(() => {
		if (!runners.every(isRunning)) process.kill(target, 'SIGTERM')
	}, 1_000).unref()
	// A second signal would end at once what still finishes.
	for (const signal of ['SIGTERM', 'SIGINT'] as const)
		process.once(signal, () => {
			clearInterval(timer)
			if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
		})
}

if (import.meta.main) console.log(runnersAbove(process.pid).join(' '))
else if (isMainThread) watch(process.env.RUNNERS?.split(' ').filter(Boolean).map(Number) ?? runnersAbove(target))

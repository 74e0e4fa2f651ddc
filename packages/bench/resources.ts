// Removes everything that a run makes outside its process (a temporary folder, child processes, scratch databases): at its end,
// when it fails, and on Ctrl-C.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const undo: (() => unknown)[] = []

let cleaning: Promise<void> | undefined

/** Registers work for the end of the run. The work registered last runs first. */
export function atEnd(work: () => unknown): void {
	if (cleaning) work()
	else undo.push(work)
}

/** Runs the registered work, once. */
export function cleanUp(): Promise<void> {
	cleaning ??= undoAll()
	return cleaning
}

async function undoAll(): Promise<void> {
	for (let work = undo.pop(); work; work = undo.pop()) {
		try {
			await work()
		} catch (error) {
			console.error('clean-up:', error)
		}
	}
}

let interrupted = false

/** Whether a signal ended the run: later failures follow from it. */
export const isInterrupted = () => interrupted

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => {
		interrupted = true
		void cleanUp().finally(() => process.exit(130))
	})
}

process.once('uncaughtException', (error) => {
	console.error(error)
	void cleanUp().finally(() => process.exit(1))
})

const root = mkdtempSync(join(tmpdir(), 'remit-bench-'))
atEnd(() => rmSync(root, { recursive: true, force: true }))

/** A new folder, which the end of the run removes. */
export function newFolder(name: string): string {
	// Not one that another section used: SQLite would take the log of its file for that of a new copy.
	return mkdtempSync(join(root, `${name}-`))
}

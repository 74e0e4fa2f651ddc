// Everything that a run makes outside its own process: a temporary folder, child processes, a scratch database. All of it is
// undone at the end, when something fails, and on Ctrl-C.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const undo: (() => unknown)[] = []

let cleaning: Promise<void> | undefined

/** Registers what is to be done at the end; the last registered is the first done. */
export function atEnd(work: () => unknown): void {
	if (cleaning) work()
	else undo.push(work)
}

/** Undoes everything, once. */
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

/** Whether someone ended the run: what fails after that fails because of it. */
export const isInterrupted = () => interrupted

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => {
		interrupted = true
		void cleanUp().finally(() => process.exit(130))
	})
}

const root = mkdtempSync(join(tmpdir(), 'remit-bench-'))
atEnd(() => rmSync(root, { recursive: true, force: true }))

/** A new folder that is gone after the run. */
export function newFolder(name: string): string {
	const folder = join(root, name)
	mkdirSync(folder, { recursive: true })
	return folder
}

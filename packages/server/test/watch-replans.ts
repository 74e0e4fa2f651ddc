// Runs before each test file on SQLite: a file fails whose servers prepare a statement that is planned again at every run.
import { afterAll, inject } from 'vitest'
import { findReplanned, takeStatements, watchStatements } from './replans.ts'

declare global {
	var isWatching: boolean | undefined
}
if (!globalThis.isWatching) watchStatements()
globalThis.isWatching = true

afterAll(() => {
	const template = inject('template')
	const replanned = findReplanned(template, takeStatements(`${template}-statements`))
	if (replanned.length > 0) throw new Error(`SQLite plans these again at every run:\n${replanned.join('\n')}`)
})

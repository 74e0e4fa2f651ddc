// Runs before each test file: the reporter (tools/test/reporter.ts) learns how many CPU seconds the file's tests and hooks took. The modules that a
// file imports are loaded before, and do not count: else they would for the file that is first to run in its worker.
import { afterAll, beforeAll } from 'vitest'
import { cpuSeconds } from './cpu.ts'

declare module 'vitest' {
	interface TaskMeta {
		/** Of a test file. */
		cpuSeconds?: number
	}
}

let start: number
beforeAll(() => {
	start = cpuSeconds()
})
// The last of all, as the first set-up file.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the parameters, and takes nothing else before the file.
afterAll(({}, file) => {
	file.meta.cpuSeconds = cpuSeconds() - start
})

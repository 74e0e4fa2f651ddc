import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const tests = globSync(['packages/**/*.test.ts', 'tools/**/*.test.ts'], { cwd: root, exclude: ['**/node_modules', '**/dist'] })

it('Tests are left out by needs() alone, which says why at the end of the run', () => {
	const leavesOut = /\.(skip|skipIf|runIf|todo|only)\b[(.]|\bctx\.skip\b/
	const leaving = tests.filter((file) => leavesOut.test(readFileSync(join(root, file), 'utf8')))
	expect(leaving.filter((file) => !file.endsWith('needs.test.ts'))).toEqual([])
	expect(tests.length).toBeGreaterThan(100)
})

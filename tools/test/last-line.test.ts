import { expect, it } from 'vitest'
import { isFailure, lastLine } from './last-line.ts'

const chromium = 'no Chromium (apt-get install chromium-headless-shell)'

it('The last line counts what passed and what failed', () => {
	expect(lastLine({ passed: 5012, failed: 0, notRun: [] })).toBe('5,012 passed, 0 failed')
})

it('The last line says why tests did not run, each reason once', () => {
	expect(lastLine({ passed: 5012, failed: 0, notRun: Array(12).fill(chromium) })).toBe(
		`5,012 passed, 0 failed, 12 not run: ${chromium}`,
	)
	expect(lastLine({ passed: 1, failed: 2, notRun: [chromium, 'no zsh (apt-get install zsh)', chromium] })).toBe(
		`1 passed, 2 failed, 3 not run: ${chromium}, no zsh (apt-get install zsh)`,
	)
})

it('What did not run has failed in CI alone', () => {
	const sum = { passed: 1, failed: 0, notRun: [chromium] }
	expect(isFailure(sum, true)).toBe(true)
	expect(isFailure(sum, false)).toBe(false)
	expect(isFailure({ ...sum, notRun: [] }, true)).toBe(false)
})

// The last line of a run: how many tests passed and failed, and which did not run because this machine lacks something.

export interface Sum {
	readonly passed: number
	readonly failed: number
	/** Of each test that was left out, why. */
	readonly notRun: readonly string[]
}

const counted = (count: number) => count.toLocaleString('en')

export function lastLine({ passed, failed, notRun }: Sum): string {
	const parts = [`${counted(passed)} passed`, `${counted(failed)} failed`]
	if (notRun.length > 0) parts.push(`${counted(notRun.length)} not run: ${[...new Set(notRun)].join(', ')}`)
	return parts.join(', ')
}

/** CI has all that tests need: what it does not run has failed. */
export const isFailure = ({ notRun }: Sum, isCi: boolean): boolean => isCi && notRun.length > 0

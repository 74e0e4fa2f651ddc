import { describe, fieldErrors } from '../api/errors.ts'
import type { Failure } from '../api/pages.ts'

/** The errors of a write by the names of its fields, and what is about none of them. */
export function errorsOf(
	error: unknown,
	shown: readonly string[],
): { of: (name: string) => string | undefined; rest: Failure | undefined } {
	const byName = new Map(fieldErrors(error))
	const isShown = shown.some((name) => byName.has(name))
	const { isRepeatable: _, ...trouble } = describe(error)
	return {
		of: (name) => byName.get(name),
		rest: error && !isShown ? { ...trouble, onRetry: undefined } : undefined,
	}
}

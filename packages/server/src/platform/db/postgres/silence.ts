// A server that takes a query and never answers.

/** The message of pg's error when no answer came in time. */
export const silence = 'Query read timeout'

export const isSilent = (error: unknown): boolean => error instanceof Error && error.message === silence

/** Rejects as pg does when an answer takes too long. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(silence)), ms)
	})
	return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
